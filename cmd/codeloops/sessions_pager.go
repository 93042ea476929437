package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"codeloops/internal/proc"
)

// Exit codes of a shell that could not run what it was told to.
const (
	shellCannotRun = 126
	shellNotFound  = 127
)

// page writes to the user's pager when standard output is a terminal, as git
// does: $PAGER is a shell command of the user's own, "cat" or an empty one is
// none, and less is the default. write is called again, with standard output,
// when the pager cannot be started. What it shows is without the values of
// secrets, which the log of another program may hold.
func (a *app) page(ctx context.Context, noPager bool, write func(context.Context, io.Writer) error) error {
	show := func(ctx context.Context, out io.Writer) error {
		safe := a.secrets.Writer(out)
		return errors.Join(write(ctx, safe), safe.Close())
	}
	command := a.pager()
	if noPager || !a.OutTTY || command == "" {
		return unlessGone(show(ctx, a.Out))
	}
	// Ctrl+C is for the pager, which asks for it to end a search.
	paged := context.WithoutCancel(ctx)
	tool := proc.Tool{Argv: []string{"sh", "-c", command}, Stdout: a.Out, Stderr: a.Err}
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := a.lookupEnv(name); !set {
			tool.Env = append(tool.Env, name+"="+value)
		}
	}
	r, w := io.Pipe()
	tool.Stdin = r
	var code int
	var broke error
	done := make(chan struct{})
	go func() {
		defer close(done)
		code, broke = tool.Run(paged)
		_ = r.Close() // of a pager that was left before its end
	}()
	err := errors.Join(show(paged, w), w.Close())
	<-done
	if broke != nil || code == shellNotFound || code == shellCannotRun {
		return unlessGone(show(ctx, a.Out))
	}
	return unlessGone(err)
}

func (a *app) pager() string {
	command, set := a.lookupEnv("PAGER")
	if !set {
		return "less"
	}
	if command = strings.TrimSpace(command); command == "cat" {
		return ""
	}
	return command
}
