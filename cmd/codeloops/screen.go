package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/ci"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/notice"
	"codeloops/internal/screen/render"
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
	r.keys, closed = r.app.Live(ctx, live.Options{
		Root: r.plan.Root(), Past: r.plan.Tally(), Asked: r.plan.Control().Asked,
		Limits: live.Limits{Turn: cfg.Actor.Timeout, Whole: cfg.MaxDuration, Cost: cfg.MaxCost, Tokens: int64(cfg.MaxTokens)},
		Keys:   a.CanAsk(), Title: cfg.Title,
		Diff: func() (string, error) { return r.plan.Control().Diff(ctx) },
	}, r.plan.Control())
	if a.ErrTTY {
		r.plan.Control().Show()
	}
	r.screen = r.keys.Screen
	return closed
}

// refuse tells the log of a job of a run that could not begin: its configuration may not have been
// read.
func (a *app) refuse(o *runOptions, err error) {
	if _, told := errors.AsType[*command.EndedError](err); err == nil || told {
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
	if r.screen == nil || r.app.ErrRoom() == 0 {
		return nil
	}
	return r.app.ErrRoom
}

// lend gives the terminal to somebody who asks the user, until what is returned is called.
func (r *runCommand) lend() (back func()) {
	if r.keys == nil {
		return func() {}
	}
	return r.keys.Lend()
}
