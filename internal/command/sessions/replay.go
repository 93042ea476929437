package sessions

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
	"codeloops/internal/session/replay"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

type replayOptions struct {
	format string // "": as configured
	until  int
	speed  string
	verify bool
	apply  bool
	dir    string // the work tree for apply
}

func newReplayCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	o := &replayOptions{}
	cmd := &cobra.Command{
		Use:         "replay [ID|FILE|DIR]",
		Annotations: command.Exits("the log was played; with --verify: nothing differs; with --apply: the files were rebuilt", "with --verify: a session would now run or end differently"),
		Short:       "Play a session log back, check it, or rebuild its files",
		Long: `Play a session log back the way the run was shown. Nothing is run and nothing is
changed.

--verify shows nothing. It runs the current state machine on the recorded
replies of the agents, reads the critic's replies again, and reports every
difference in the course or the end of the session. Given a directory, it
verifies all logs in it. A session that was interrupted, crashed or ran out of a
budget is compared as far as its log goes.

--apply rebuilds the session's final files, or those after the iteration that
--until-iteration names, from the log alone, in a checkout of the commit at
which the session began: all of them, byte for byte, or none. HEAD, branches and
the index stay as they are. What the log does not hold cannot be rebuilt:
uncommitted changes from before the session (they must be in the checkout
already), files too large for a log, values of secrets, commits of nested
repositories.

` + refHelp,
		Example: `  codeloops replay
  codeloops replay latest~1 --speed 2 --until-iteration 1
  codeloops replay --verify ~/.local/share/codeloops/sessions
  git worktree add --detach ../rebuilt 5fd3a7e && codeloops replay --apply -d ../rebuilt latest`,
		Args:              command.OneSession,
		ValidArgsFunction: l.Complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			if o.apply {
				return r.apply(cmd.Context(), l, o, command.First(args))
			}
			if o.verify {
				return runVerify(cmd.Context(), l, command.First(args))
			}
			return runReplay(cmd.Context(), l, o, command.First(args))
		},
	}
	addLogFlags(cmd, l)
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "log-format", "", "how it is shown: `pretty|compact|json` (default: as configured for runs)")
	f.IntVar(&o.until, "until-iteration", 0, "stop after iteration `n`")
	f.StringVar(&o.speed, "speed", "max", "play at this `speed`: 1 as it was, 2 twice as fast, …, max without pauses")
	f.BoolVar(&o.verify, "verify", false, "show nothing; check that the session would still end the same")
	f.BoolVar(&o.apply, "apply", false, "show nothing; rebuild the files that the session left")
	f.StringVarP(&o.dir, "working-dir", "d", ".", "with --apply: rebuild them in the work tree of `dir`")
	return cmd
}

func (o *replayOptions) validate(flags *pflag.FlagSet) error {
	if o.apply && o.verify {
		return hint.Errorf("give one of them", "--apply and --verify cannot be combined")
	}
	if flags.Changed("working-dir") && !o.apply {
		return hint.Errorf("add --apply", "--working-dir needs --apply")
	}
	for _, name := range []string{"speed", "log-format"} {
		if flags.Changed(name) && (o.apply || o.verify) {
			return hint.Errorf("leave one of them out", "--%s cannot be combined with --apply or --verify, which show nothing", name)
		}
	}
	if flags.Changed("until-iteration") && o.until < 1 {
		return hint.Errorf("iterations are numbered from 1", "--until-iteration cannot be %d", o.until)
	}
	return nil
}

// fastest is the highest number for --speed.
const fastest = 1000

// rate parses --speed; 0 means without pauses.
func (o *replayOptions) rate() (float64, error) {
	if o.speed == "max" {
		return 0, nil
	}
	rate, err := strconv.ParseFloat(o.speed, 64)
	if err != nil || !(rate > 0 && rate <= fastest) {
		return 0, hint.Errorf("write 1, 2 or max", "--speed cannot be %q", o.speed)
	}
	return rate, nil
}

// Replay shows a session as `codeloops replay` does by default, in the given format.
func Replay(ctx context.Context, l *command.Logs, format, ref string) error {
	return runReplay(ctx, l, &replayOptions{format: format, speed: "max"}, ref)
}

func runReplay(ctx context.Context, l *command.Logs, o *replayOptions, ref string) error {
	rate, err := o.rate()
	if err != nil {
		return err
	}
	one, err := l.FindOrAsk(ctx, ref, "Replay which session?")
	if err != nil {
		return err
	}
	sink, err := o.display(l, one)
	if err != nil {
		return err
	}
	p := replay.Player{Sink: sink, Until: o.until, OnBadLine: l.Tell, Speed: rate}
	ended, err := p.Play(ctx, session.Read(one.Path))
	if err != nil || ended || o.until > 0 {
		return pager.UnlessGone(err)
	}
	state := "nobody is at work on it"
	if one.Status == session.Running {
		state = "it is running"
	}
	_, err = fmt.Fprintf(l.Console.Err, "the log has no end: %s\n", state)
	return pager.UnlessGone(err)
}

// display returns the same display that the run had.
func (o *replayOptions) display(l *command.Logs, one session.Overview) (loop.Sink, error) {
	c := l.Console
	format, err := l.Format(o.format)
	if err != nil {
		return nil, err
	}
	options := c.RenderOptions(format, func() string { return one.Path })
	options.Live = c.ErrTTY && !c.Plain
	shown, err := render.Run(format, options)
	return c.Secrets.Sink(shown), err
}

// apply rebuilds the files of an iteration from the log alone, in a checkout of the commit that the
// session began at.
func (r *Restorer) apply(ctx context.Context, l *command.Logs, o *replayOptions, ref string) (err error) {
	one, err := l.FindOrAsk(ctx, ref, "Rebuild the files of which session?")
	if err != nil {
		return err
	}
	change, err := (&diffOptions{until: o.until}).logged(ctx, l, one)
	if err != nil {
		return err
	}
	told, err := r.desk(true).Rebuild(ctx, one, change, r.Path(o.dir))
	return r.printAll(err, told...)
}

func runVerify(ctx context.Context, l *command.Logs, ref string) error {
	paths, several, err := l.In(ref)
	if !several {
		var one session.Overview
		one, err = l.FindOrAsk(ctx, ref, "Verify which session?")
		paths = []string{one.Path}
	}
	if err != nil {
		return err
	}
	differs, unread := false, 0
	for _, path := range paths {
		report, err := replay.VerifyFile(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && len(paths) == 1 {
			return err
		}
		if err != nil {
			l.Tell(err)
			unread++
			continue
		}
		differs = differs || len(report.Differences) > 0
		if err := l.Console.Print(func(w io.Writer) error { _, err := io.WriteString(w, report.Text(path)); return err }); err != nil {
			return err
		}
	}
	switch {
	case differs:
		return command.ErrShort
	case unread > 0:
		return fmt.Errorf("%s could not be read", wording.Count(unread, "log"))
	}
	return nil
}
