// Package check runs a project's own check commands.
package check

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/proc/ending"
)

// A Starter runs a command to its end and leaves no process of it running; [proc.Runner] is one.
type Starter interface {
	Run(context.Context, proc.Command) (proc.Result, error)
}

// A View is a view of the work tree to run commands in; [view.View] is one.
type View interface {
	Starter
	Dir(dir string) string
	Written(ctx context.Context) (loop.Written, error)
	Prints(paths []string) ([]string, error)
	Discard(context.Context) error
	Close() error
}

// A Runner is a [loop.Checker] for a fixed list of shell commands, and a [loop.Commander] for
// others. It caches no results, because ignored files may have changed between two runs on the
// same tree. Check is not safe for concurrent use.
type Runner struct {
	Starter Starter
	// Open opens a view for all checks of an iteration; nil: they run in Dir itself. What a check
	// writes is undone before the next one begins, except in files that git ignores.
	Open func(context.Context) (View, error)
	// Worked reports whether a file of the work tree, given its path from the root, has changed since
	// the session began; nil: none has.
	Worked func(path string) bool
	// Scripts returns the files of the work tree that a command runs by its command line; nil: none.
	Scripts  func(command string) []string
	Commands []string // run by the system's shell
	Dir      string   // where they run, absolute
	Env      []string // complete
	Outputs  string   // existing directory for output files
	Timeout  time.Duration
	Keep     int64 // bytes of output kept in a result
	Max      int64 // bytes of output after which a check is killed

	name string // what the checks were last run for, in file names
	runs int    // how often they ran for that
}

var (
	_ loop.Checker   = (*Runner)(nil)
	_ loop.Commander = (*Runner)(nil)
)

// Check runs the commands, even after one has failed: the caller stops when it has seen enough.
// It ends early only if ctx is done, with the context's cause, or if a command cannot be started.
func (r *Runner) Check(ctx context.Context, at loop.Step) iter.Seq2[loop.CheckResult, error] {
	if name := named(at); r.name != name {
		r.name, r.runs = name, 0
	}
	r.runs++
	again := ""
	if r.runs > 1 {
		again = fmt.Sprintf("-%d", r.runs)
	}
	return func(yield func(loop.CheckResult, error) bool) {
		more := true
		err := r.each(ctx, again, func(result loop.CheckResult) bool {
			more = yield(result, nil)
			return more
		})
		if err != nil && more {
			yield(loop.CheckResult{}, err)
		}
	}
}

// named returns the name of a step in file names: the number of its iteration, 0 before the
// first, or the step itself outside of iterations, as in concurrent forks.
func named(at loop.Step) string {
	if n := at.Iteration(); n > 0 || at.Parent() == "" {
		return fmt.Sprintf("%03d", n)
	}
	return string(at)
}

