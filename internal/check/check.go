// Package check runs a project's own check commands.
package check

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
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

// A Runner is a [loop.Checker] over a fixed list of shell commands, run one
// after the other. It is not safe for concurrent use.
//
// A command that has passed on a tree is not run on the same tree again. One
// that has failed is: what git ignores may have changed, such as installed
// dependencies, and a failure that is not true any more would hold a run for
// ever.
type Runner struct {
	Starter  Starter
	Commands []string // each for the system's shell
	FailFast bool     // no command is run after one that fails
	Dir      string   // where they run, absolute
	Env      []string // complete
	Outputs  string   // an existing directory for the files they write to
	Timeout  time.Duration
	Keep     int64 // bytes of output in a result
	Max      int64 // bytes of output after which a check is stopped

	passed map[pass]loop.CheckResult
}

// A pass is a command that passed on a tree.
type pass struct{ state, command string }

// keptAgain is how much of its output a result keeps that may be used again.
const keptAgain = 4 << 10

var _ loop.Checker = (*Runner)(nil)

// Check runs all the commands, also after one has failed unless FailFast is
// set: the actor is told everything at once. It returns early only when ctx is
// done, with the context's cause, or when a command cannot be started.
func (r *Runner) Check(ctx context.Context, iteration int, state string) ([]loop.CheckResult, error) {
	results := make([]loop.CheckResult, 0, len(r.Commands))
	for i, command := range r.Commands {
		result, known := r.passed[pass{state, command}]
		if !known {
			var err error
			out := filepath.Join(r.Outputs, fmt.Sprintf("%03d.check-%d.out", iteration, i+1))
			if result, err = r.run(ctx, command, out); err != nil {
				return results, err
			}
			r.note(state, result)
		}
		results = append(results, result)
		if r.FailFast && !result.Passed() {
			break
		}
	}
	return results, nil
}

// Know takes over what an earlier process of the session found on a tree.
func (r *Runner) Know(state string, results []loop.CheckResult) {
	for _, result := range results {
		r.note(state, result)
	}
}

func (r *Runner) note(state string, result loop.CheckResult) {
	if state == "" || !result.Passed() {
		return
	}
	if r.passed == nil {
		r.passed = make(map[pass]loop.CheckResult)
	}
	result.Reused, result.FailedBefore = true, false
	o := &result.Output
	if o.Omitted == 0 {
		o.File = "" // it goes with its iteration
	}
	if len(o.Text) > keptAgain {
		o.Text = strings.ToValidUTF8(o.Text[len(o.Text)-keptAgain:], "")
		o.Omitted = o.Total - int64(len(o.Text))
	}
	r.passed[pass{state, result.Command}] = result
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
