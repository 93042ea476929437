package steering

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/command/sessions"
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

// pollInterval is how often it is looked whether a run has begun.
const pollInterval = 100 * time.Millisecond

// startPatience is how long watch waits for a run that may be about to begin.
const startPatience = 2 * time.Second

func newWatchCmd(c *command.Console) *cobra.Command {
	l := c.Logs()
	var format string
	cmd := &cobra.Command{
		Use: "watch [ID|FILE]",
		Annotations: manual.Exits(
			manual.Exit{Code: command.ExitDone, Meaning: "the session that was watched ended with success, or you left with q"},
			manual.Exit{Code: command.ExitLimit, Meaning: "it ended at the iteration limit, or another budget"},
			manual.Exit{Code: command.ExitError, Meaning: "it failed, or was killed; or an error"},
			manual.Exit{Code: command.ExitInterrupted, Meaning: "it was interrupted, or you left with Ctrl+C"},
		),
		Short: "Watch a run from another terminal, and steer it",
		Long: `Show a running session as its own screen does, from its beginning, and follow it
to its end. On a terminal the same keys steer it: s stops it after the
iteration, p pauses it, f tells the actor something, ? lists them. Ctrl+C and q
end the watching; the run continues. Elsewhere, the same lines are written that
the run itself writes. A finished session is shown as by codeloops replay. A run
that is about to begin is waited for. If several could be meant, you choose from
a list on a terminal.

It ends with the exit code of the run.

` + runRefHelp,
		Example: `  codeloops watch
  codeloops watch 2026-01-27T15-30 && git commit -a`,
		Args: command.OneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return Watch(cmd.Context(), l, format, command.First(args))
		},
	}
	cmd.ValidArgsFunction = completeRuns(c)
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&format, "log-format", "", "how it is shown: `pretty|compact|json` (default: as configured for runs)")
	f.StringVar(&l.Dir, "session-dir", "", "look for finished sessions in `dir`")
	f.BoolVar(&l.All, "all", false, "without an ID: the one that runs, in any repository")
	return cmd
}

// Watch shows a session while it runs; one that is over is replayed.
func Watch(ctx context.Context, l *command.Logs, format, ref string) error {
	r, err := find(ctx, l, ref)
	if errors.Is(err, lookup.ErrNoRun) && ref != "" {
		return watchFinished(ctx, l, format, ref, err)
	}
	if err != nil {
		return err
	}
	return (&watching{Logs: l, run: r}).watch(ctx, format)
}

// find finds the run to watch. One that has just been started is waited for, and the user chooses among several.
func find(ctx context.Context, l *command.Logs, ref string) (lookup.Run, error) {
	for wait := startPatience; ; wait -= pollInterval {
		r, err := l.Run(ctx, ref)
		if several, ok := errors.AsType[*lookup.SeveralError](err); ok && l.Console.Interactive() {
			return choose(ctx, l, several)
		}
		begins := errors.Is(err, lookup.ErrNoRun) && ref == "" || err == nil && r.At.Log == ""
		if !begins || wait <= 0 {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, context.Cause(ctx)
		case <-time.After(pollInterval):
		}
	}
}

// choose lets the user choose among runs.
func choose(ctx context.Context, l *command.Logs, several *lookup.SeveralError) (lookup.Run, error) {
	var logs []session.Overview
	runs := map[string]lookup.Run{}
	for _, r := range several.Runs {
		if one := session.Look(r.At.Log); one.Err == nil {
			runs[one.ID] = r
			logs = append(logs, l.WithDuration(one))
		}
	}
	if len(logs) == 0 { // they are beginning, or their logs are elsewhere
		return lookup.Run{}, several
	}
	one, err := l.Choose(ctx, logs, "Watch which run?")
	return runs[one.ID], err
}

// watchFinished shows a session without a lock. notRunning is the error if there is none.
func watchFinished(ctx context.Context, l *command.Logs, format, ref string, notRunning error) error {
	one, err := l.Find(ref)
	if errors.Is(err, session.ErrNotFound) {
		return notRunning
	}
	if err != nil {
		return err
	}
	if one.Status == session.Running { // perhaps its lock is in another home
		r := lookup.Run{Client: &door.Client{}, At: standing.Standing{Session: one.ID, Log: one.Path, WorkTree: one.Session.WorkingDir}}
		r.Holder.Lock.Session = one.ID
		return (&watching{Logs: l, run: r}).watch(ctx, format)
	}
	if err := sessions.Replay(ctx, l, format, one.Path); err != nil {
		return err
	}
	if one.Outcome == nil {
		return killed(one.ID)
	}
	return outcome(one.Outcome.Result)
}

