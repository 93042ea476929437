package main

import (
	"context"
	"io"

	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// open gives standard error to a screen, where people are shown the run; what is returned ends
// that. All that is written on standard error meanwhile goes through it.
func (r *runCommand) open(ctx context.Context) (closed func()) {
	a := r.app
	if r.silent() || render.Format(r.plan.Config.LogFormat) != render.Pretty {
		return func() {}
	}
	cfg := r.plan.Config
	// What belongs to the terminal itself, as the pager and the size, does not go through the screen.
	own := &term.Streams{In: a.In, Out: a.Out, Err: a.Err, OutTTY: a.OutTTY, ErrTTY: a.ErrTTY, Columns: a.Columns}
	r.screen = live.New(live.Options{
		Out: own.Err, Size: own.Size, Now: a.Now, Style: a.ErrRenderer(), ASCII: a.ASCII, Plain: a.Plain || !a.ErrTTY, Reflows: a.Reflows,
		Root: r.plan.Dir, Past: r.plan.Past(), Limits: live.Limits{Turn: cfg.Actor.Timeout, Cost: cfg.MaxCost}, Asked: r.plan.Control().Asked, Keys: a.InTTY && a.ErrTTY,
	})
	a.Err = r.screen
	r.keys = &live.Keyboard{Screen: r.screen, Streams: a.Streams, To: r.plan.Control(), Pager: func(text string) error {
		p := pager.Pager{Streams: own, Host: &a.Host, Git: &worktree.Git{Environ: a.Environ}}
		return p.Show(ctx, false, func(_ context.Context, out io.Writer) error {
			_, err := io.WriteString(out, text)
			return err
		})
	}}
	r.keys.Open()
	return func() {
		r.keys.Close()
		_ = r.screen.Close() // its error has been the sink's
	}
}

// columns are those of the screen; nil: nothing is drawn, or cut.
func (r *runCommand) columns() func() int {
	if r.screen == nil || r.app.errWidth() == 0 {
		return nil
	}
	return r.app.errWidth
}

// lend gives the terminal to somebody who asks the user, until what is returned is called.
func (r *runCommand) lend() (back func()) {
	if r.keys == nil {
		return func() {}
	}
	return r.keys.Lend()
}
