package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"codeloops/internal/debuglog"
	"codeloops/internal/loop"
	"codeloops/internal/metrics"
	"codeloops/internal/render"
	"codeloops/internal/session"
)

// sinks returns what shows a run, beside the recorder that writes it down. The
// returned function closes what was opened.
func (p *plan) sinks(ctx context.Context, rec *session.Recorder, tally *metrics.Tally) (_ loop.Sink, closed func(), err error) {
	display, err := p.display(rec, tally)
	if err != nil {
		return nil, nil, err
	}
	shown := &tolerant{sink: display, stopped: ctx.Done()}
	if p.opts.logFile == "" {
		return shown, func() {}, nil
	}
	f, err := within(ctx, func() (*os.File, error) { // a pipe waits for its reader
		return os.OpenFile(resolve(p.app.dir, p.opts.logFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open the debug log: %w", err)
	}
	debug := &tolerant{sink: debuglog.New(f), stopped: ctx.Done()}
	return loop.Tee(debug, shown), func() {
		if err := errors.Join(debug.broken, f.Close()); err != nil {
			report(p.app.Err, fmt.Errorf("write the debug log: %w", err), p.app.secrets)
		}
	}, nil
}

func (p *plan) display(rec *session.Recorder, tally *metrics.Tally) (loop.Sink, error) {
	a := p.app
	o := render.Options{
		Progress: a.Err, Result: a.Out, Style: a.ErrRenderer(), Width: a.errWidth(),
		Live: a.ErrTTY && !a.Plain, Verbose: p.opts.verbose, Quiet: p.opts.quiet, Log: rec.Path(), Zone: a.now().Location(),
		Past: p.past(), CarryOn: func(out loop.Outcome) string { return p.carryOn(rec, tally, out) },
	}
	format := render.Format(p.cfg.LogFormat)
	if p.opts.jsonOutput {
		o.Result = a.Err // standard output is the document's alone
		if p.opts.quiet {
			o.Result = io.Discard
		}
	}
	return render.Run(format, o)
}

// ending shows what it is handed, and at the end what a run came to, also when
// the log could not take that any more: then no sink behind it was told.
type ending struct {
	shown loop.Sink
	seq   int
	told  bool
}

// Handle hands every event on.
func (e *ending) Handle(at loop.Stamp, event loop.Event) error {
	_, e.told = event.(loop.Finished)
	e.seq = at.Seq
	return e.shown.Handle(at, event)
}

// end makes sure that the outcome was shown.
func (e *ending) end(at time.Time, out loop.Outcome) {
	if !e.told {
		_ = e.Handle(loop.Stamp{Seq: e.seq + 1, Time: at}, loop.Finished{Outcome: out}) // a display ends no run
	}
}

// stall is how long a run that was told to stop waits for a reader who does not
// read, such as a terminal that hangs.
const stall = time.Second

// errStalled says that nobody reads.
var errStalled = errors.New("nobody reads it")

// tolerant keeps a display that cannot be written to from ending a run: the
// reader of a pipe may go away, the work goes on, and the log has it all. Nor does
// one whose reader has fallen asleep keep a run from ending.
type tolerant struct {
	sink    loop.Sink
	stopped <-chan struct{} // closed when the run is to stop
	broken  error
}

// Handle hands events on until the first one fails.
func (t *tolerant) Handle(at loop.Stamp, e loop.Event) error {
	if t.broken == nil {
		t.broken = t.hand(at, e)
	}
	return nil
}

func (t *tolerant) hand(at loop.Stamp, e loop.Event) error {
	handled := make(chan error, 1)
	go func() { handled <- t.sink.Handle(at, e) }()
	select {
	case err := <-handled:
		return err
	case <-t.stopped:
		return soon(handled)
	}
}

// soon waits for a display that may hang. One that does may be at it still: nothing
// more is to be handed to it.
func soon(handled <-chan error) error {
	select {
	case err := <-handled:
		return err
	case <-time.After(stall):
		return errStalled
	}
}
