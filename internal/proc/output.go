package proc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	maxCallOutput = 256 << 20
	maxCallStderr = 4 << 10
	callGrace     = 2 * time.Second
)

// A Call is a short-lived program, such as git, whose output is wanted.
type Call struct {
	Invocation
	MaxOutput int64 // bytes of stdout; 0: 256 MiB
	// Either makes [Output] return the last 4 KiB of stderr when nothing was written to
	// stdout. [Runner.Output] ignores it.
	Either bool
	// Says gets all of stderr from [Output], too. May be nil.
	Says io.Writer
}

func (c Call) limit() int64 { return cmp.Or(max(c.MaxOutput, 0), maxCallOutput) }

// Output runs a program and returns its stdout, even with an [*ExitError]. Other errors
// are a [*StartError], [ErrOutput], or the cause of ctx. The program's process group is
// ended with it, but not what moves to a session of its own: use [Runner.Output] for
// programs that are not trusted.
func Output(ctx context.Context, call Call) ([]byte, error) {
	sp, err := resolve(call.Invocation)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	program := filepath.Base(call.Argv[0])
	stdout := &limited{left: call.limit(), full: func() { cancel(fmt.Errorf("%s: %w", program, ErrOutput)) }}
	stderr := &Excerpt{End: maxCallStderr}
	cmd := exec.CommandContext(ctx, sp.Path)
	cmd.Args, cmd.Dir, cmd.Env = sp.Argv, sp.Dir, sp.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if call.Says != nil {
		cmd.Stderr = io.MultiWriter(stderr, call.Says)
	}
	if call.Stdin != nil {
		cmd.Stdin = bytes.NewReader(call.Stdin)
	}
	cmd.WaitDelay = callGrace
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, startError(sp.Path, err)
	}
	err = cmd.Wait()
	killGroup(cmd)
	end := wholeStart(stderr.Captured("").End)
	out := stdout.buf.Bytes()
	if call.Either && len(out) == 0 {
		out = end
	}
	return out, callError(ctx, program, cmd, err, end)
}

func callError(ctx context.Context, program string, cmd *exec.Cmd, err error, stderr []byte) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case cmd.ProcessState != nil && cmd.ProcessState.Success():
		// A process that it left kept its output open, or it did not read all of its
		// input: neither is a failure of the program.
		return nil
	case cmd.ProcessState != nil:
		return exitError(program, cmd.ProcessState.ExitCode(), stderr)
	}
	return fmt.Errorf("run %s: %w", program, err)
}

// Output is like the function of that name, for programs that are not trusted: it leaves
// no process running, and names those that it had to end.
func (r *Runner) Output(ctx context.Context, call Call) (out []byte, left []Process, err error) {
	program := filepath.Base(call.Argv[0])
	res, err := r.Run(ctx, Command{
		Invocation: Invocation{Argv: call.Argv, Dir: call.Dir, Env: call.Env, Stdin: call.Stdin},
		StdinPipe:  call.Stdin != nil, // a file would need a temporary directory, which may be missing
		Limits:     Limits{MaxOutput: call.limit(), Keep: call.limit(), Grace: callGrace},
	})
	out, left = res.Stdout.Text, res.Leftovers
	switch {
	case err != nil:
		return nil, left, err
	case ctx.Err() != nil:
		return nil, left, context.Cause(ctx)
	case res.Stdout.Omitted > 0 || res.Stop == StopOutputLimit:
		return nil, left, fmt.Errorf("%s: %w", program, ErrOutput)
	case res.ExitCode != 0:
		stderr := res.Stderr.Text
		return out, left, exitError(program, res.ExitCode, wholeStart(stderr[max(0, len(stderr)-maxCallStderr):]))
	}
	return out, left, nil
}

func exitError(program string, code int, stderr []byte) error {
	return &ExitError{Program: program, ExitCode: code, Stderr: strings.TrimSpace(string(stderr))}
}

// A limited buffer calls full when more is written to it than the limit.
type limited struct {
	buf  bytes.Buffer
	left int64
	full func()
}

var errFull = errors.New("full")

func (l *limited) Write(b []byte) (int, error) {
	if int64(len(b)) > l.left {
		l.full()
		return 0, errFull
	}
	l.left -= int64(len(b))
	return l.buf.Write(b)
}
