// Package check runs a project's own check commands.
package check

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/stopped"
)

// A Starter runs one command to its end and leaves nothing of it running;
// [proc.Runner] is one.
type Starter interface {
	Run(context.Context, proc.Command) (proc.Result, error)
}

// A Runner is a [loop.Checker] over a fixed list of shell commands. It keeps nothing
// of what they came to: what git ignores may have changed between two runs on the same
// tree. It is not safe for concurrent use.
type Runner struct {
	Starter  Starter
	Commands []string // each for the system's shell
	Dir      string   // where they run, absolute
	Env      []string // complete
	Outputs  string   // an existing directory for the files they write to
	Timeout  time.Duration
	Keep     int64 // bytes of output in a result
	Max      int64 // bytes of output after which a check is stopped

	iteration, runs int // the last iteration, and how often the checks were run in it
}

var _ loop.Checker = (*Runner)(nil)

// Check runs the commands, also after one has failed: whoever has seen enough asks for
// no more. It ends early only when ctx is done, with the context's cause, or when a
// command cannot be started.
func (r *Runner) Check(ctx context.Context, iteration int) iter.Seq2[loop.CheckResult, error] {
	if r.iteration != iteration {
		r.iteration, r.runs = iteration, 0
	}
	r.runs++
	again := ""
	if r.runs > 1 {
		again = fmt.Sprintf("-%d", r.runs)
	}
	return func(yield func(loop.CheckResult, error) bool) {
		for i, command := range r.Commands {
			out := filepath.Join(r.Outputs, fmt.Sprintf("%03d.check-%d%s.out", iteration, i+1, again))
			result, err := r.run(ctx, command, out)
			if !yield(result, err) || err != nil {
				return
			}
		}
	}
}

// run runs one command; its output goes to the file out.
func (r *Runner) run(ctx context.Context, command, out string) (loop.CheckResult, error) {
	res, err := r.Starter.Run(ctx, proc.Command{
		Argv: shell(command), Dir: r.Dir, Env: r.Env,
		Stdout: out, Stderr: out,
		Timeout: r.Timeout, MaxOutput: r.Max, Keep: r.Keep,
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
		Ending:   ending(res),
		Duration: res.Duration,
		Output: loop.Output{
			Text: string(res.Stdout.Text), Total: res.Stdout.Total,
			Omitted: res.Stdout.Omitted, File: res.Stdout.File,
		},
	}, nil
}

func shell(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c", command}
	}
	return []string{"/bin/sh", "-c", command}
}

func ending(r proc.Result) loop.Ending {
	if e, ok := stopped.Ending(r.Stop); ok {
		return e
	}
	if r.ExitCode != 0 {
		return loop.EndFailed
	}
	return loop.EndCompleted
}
