package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// A Tool is a plain child process: nothing watches over it and nothing ends what it
// leaves running. It is for the user's own programs, and for the scripted agent, which
// starts its children as agents do; to call an agent, use a [Runner].
type Tool struct {
	Argv []string // a name without a slash is looked up in PATH
	Env  []string // set on top of this process's environment

	// Stdin, Stdout and Stderr are the null device when nil. An *os.File is handed down
	// as it is. Anything else makes Run copy, and wait until every process that holds
	// the other end has closed it.
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	OwnSession bool // leaves our session, so that it gets no signals sent to our group

	Started func(pid int) // called by Run once it runs; may be nil
}

// Run waits for the tool and returns its exit code, -1 when a signal ended it.
func (t Tool) Run(ctx context.Context) (int, error) {
	cmd := t.command(ctx)
	err := cmd.Start()
	if err == nil {
		if t.Started != nil {
			t.Started(cmd.Process.Pid)
		}
		err = cmd.Wait()
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return cmd.ProcessState.ExitCode(), context.Cause(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", t.Argv[0], err)
	}
	return 0, nil
}

// Start starts the tool and does not wait for it: it may outlive this process. Its
// output must be nil or files.
func (t Tool) Start() error {
	cmd := t.command(context.Background())
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", t.Argv[0], err)
	}
	return cmd.Process.Release()
}

func (t Tool) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.Argv[0], t.Argv[1:]...)
	cmd.Env = append(cmd.Environ(), t.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.Stdin, t.Stdout, t.Stderr
	if t.OwnSession {
		cmd.SysProcAttr = ownSession()
	}
	return cmd
}