// outcome returns the error with which a command ends as the run did.
func outcome(r loop.Result) error {
	if r == loop.Success {
		return nil
	}
	return &command.EndedError{Result: r}
}

// killed is the error for a log without an end on which nobody is at work.
func killed(id string) error {
	return hint.Add(&KilledError{id}, "codeloops resume "+id+" carries it on")
}

// A KilledError says that the process of a session was killed, so that its log has no end.
type KilledError struct{ Session string }

func (e *KilledError) Error() string {
	return "session " + e.Session + " has no end: its process was killed"
}

// A Source yields the events of a session until its context is done.
type Source func(context.Context) iter.Seq2[session.Entry, error]

// Follow shows a session on another machine, given its events.
func Follow(ctx context.Context, l *command.Logs, format, id string, from Source) error {
	w := &watching{Logs: l, run: lookup.Run{Client: &door.Client{}}, from: from}
	w.run.Holder.Lock.Session = id
	return w.watch(ctx, format)
}

type watching struct {
	*command.Logs

	run   lookup.Run
	from  Source // of a run on another machine; nil: the log is here
	ended loop.Result
}

// errLeft is the cause of leaving with a key.
var errLeft = errors.New("left")

// Handle notes how the run ends.
func (w *watching) Handle(_ loop.Stamp, e loop.Event) error {
	if end, ok := e.(loop.Finished); ok {
		w.ended = end.Outcome.Result
	}
	if _, again := e.(loop.Resumed); again {
		w.ended = ""
	}
	return nil
}

func (w *watching) watch(ctx context.Context, format string) error {
	id := w.run.Holder.Lock.Session
	if w.run.At.Log == "" && w.from == nil {
		return hint.Errorf("say where they are: --session-dir DIR", "session %s runs (process %d), and its log is not among the sessions here", id, w.run.Holder.Lock.PID)
	}
	from := w.from
	if from == nil {
		store, err := w.run.Store()
		if err != nil {
			return err
		}
		from = func(ctx context.Context) iter.Seq2[session.Entry, error] {
			return store.Follow(ctx, id, w.run.Client.Doing)
		}
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	errs := w.Console.Err
	sink, closed, err := w.open(ctx, format, func() { leave(errLeft) })
	if err != nil {
		return err
	}
	p := replay.Player{Sink: loop.Tee(w, sink), OnBadLine: w.Tell}
	_, err = p.Play(ctx, from(ctx)) // to leave also ends the wait for the next event
	closed()
	w.Console.Err = errs
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintf(errs, "you have left; session %s goes on\n", term.Line(id)) // a courtesy
		if errors.Is(context.Cause(ctx), errLeft) {
			return nil
		}
		return &command.EndedError{Result: loop.Interrupted} // the user has been told
	case err != nil:
		return pager.UnlessGone(err)
	case w.ended == "":
		return killed(id)
	}
	return outcome(w.ended)
}

// open returns the display of the run. On a terminal keys steer it, unless an agent or a check is
// watching.
func (w *watching) open(ctx context.Context, said string, leave func()) (sink loop.Sink, closed func(), err error) {
	c := w.Console
	format, err := w.Format(said)
	if err != nil {
		return nil, nil, err
	}
	out := c.RenderOptions(format, func() string { return w.run.At.Log })
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
		run.Patience, run.Watches = 2*time.Second, c.ErrTTY // the screen waits for answers
		steered := c.CanAsk() && !c.InTurn()
		keys, shut := c.Live(ctx, live.Options{
			Root: w.run.At.WorkTree, Limits: limits, Asked: run.Asked, Keys: steered, Leave: leave,
			Diff: func() (string, error) {
				patch, err := run.Diff(ctx)
				return c.Secrets.String(patch), err
			},
		}, run)
		closed = shut
		sinks = append(sinks, keys)
		out.Progress, out.Out = c.Err, keys.SyncedWriter(out.Out)
		if out.Live = c.ErrTTY && !c.Plain; out.Width > 0 {
			out.Columns = c.ErrRoom
		}
	}
	shown, err := render.Run(format, out)
	if err != nil {
		closed()
		return nil, nil, err
	}
	return c.Secrets.Sink(loop.Tee(append(sinks, shown)...)), closed, nil
}
