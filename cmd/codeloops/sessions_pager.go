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
// does: it is a shell command of the user's own, and "cat" or an empty one is
// none. write is called again, with standard output,
// when the pager cannot be started. What it shows is without the values of
// secrets, which the log of another program may hold.
func (a *app) page(ctx context.Context, noPager bool, write func(context.Context, io.Writer) error) error {
	show := func(ctx context.Context, out io.Writer) error {
		safe := a.secrets.Writer(out)
		err := write(ctx, safe)
		if again := safe.Close(); err == nil { // it says again what went wrong before
			err = again
		}
		return err
	}
	command := ""
	if !noPager && a.OutTTY {
		command = a.pager(ctx)
	}
	if command == "" {
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

// pager finds the command where git looks for it: $GIT_PAGER, core.pager, $PAGER,
// less. Of git's configuration only the user's own counts, and the machine's: an
// agent may have written that of a repository.
func (a *app) pager(ctx context.Context) string {
	command, set := a.lookupEnv("GIT_PAGER")
	if !set {
		command, set = a.configuredPager(ctx)
	}
	if !set {
		command, set = a.lookupEnv("PAGER")
	}
	if !set {
		return "less"
	}
	if command = strings.TrimSpace(command); command == "cat" {
		return ""
	}
	return command
}

func (a *app) configuredPager(ctx context.Context) (command string, set bool) {
	for _, scope := range []string{"--global", "--system"} {
		out, err := gitProgram{env: a.env}.in(ctx, a.dir, "config", scope, "--includes", "--get", "core.pager")
		if err == nil {
			return string(out), true
		}
	}
	return "", false
}
