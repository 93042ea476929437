package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/ci"
	"codeloops/internal/screen/debuglog"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/notice"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
)

// open draws the live screen on standard error if people watch the run. The returned
// function closes it.
func (r *runCommand) open(ctx context.Context) (closed func()) {
	a := r.app
	r.job = ci.New(ci.Of(r.plan.Config.CI, a.Getenv))
	r.job.Locate = r.locate
	a.Err = r.job.Writer(a.Err, render.Format(r.plan.Config.LogFormat) == render.JSON)
	a.Out = r.job.Writer(a.Out, r.opts.jsonOutput)
	if r.silent() || render.Format(r.plan.Config.LogFormat) != render.Pretty {
		return func() {}
	}
	cfg := r.plan.Config
	past := r.plan.State()
	r.keys, closed = r.app.Live(ctx, live.Options{
		Root: r.plan.Root(), Past: past.Past(), Asked: r.plan.Control().Asked,
		Limits: live.Limits{Turn: cfg.Actor.Timeout, Whole: cfg.MaxDuration, Cost: cfg.MaxCost, Tokens: int64(cfg.MaxTokens)},
		Keys:   a.CanAsk(), Title: cfg.Title,
		Diff: func() (string, error) { return r.plan.Control().Diff(ctx) },
	}, r.plan.Control())
	if a.ErrTTY {
		r.plan.Control().Show()
	}
	return closed
}

// refuse reports a run that could not start to the log of a CI job. The configuration may not
// have been read.
func (a *app) refuse(o *runOptions, err error) {
	if _, told := errors.AsType[*command.EndedError](err); err == nil || told {
		return
	}
	setting, said := o.settings.Said("ci")
	if !said {
		setting = cmp.Or(a.Getenv("CODELOOPS_CI"), ci.Auto)
	}
	ci.New(ci.Of(setting, a.Getenv)).Refused(a.Err, failure(a, err).Message)
}

// over sends a terminal notification about the end of the run, if configured.
func (r *runCommand) over(out *loop.Outcome) {
	a, way := r.app, notice.Way(r.plan.Config.Notify)
	if out.Result == "" || !a.ErrTTY || a.Getenv("CI") != "" || way != notice.Bell && !notice.SupportsEscapes(a.Getenv("TERM")) {
		return
	}
	said := fmt.Sprintf("%s: %s after %s", filepath.Base(r.plan.Dir), words.Outcome(string(out.Result)), render.Count(out.Iterations, "iteration", "iterations"))
	_, _ = io.WriteString(a.Err, notice.Text(way, said, a.Getenv("TMUX") != "")) // a notification that fails is lost
}

// lend releases the terminal for a question to the user, until the returned function is called.
func (r *runCommand) lend() (back func()) {
	if r.keys == nil {
		return func() {}
	}
	return r.keys.Lend()
}

// sinks returns the sinks that show the run. The returned function closes them.
func (r *runCommand) sinks(ctx context.Context) (shown []loop.Sink, closed func(), err error) {
	display, err := r.display()
	if shown = []loop.Sink{display}; r.keys != nil {
		shown = []loop.Sink{r.keys, display}
	}
	if err != nil {
		return nil, nil, err
	}
	if r.opts.logFile == "" {
		return shown, func() {}, nil
	}
	f, err := ask.Within(ctx, func() (*os.File, error) { // opening a pipe waits for its reader
		return os.OpenFile(r.app.Path(r.opts.logFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open the debug log: %w", err)
	}
	r.debug = debuglog.New(f)
	return append([]loop.Sink{r.debug}, shown...), func() {
		if err := errors.Join(r.unlogged, f.Close()); err != nil {
			r.app.Report(fmt.Errorf("write the debug log: %w", err))
		}
	}, nil
}

// dropped remembers why the debug log is incomplete. An error of the display is ignored: nobody
// could read it.
func (r *runCommand) dropped(s loop.Sink, err error) {
	if s == r.debug {
		r.unlogged = err
	}
}

func (r *runCommand) display() (loop.Sink, error) {
	a := r.app
	o := a.RenderOptions(render.Format(r.plan.Config.LogFormat), r.plan.Log)
	o.Live = r.keys != nil && a.ErrTTY && !a.Plain
	o.Asks = a.CanAsk()
	past := r.plan.State()
	o.Past = past.Past()
	o.Verbose, o.Quiet, o.After = r.opts.verbose, r.opts.quiet, render.After{Now: r.now, Next: r.next}
	if !r.opts.demo { // its repository is deleted
		o.Others = r.others
	}
	if r.keys != nil {
		if o.Out = r.keys.SyncedWriter(a.Out); o.Width > 0 { // otherwise lines are not cut
			o.Columns = a.ErrRoom
		}
	}
	if r.opts.jsonOutput { // standard output is reserved for the document
		o.Out, o.Ending, o.Room = a.Err, a.ErrRenderer(), a.ErrRoom()
		if r.opts.quiet {
			o.Out = io.Discard
		}
	}
	format := render.Format(r.plan.Config.LogFormat)
	shown, err := render.Run(format, o)
	if err == nil && format != render.JSON {
		shown = r.job.Sink(a.Err, shown, format == render.Pretty && !r.opts.quiet)
	}
	return shown, err
}

// now returns the change of the work tree at the end of the run.
func (r *runCommand) now() (c loop.Change, ok bool) {
	c, err := r.plan.Now()
	for i, f := range c.Files { // only changes in events are redacted already
		c.Files[i].Path = r.app.Secrets.String(f.Path)
	}
	return c, err == nil
}