// each runs the commands until take returns false.
func (r *Runner) each(ctx context.Context, again string, take func(loop.CheckResult) bool) (err error) {
	v, err := r.view(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	var taken []string // what earlier checks had written, and is gone
	for i, command := range r.Commands {
		if i > 0 {
			if err := v.Discard(ctx); err != nil {
				return err
			}
		}
		out := filepath.Join(r.Outputs, fmt.Sprintf("%s.check-%d%s.out", r.name, i+1, again))
		result, err := r.run(ctx, v, command, out)
		if err != nil {
			return err
		}
		if result.Written, err = v.Written(ctx); err != nil {
			return err
		}
		result.Changed = fewest(result.Written.Changed)
		if len(result.Changed) > 0 && result.ExitCode == 0 && result.Ending == loop.EndCompleted {
			if err := r.rerun(ctx, v, &result, strings.TrimSuffix(out, ".out")+"-rerun.out"); err != nil {
				return err
			}
		}
		if !result.Passed() {
			result.Lacked = taken
		}
		for _, path := range fewest(result.Written.Added) {
			if !slices.Contains(taken, path) {
				taken = append(slices.Clip(taken), path)
			}
		}
		if !take(result) {
			return nil
		}
	}
	return nil
}

// rerun runs a check that has passed and changed files once more, without these changes. If it
// passes again, it may rewrite files that are no part of the work, and those that come out different
// each time. A check that the actor has rewritten may not: it could mend what it judges.
func (r *Runner) rerun(ctx context.Context, v View, first *loop.CheckResult, out string) error {
	paths := first.Written.Changed
	was, err := v.Prints(paths)
	if err == nil {
		err = v.Discard(ctx)
	}
	if err != nil {
		return err
	}
	second, err := r.run(ctx, v, first.Command, out)
	if err != nil {
		return err
	}
	is, err := v.Prints(paths)
	if err != nil {
		return err
	}
	second.Duration += first.Duration
	second.Written, second.Changed = first.Written, first.Changed
	if *first = second; second.ExitCode != 0 || second.Ending != loop.EndCompleted || r.Scripts != nil && slices.ContainsFunc(r.Scripts(first.Command), r.worked) {
		return nil
	}
	var changed, rewrites []string
	for i, path := range paths {
		if r.worked(path) && was[i] == is[i] {
			changed = append(changed, path)
		} else {
			rewrites = append(rewrites, path)
		}
	}
	first.Changed, first.Rewrites = fewest(changed), fewest(rewrites)
	return nil
}

func (r *Runner) worked(path string) bool { return r.Worked != nil && r.Worked(path) }

func (r *Runner) view(ctx context.Context) (View, error) {
	if r.Open == nil {
		return inPlace{r.Starter}, nil
	}
	return r.Open(ctx)
}

// Command implements [loop.Commander], in a view of its own.
func (r *Runner) Command(ctx context.Context, step loop.Step, command string) (result loop.CheckResult, err error) {
	v, err := r.view(ctx)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if result, err = r.run(ctx, v, command, filepath.Join(r.Outputs, string(step)+".out")); err != nil {
		return result, err
	}
	result.Written, err = v.Written(ctx)
	return result, err
}

// fewest truncates a long list of paths.
func fewest(paths []string) []string {
	const most = 100
	return paths[:min(len(paths), most)]
}

// inPlace is the work tree itself instead of a view: what is written stays, and nobody can tell
// who wrote it.
type inPlace struct{ Starter }

func (inPlace) Dir(dir string) string                             { return dir }
func (inPlace) Written(context.Context) (w loop.Written, _ error) { return w, nil }
func (inPlace) Prints([]string) ([]string, error)                 { return nil, nil }
func (inPlace) Discard(context.Context) error                     { return nil }
func (inPlace) Close() error                                      { return nil }

// run runs one command, with its output going to the file out.
func (r *Runner) run(ctx context.Context, v View, command, out string) (loop.CheckResult, error) {
	res, err := v.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: Shell(command), Dir: v.Dir(r.Dir), Env: r.Env},
		Records:    proc.Records{Stdout: out, Stderr: out},
		Limits:     proc.Limits{Timeout: r.Timeout, MaxOutput: r.Max, Keep: r.Keep},
	})
	if err != nil {
		return loop.CheckResult{}, fmt.Errorf("run the check %q: %w", command, err)
	}
	if ctx.Err() != nil {
		return loop.CheckResult{}, context.Cause(ctx)
	}
	return loop.CheckResult{
		Command:  command,
		ExitCode: res.ExitCode,
		Ending:   endingOf(res),
		Duration: res.Duration,
		Output:   ending.Output(res.Stdout),
	}, nil
}

// Shell returns the arguments that run a command in the system's shell.
func Shell(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c", command}
	}
	return []string{"/bin/sh", "-c", command}
}

func endingOf(r proc.Result) loop.Ending {
	if e, ok := ending.Of(r.Stop); ok {
		return e
	}
	if r.ExitCode != 0 {
		return loop.EndFailed
	}
	return loop.EndCompleted
}
