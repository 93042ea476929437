package proc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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

// A Call is a short-lived program of which the output is wanted, such as git.
type Call struct {
	Invocation
	MaxOutput int64 // bytes of stdout; 0: 256 MiB
	// Either: where nothing was written to stdout, what was written to stderr is
	// the output, up to 4 KiB of its end. [Runner.Output] does not know it.
	Either bool
}

func (c Call) limit() int64 { return cmp.Or(max(c.MaxOutput, 0), maxCallOutput) }

// Output runs a program and returns what it wrote to stdout, also along with an
// [*ExitError]. Other errors are a [*StartError], [ErrOutput], or the cause of
// ctx. The program's process group ends with it; what moves to a session of its
// own does not: for programs that are not trusted there is [Runner.Output].
func Output(ctx context.Context, call Call) ([]byte, error) {
	sp, err := resolve(call.Invocation)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	program := filepath.Base(call.Argv[0])
	stdout := &limited{left: call.limit(), full: func() { cancel(fmt.Errorf("%s: %w", program, ErrOutput)) }}
	stderr := &lastBytes{limit: maxCallStderr}
	cmd := exec.CommandContext(ctx, sp.path)
	cmd.Args, cmd.Dir, cmd.Env = sp.Argv, sp.Dir, sp.Env
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if call.Stdin != nil {
		cmd.Stdin = bytes.NewReader(call.Stdin)
	}
	cmd.WaitDelay = callGrace
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil { // it was too late for it
			return nil, context.Cause(ctx)
		}
		return nil, startError(sp.path, err)
	}
	err = cmd.Wait()
	killGroup(cmd)
	if call.Either && stdout.buf.Len() == 0 {
		return wholeStart(stderr.buf), callError(ctx, program, cmd, err, stderr)
	}
	return stdout.buf.Bytes(), callError(ctx, program, cmd, err, stderr)
}

func callError(ctx context.Context, program string, cmd *exec.Cmd, err error, stderr *lastBytes) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case cmd.ProcessState != nil && cmd.ProcessState.Success():
		// Something that it left held its output open, or it did not read all
		// of its input: neither is a failure of the program.
		return nil
	case cmd.ProcessState != nil:
		return exitError(program, cmd.ProcessState.ExitCode(), stderr)
	}
	return fmt.Errorf("run %s: %w", program, err)
}

// Output does what the function of that name does, for a program that may start
// others which are not trusted: nothing of it is left, and those that it left
// running are named.
func (r *Runner) Output(ctx context.Context, call Call) (out []byte, left []Process, err error) {
	program := filepath.Base(call.Argv[0])
	res, err := r.Run(ctx, Command{
		Invocation: Invocation{Argv: call.Argv, Dir: call.Dir, Env: call.Env, Stdin: call.Stdin},
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
		stderr := &lastBytes{limit: maxCallStderr}
		_, _ = stderr.Write(res.Stderr.Text)
		return out, left, exitError(program, res.ExitCode, stderr)
	}
	return out, left, nil
}

func exitError(program string, code int, stderr *lastBytes) error {
	return &ExitError{Program: program, ExitCode: code, Stderr: strings.TrimSpace(string(wholeStart(stderr.buf)))}
}

// limited holds what is written to it, up to a limit.
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

// lastBytes holds the last bytes written to it.
type lastBytes struct {
	buf   []byte
	limit int
}

func (t *lastBytes) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if extra := len(t.buf) - t.limit; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(b), nil
}
