package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/loop"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/door"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/replay"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording/hint"
)

// attention is how often a run that is watched is asked what was asked of it.
const attention = 500 * time.Millisecond

func newWatchCmd(a *app) *cobra.Command {
	l := a.logs()
	o := &replayOptions{speed: "max"}
	cmd := &cobra.Command{
		Use: "watch [ID|FILE]",
		Annotations: manual.Exits(
			manual.Exit{Code: exitDone, Meaning: "the session that was watched ended with success, or you left with q"},
			manual.Exit{Code: exitLimit, Meaning: "it ended at the iteration limit, or another budget"},
			manual.Exit{Code: exitError, Meaning: "it failed, or was killed; or an error"},
			manual.Exit{Code: exitInterrupted, Meaning: "it was interrupted, or you left with Ctrl+C"},
		),
		Short: "Watch a run from another terminal, and steer it",
		Long: `Show a session that runs as its own screen does, from its beginning on, and follow it
to its end. On a terminal the same keys steer it: s stops it after the iteration,
p pauses it, f tells the actor something, ? lists them. Ctrl+C and q leave the
watching; the run goes on. Elsewhere the lines are written that the run itself
writes. A session that is over is shown as codeloops replay shows it.

It ends with the exit code of the run.

` + runRefHelp,
		Example: `  codeloops watch
  codeloops watch 2026-01-27T15-30 && git commit -a`,
		Args: oneRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			return runWatch(cmd.Context(), l, o, first(args))
		},
	}
	cmd.ValidArgsFunction = a.completeRuns
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "log-format", "", "how it is shown: `pretty|compact|json` (default: as a run is)")
	f.StringVar(&l.Dir, "session-dir", "", "look for sessions that are over in `dir`")
	f.BoolVar(&l.All, "all", false, "without an ID: the one that runs, in whatever repository")
	return cmd
}

func runWatch(ctx context.Context, l *logs, o *replayOptions, ref string) error {
	r, err := l.Run(ctx, ref)
	if errors.Is(err, lookup.ErrNoRun) && ref != "" {
		return watchAgain(ctx, l, o, ref, err)
	}
	if err != nil {
		return err
	}
	return (&watching{logs: l, run: r}).watch(ctx, o)
}

// watchAgain shows a session that no lock tells of. notRunning is the error where there is none.
func watchAgain(ctx context.Context, l *logs, o *replayOptions, ref string, notRunning error) error {
	one, err := l.Find(ref)
	if errors.Is(err, session.ErrNotFound) {
		return notRunning
	}
	if err != nil {
		return err
	}
	if one.Status == session.Running { // under another home, perhaps: it can be looked at
		r := lookup.Run{Client: &door.Client{}, At: standing.Standing{Session: one.ID, Log: one.Path, WorkTree: one.Session.WorkingDir}}
		r.Holder.Lock.Session = one.ID
		return (&watching{logs: l, run: r}).watch(ctx, o)
	}
	if err := runReplay(ctx, l, o, one.Path); err != nil {
		return err
	}
	if one.Outcome == nil {
		return killed(one.ID)
	}
	return outcome(one.Outcome.Result)
}

// outcome is the error with which a command ends as a run did.
func outcome(r loop.Result) error {
	if r == loop.Success {
		return nil
	}
	return &endedError{result: r}
}

// killed says that a log has no end, and nobody is at work on it.
func killed(id string) error {
	return hint.Errorf("codeloops resume "+id+" carries it on", "session %s has no end: its process was killed", id)
}

// A watching is a run that somebody follows from elsewhere.
type watching struct {
	*logs

	run   lookup.Run
	from  iter.Seq2[session.Entry, error] // of a run on another machine; nil: its log is here
	ended loop.Result
}

// errLeft is why a watching ends that the user has left with a key.
var errLeft = errors.New("left")

