package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// A Program is codeloops as one would type it in a directory.
type Program struct {
	Path    string // of the program
	Dir     string
	Environ []string
}

// Output runs a command and returns what it prints. Its error is the one that the command reports, with its hint.
func (p Program) Output(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	out, err := proc.Output(ctx, proc.Call{Invocation: proc.Invocation{
		Argv: append([]string{p.Path}, args...), Dir: p.Dir, Env: p.Environ, Stdin: []byte(stdin),
	}})
	if failed, ok := errors.AsType[*proc.ExitError](err); ok {
		return out, reported(failed)
	}
	return out, err
}

// Document is Output for a command that prints JSON.
func (p Program) Document(ctx context.Context, stdin string, into any, args ...string) error {
	out, err := p.Output(ctx, stdin, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// reported is the error that a command has written to standard error.
func reported(failed *proc.ExitError) error {
	var message, advice []string
	for line := range strings.Lines(failed.Stderr) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "hint: "); ok {
			advice = append(advice, text)
		} else {
			message = append(message, strings.TrimPrefix(line, "codeloops: "))
		}
	}
	switch {
	case len(message) == 0:
		return failed
	case len(advice) == 0:
		return errors.New(strings.Join(message, "\n"))
	}
	return hint.Add(errors.New(strings.Join(message, "\n")), strings.Join(advice, "; "))
}

// Interrupt has a run end now, as Ctrl+C does, given its process: its agents get some seconds to end.
func Interrupt(pid int) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(os.Interrupt)
	}
	if err != nil {
		return fmt.Errorf("interrupt the run (process %d): %w", pid, err)
	}
	return nil
}
