package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"codeloops/internal/loop"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/debuglog"
	"codeloops/internal/screen/render"
)

// sinks returns what shows a run. The returned function closes what was opened.
func (r *runCommand) sinks(ctx context.Context) (shown []loop.Sink, closed func(), err error) {
	display, err := r.display()
	if shown = []loop.Sink{display}; r.screen != nil {
		shown = []loop.Sink{r.keys, display}
	}
	if err != nil {
		return nil, nil, err
	}
	if r.opts.logFile == "" {
		return shown, func() {}, nil
	}
	f, err := ask.Within(ctx, func() (*os.File, error) { // a pipe waits for its reader
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

// dropped keeps why the debug log is not whole. Of a display that cannot be written to,
// nobody would read it.
func (r *runCommand) dropped(s loop.Sink, err error) {
	if s == r.debug {
		r.unlogged = err
	}
}

func (r *runCommand) display() (loop.Sink, error) {
	a := r.app
	o := a.Shown(r.plan.Log)
	o.Live = r.screen != nil && a.ErrTTY && !a.Plain
	o.Columns, o.Verbose, o.Quiet = r.columns(), r.opts.verbose, r.opts.quiet
	o.Past, o.After = r.plan.Tally(), render.After{Now: r.now, Next: r.next}
	if r.screen != nil {
		o.Out = r.screen.Behind(a.Out)
	}
	if r.opts.jsonOutput { // standard output is the document's alone
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

// now looks at what has changed when the run is over.
func (r *runCommand) now() (c loop.Change, ok bool) {
	c, err := r.plan.Now()
	for i, f := range c.Files { // what comes with an event has no secrets any more
		c.Files[i].Path = r.app.Secrets.String(f.Path)
	}
	return c, err == nil
}