// Handle takes down how the run ends.
func (w *watching) Handle(_ loop.Stamp, e loop.Event) error {
	if end, ok := e.(loop.Finished); ok {
		w.ended = end.Outcome.Result
	}
	if _, again := e.(loop.Resumed); again {
		w.ended = ""
	}
	return nil
}

func (w *watching) watch(ctx context.Context, o *replayOptions) error {
	id := w.run.Holder.Lock.Session
	if w.run.At.Log == "" && w.from == nil {
		return hint.Errorf("say where they are: --session-dir DIR", "session %s runs (process %d), and its log is not among the sessions here", id, w.run.Holder.Lock.PID)
	}
	from, err := w.source(ctx, id)
	if err != nil {
		return err
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	errs := w.app.Err
	sink, closed, err := w.open(ctx, o, func() { leave(errLeft) })
	if err != nil {
		return err
	}
	p := replay.Player{Sink: loop.Tee(w, sink), Bad: w.Tell}
	_, err = p.Play(ctx, from)
	closed()
	w.app.Err = errs
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintf(errs, "you have left; session %s goes on\n", term.Line(id)) // a courtesy
		if errors.Is(context.Cause(ctx), errLeft) {
			return nil
		}
		return &endedError{result: loop.Interrupted} // the sentence has said it
	case err != nil:
		return pager.UnlessGone(err)
	case w.ended == "":
		return killed(id)
	}
	return outcome(w.ended)
}

// source is where the events of the run come from.
func (w *watching) source(ctx context.Context, id string) (iter.Seq2[session.Entry, error], error) {
	if w.from != nil {
		return w.from, nil
	}
	store, err := w.run.Store()
	if err != nil {
		return nil, err
	}
	return store.Follow(ctx, id, 0), nil
}

// open returns what shows the run. On a terminal keys steer it, unless this is a turn of a run.
func (w *watching) open(ctx context.Context, o *replayOptions, leave func()) (sink loop.Sink, closed func(), err error) {
	a := w.app
	format, err := w.format(o)
	if err != nil {
		return nil, nil, err
	}
	out := render.Options{
		Progress: a.Err, Style: a.ErrRenderer(), Width: a.errWidth(), ASCII: a.ASCII && a.ErrTTY, Zone: a.Now().Location(),
		Result: render.Result{Out: a.Out, Ending: a.OutRenderer(), Room: a.outRoom(), Log: func() string { return w.run.At.Log }},
	}
	sinks := []loop.Sink{}
	closed = func() {}
	if format == render.Pretty {
		most := w.run.At.Limits
		limits := live.Limits{
			Turn:  time.Duration(most.TurnSecs * float64(time.Second)),
			Whole: time.Duration(most.DurationSecs * float64(time.Second)),
			Cost:  most.CostUSD, Tokens: most.Tokens,
		}
		run := w.run.Client
		run.Patience, run.Watches = 2*time.Second, a.ErrTTY // the screen waits for it
		attend, end := context.WithCancel(ctx)
		var attends sync.WaitGroup
		attends.Go(func() { run.Attend(attend, attention) })
		steered := a.InTTY && a.ErrTTY && !a.inTurn()
		keys, shut := a.onScreen(ctx, live.Options{
			Root: w.run.At.WorkTree, Limits: limits, Asked: run.Asked, Keys: steered, Leave: leave,
			Diff: func() (string, error) {
				patch, err := run.Diff(ctx)
				return a.Secrets.String(patch), err
			},
		}, run)
		closed = func() { end(); attends.Wait(); shut() }
		sinks = append(sinks, keys)
		out.Progress, out.Out = a.Err, keys.Behind(a.Out)
		if out.Live = a.ErrTTY && !a.Plain; out.Width > 0 {
			out.Columns = a.errWidth
		}
	}
	shown, err := render.Run(format, out)
	if err != nil {
		closed()
		return nil, nil, err
	}
	return a.Secrets.Sink(loop.Tee(append(sinks, shown)...)), closed, nil
}
