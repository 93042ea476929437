package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/debuglog"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
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
			report(r.app.Err, fmt.Errorf("write the debug log: %w", err), r.app.Secrets)
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
	o := render.Options{
		Progress: a.Err, Style: a.ErrRenderer(), Width: a.errWidth(), ASCII: a.ASCII && a.ErrTTY,
		Live: r.screen != nil && a.ErrTTY && !a.Plain, Columns: r.columns(), Verbose: r.opts.verbose, Quiet: r.opts.quiet, Zone: a.Now().Location(),
		Past:   r.plan.Tally(),
		Result: render.Result{Out: a.Out, Ending: a.OutRenderer(), Room: a.outRoom(), Log: r.plan.Log},
		After:  render.After{Now: r.now, Next: r.next},
	}
	if r.screen != nil {
		o.Out = r.screen.Behind(a.Out)
	}
	if r.opts.jsonOutput { // standard output is the document's alone
		o.Out, o.Ending, o.Room = a.Err, a.ErrRenderer(), a.errWidth()
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

// ask puts a question of a run to the user. A script that names a session means it,
// wherever that works.
func (r *runCommand) ask(ctx context.Context, q run.Question) (run.Answer, error) {
	if q.About == run.Elsewhere && (r.opts.yes || !r.terminal()) {
		if session.IsLatest(r.ref) {
			return run.Answer{}, run.ErrNobody
		}
		return run.Answer{Yes: true}, nil
	}
	if !r.terminal() {
		return run.Answer{}, run.ErrNobody
	}
	defer r.lend()()
	if q.About == run.Strategy {
		return r.answer(ctx, q.Text)
	}
	err := ask.Sure(ctx, r.app.Streams, q.Text)
	return run.Answer{Yes: err == nil}, err
}

// terminal reports whether the user can be asked.
func (r *runCommand) terminal() bool { return r.app.InTTY && r.app.ErrTTY }

// answer asks for a line of text. Whoever says no, or types the end of the input, wants none
// of it.
func (r *runCommand) answer(ctx context.Context, question string) (run.Answer, error) {
	if r.typed == nil {
		r.typed = bufio.NewReader(r.app.In) // one for all questions: it may have read further
	}
	text, err := ask.Line(ctx, r.app.Streams, r.typed, "\n"+term.Clean(r.app.Secrets.String(question))+"\n> ")
	if errors.Is(err, ask.ErrNone) || strings.EqualFold(text, "n") || strings.EqualFold(text, "no") {
		return run.Answer{}, run.ErrRefused
	}
	return run.Answer{Text: text}, err
}
