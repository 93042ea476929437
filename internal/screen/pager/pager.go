// Package pager shows a text in the user's pager.
package pager

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"codeloops/internal/config/host"
	"codeloops/internal/diff"
	"codeloops/internal/proc"
	"codeloops/internal/screen/term"
)

// Exit codes of a shell that could not run what it was told to.
const (
	shellCannotRun = 126
	shellNotFound  = 127
)

// A Pager is the user's.
type Pager struct {
	*term.Streams
	*host.Host

	Git diff.Git // asks the user's configuration
}

// Show writes to the pager when standard output is a terminal, as git
// does: it is a shell command of the user's own, and "cat" or an empty one is
// none. write is called again, with standard output,
// when the pager cannot be started. What it shows is without the values of
// secrets, which the log of another program may hold.
func (p *Pager) Show(ctx context.Context, noPager bool, write func(context.Context, io.Writer) error) error {
	show := func(ctx context.Context, out io.Writer) error {
		safe := p.Secrets.Writer(out)
		err := write(ctx, safe)
		if again := safe.Close(); err == nil { // it says again what went wrong before
			err = again
		}
		return err
	}
	command := ""
	if !noPager && p.OutTTY {
		command = p.command(ctx)
	}
	if command == "" {
		return UnlessGone(show(ctx, p.Out))
	}
	// Ctrl+C is for the pager, which asks for it to end a search.
	paged := context.WithoutCancel(ctx)
	tool := proc.Tool{Argv: []string{"sh", "-c", command}, Stdout: p.Out, Stderr: p.Err}
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, set := p.LookupEnv(name); !set {
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
		return UnlessGone(show(ctx, p.Out))
	}
	return UnlessGone(err)
}

// command finds the command where git looks for it: $GIT_PAGER, core.pager, $PAGER,
// less. Of git's configuration only the user's own counts, and the machine's: an
// agent may have written that of a repository.
func (p *Pager) command(ctx context.Context) string {
	command, set := p.LookupEnv("GIT_PAGER")
	if !set {
		command, set = p.configured(ctx)
	}
	if !set {
		command, set = p.LookupEnv("PAGER")
	}
	if !set {
		return "less"
	}
	if command = strings.TrimSpace(command); command == "cat" {
		return ""
	}
	return command
}

func (p *Pager) configured(ctx context.Context) (command string, set bool) {
	for _, scope := range []string{"--global", "--system"} {
		out, err := p.Git.Run(ctx, diff.GitCall{Dir: p.Dir, Args: []string{"config", scope, "--includes", "--get", "core.pager"}})
		if err == nil {
			return string(out), true
		}
	}
	return "", false
}

// UnlessGone drops the error of a write whose reader has gone away, as head
// and pagers do: they have seen what they wanted.
func UnlessGone(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
