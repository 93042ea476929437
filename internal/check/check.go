// Package check runs a project's own check commands.
package check

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// A Starter runs one command to its end and leaves nothing of it running;
// [proc.Runner] is one.
type Starter interface {
	Run(context.Context, proc.Command) (proc.Result, error)
}

// A Runner is a [loop.Checker] over a fixed list of shell commands, run one
// after the other. It is not safe for concurrent use.
type Runner struct {
	Starter  Starter
	Commands []string // each for the system's shell
	Dir      string   // where they run, absolute
	Env      []string // complete
	Outputs  string   // an existing directory for the files they write to
	Timeout  time.Duration
	Keep     int64 // bytes of output in a result
	Max      int64 // bytes of output after which a check is stopped

	ran int // rounds so far, to name the files
}

var _ loop.Checker = (*Runner)(nil)

// Check runs all the commands, also after one has failed: the actor is told
// everything at once. It returns early only when ctx is done, with the
// context's cause, or when a command cannot be started.
func (r *Runner) Check(ctx context.Context) ([]loop.CheckResult, error) {
	r.ran++
	results := make([]loop.CheckResult, 0, len(r.Commands))
	for i, command := range r.Commands {
		out := filepath.Join(r.Outputs, fmt.Sprintf("%03d.check-%d.out", r.ran, i+1))
		res, err := r.Starter.Run(ctx, proc.Command{
			Argv: shell(command), Dir: r.Dir, Env: r.Env,
			Stdout: out, Stderr: out,
			Timeout: r.Timeout, MaxOutput: r.Max, Keep: r.Keep,
		})
		if err != nil {
			return results, fmt.Errorf("run the check %q: %w", command, err)
		}
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		results = append(results, loop.CheckResult{
			Command:  command,
			ExitCode: res.ExitCode,
			Ending:   ending(res),
			Duration: res.Duration,
			Output: loop.Output{
				Text: string(res.Stdout.Text), Total: res.Stdout.Total,
				Omitted: res.Stdout.Omitted, File: res.Stdout.File,
			},
		})
	}
	return results, nil
}

func shell(command string) []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c", command}
	}
	return []string{"/bin/sh", "-c", command}
}

func ending(r proc.Result) loop.Ending {
	switch r.Stop {
	case proc.StopTimeout:
		return loop.EndTimedOut
	case proc.StopIdle:
		return loop.EndIdle
	case proc.StopOutputLimit:
		return loop.EndOutputLimit
	case proc.StopCancelled:
		return loop.EndInterrupted
	case proc.StopNone:
	}
	if r.ExitCode != 0 {
		return loop.EndFailed
	}
	return loop.EndCompleted
}
