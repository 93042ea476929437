package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"codeloops/internal/cli/signals"
	"codeloops/internal/command"
	"codeloops/internal/loop"
)

// TestInterrupted: after Ctrl+C the error names the signal, not a cancelled context.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&signals.Error{Signal: os.Interrupt})
	const told = `received the signal "interrupt"`
	ended := &command.EndedError{Result: loop.Interrupted, Err: context.Canceled}
	for _, c := range []struct {
		err  error
		want string
		code int
	}{
		{fmt.Errorf("take the state of x: %w", context.Canceled), told, command.ExitInterrupted},
		{fmt.Errorf("read the answer: %w", context.Cause(ctx)), "read the answer: " + told, command.ExitInterrupted},
		{errors.Join(context.Cause(ctx), errors.New("a process stays")), told + "\na process stays", command.ExitInterrupted},
		{ended, ended.Error(), command.ExitInterrupted},
		{errors.New("no such file"), "no such file", command.ExitError},
	} {
		if got := interrupted(ctx, c.err); got.Error() != c.want || exitCode(got) != c.code {
			t.Errorf("%v: %v, exit code %d", c.err, got, exitCode(got))
		}
	}
	if got := interrupted(ctx, nil); got != nil {
		t.Error(got)
	}
	if got := interrupted(t.Context(), context.Canceled); !errors.Is(got, context.Canceled) {
		t.Error(got)
	}
}
