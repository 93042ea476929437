package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/ci"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/notice"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

// open gives standard error to a screen, where people are shown the run; what is returned ends
// that.
func (r *runCommand) open(ctx context.Context) (closed func()) {
	a := r.app
	r.job = ci.New(ci.Of(r.plan.Config.CI, a.Getenv))
	a.Err = r.job.Writer(a.Err, render.Format(r.plan.Config.LogFormat) == render.JSON)
	a.Out = r.job.Writer(a.Out, r.opts.jsonOutput)
	if r.silent() || render.Format(r.plan.Config.LogFormat) != render.Pretty {
		return func() {}
	}
	cfg := r.plan.Config
	r.keys, closed = r.app.onScreen(ctx, live.Options{
		Root: r.plan.Root(), Past: r.plan.Tally(), Asked: r.plan.Control().Asked,
		Limits: live.Limits{Turn: cfg.Actor.Timeout, Whole: cfg.MaxDuration, Cost: cfg.MaxCost, Tokens: int64(cfg.MaxTokens)},
		Keys:   r.terminal(), Title: cfg.Title,
		Diff: func() (string, error) { return r.plan.Control().Diff(ctx) },
	}, r.plan.Control())
	if a.ErrTTY {
		r.plan.Control().Show()
	}
	r.screen = r.keys.Screen
	return closed
}

// onScreen gives standard error to a screen, and keys to whoever is steered, until what is returned
// is called. All that is written on standard error meanwhile goes through the screen.
func (a *app) onScreen(ctx context.Context, o live.Options, to live.Steerer) (keys *live.Keyboard, closed func()) {
	// What belongs to the terminal itself, as the pager and the size, does not go through the screen.
	own := &term.Streams{In: a.In, Out: a.Out, Err: a.Err, OutTTY: a.OutTTY, ErrTTY: a.ErrTTY, Columns: a.Columns}
	resized := make(chan os.Signal, 1)
	term.NotifyResize(resized)
	o.Terminal = live.Terminal{
		Out: own.Err, Size: own.Size, Resized: resized, Style: a.ErrRenderer(),
		ASCII: a.ASCII, Plain: a.Plain || !a.ErrTTY, Reflows: a.Reflows,
	}
	o.Now, o.Title = a.Now, o.Title && notice.Knows(a.Getenv("TERM"))
	screen := live.New(o)
	a.Err = screen
	keys = &live.Keyboard{Screen: screen, Streams: a.Streams, To: to, Pager: func(text string) error {
		p := pager.Pager{Streams: own, Host: &a.Host, Git: &worktree.Git{Environ: a.Environ}}
		return p.Show(ctx, false, func(_ context.Context, out io.Writer) error {
			_, err := io.WriteString(out, text)
			return err
		})
	}}
	keys.Open()
	return keys, func() {
		keys.Close()
		_ = screen.Close() // its error has been the sink's
		signal.Stop(resized)
	}
}

// refuse tells the log of a job of a run that could not begin: its configuration may not have been
// read.
func (a *app) refuse(o *runOptions, err error) {
	if _, told := errors.AsType[*endedError](err); err == nil || told {
		return
	}
	setting, said := o.settings.Values()["ci"].(string)
	if !said {
		setting = cmp.Or(a.Getenv("CODELOOPS_CI"), ci.Auto)
	}
	ci.New(ci.Of(setting, a.Getenv)).Refused(a.Err, failure(a, err).Message)
}

// over tells on the terminal how the run has ended, where that was asked for.
func (r *runCommand) over(out *loop.Outcome) {
	a, way := r.app, notice.Way(r.plan.Config.Notify)
	if out.Result == "" || !a.ErrTTY || a.Getenv("CI") != "" || way != notice.Bell && !notice.Knows(a.Getenv("TERM")) {
		return
	}
	said := fmt.Sprintf("%s: %s after %s", filepath.Base(r.plan.Dir), words.Outcome(string(out.Result)), render.Count(out.Iterations, "iteration", "iterations"))
	_, _ = io.WriteString(a.Err, notice.Text(way, said, a.Getenv("TMUX") != "")) // nobody is told that nobody is told
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
