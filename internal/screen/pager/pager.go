// Package pager shows a text in the user's pager.
package pager

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"codeloops/internal/config/host"
	"codeloops/internal/proc"
	"codeloops/internal/screen/term"
)

// Exit codes of a shell that could not run its command.
const (
	shellCannotRun = 126
	shellNotFound  = 127
)

// A Pager runs the user's pager.
type Pager struct {
	*term.Streams
	*host.Host

	Git interface { // of the user
		UserSetting(ctx context.Context, dir, key string) (value string, set bool)
	}

	// Leaves: the text must not stay on the terminal when the user has read it. less then gets a
	// screen of its own, even for a short text.
	Leaves bool
}

// leaving are the options of less that undo others.
const leaving = " -+F -+X"

// Show pages what write writes if standard output is a terminal. As with git, the pager is a shell
// command, and "cat" or an empty one means none. If the pager cannot be started, write is called
// again, with standard output. Values of secrets are removed: the log of another program may hold
// them.
func (p *Pager) Show(ctx context.Context, noPager bool, write func(context.Context, io.Writer) error) error {
	show := func(ctx context.Context, out io.Writer) error {
		safe := p.Secrets.Writer(out)
		return cmp.Or(write(ctx, safe), safe.Close()) // Close repeats an earlier error
	}
	command := ""
	if !noPager && p.OutTTY {
		command = p.command(ctx)
	}
	if words := strings.Fields(command); p.Leaves && len(words) > 1 && filepath.Base(words[0]) == "less" {
		command += leaving // its options precede those of LESS
	}
	if command == "" {
		return UnlessGone(show(ctx, p.Out))
	}
	// Ctrl+C is for the pager, which uses it to end a search.
	paged := context.WithoutCancel(ctx)
	tool := proc.Tool{Argv: []string{"sh", "-c", command}, Stdout: p.Out, Stderr: p.Err}
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		own, set := p.LookupEnv(name)
		if set {
			value = own
		}
		if p.Leaves && name == "LESS" {
			value, set = value+leaving, false
		}
		if !set {
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
		_ = r.Close() // the user may have left the pager early
	}()
	err := errors.Join(show(paged, w), w.Close())
	<-done
	if broke != nil || code == shellNotFound || code == shellCannotRun {
		return UnlessGone(show(ctx, p.Out))
	}
	return UnlessGone(err)
}

// command looks for the command where git does: $GIT_PAGER, core.pager, $PAGER, less.
func (p *Pager) command(ctx context.Context) string {
	command, set := p.LookupEnv("GIT_PAGER")
	if !set {
		command, set = p.Git.UserSetting(ctx, p.Dir, "core.pager")
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

// UnlessGone drops the error of a write whose reader has gone away, as head and pagers do.
func UnlessGone(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
