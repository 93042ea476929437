package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/loop"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/replay"
	"codeloops/internal/session/sessionview"
)

type replayOptions struct {
	format string // "": what the configuration says
	until  int
	speed  string
	step   bool
	verify bool
	apply  bool
	dir    string // where apply works
	force  bool
}

func newReplayCmd(a *app) *cobra.Command {
	l := a.logs()
	o := &replayOptions{}
	cmd := &cobra.Command{
		Use:         "replay [ID|FILE|DIR]",
		Annotations: exits("the log was played; with --verify: nothing differs; with --apply: the files were rebuilt", "with --verify: a session would take another course, or end otherwise"),
		Short:       "Play a session log back, check it, or rebuild its files",
		Long: `Play a session log back the way the run was shown. Nothing is run and nothing is
changed.

On a terminal, with a --speed or --step, you can use keys: space pauses and
continues, n or → shows the next event at once, i or ↓ goes to the next
iteration, + and - change the speed, q quits.

With --verify the log is not shown: today's state machine runs on what the
agents said then, the critic's replies are read again, and every difference in
the course or the end of the session is reported. A directory means all logs in
it. A session that was interrupted, broke down or ran out of a budget is
compared as far as it goes.

With --apply the files that the last iteration left, or the one that
--until-iteration names, are rebuilt from the log alone, in a checkout of the
commit that the session began at: all of them, byte for byte, or none. HEAD,
branches and the index stay as they are. What the log does not hold cannot be
rebuilt: uncommitted changes that the session began with (they have to be there
again), files too large for a log, values of secrets, commits of repositories
inside of this one.

` + refHelp,
		Example: `  codeloops replay
  codeloops replay latest~1 --speed 2 --until-iteration 1
  codeloops replay --verify ~/.local/share/codeloops/sessions
  git worktree add --detach ../rebuilt 5fd3a7e && codeloops replay --apply -d ../rebuilt latest`,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			if o.apply {
				return runApply(cmd.Context(), l, o, first(args))
			}
			if o.verify {
				return runVerify(cmd.Context(), l, first(args))
			}
			return runReplay(cmd.Context(), l, o, first(args))
		},
	}
	l.addFlag(cmd)
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "log-format", "", "how it is shown: `pretty|compact|json` (default: as a run is)")
	f.IntVar(&o.until, "until-iteration", 0, "stop after iteration `n`")
	f.StringVar(&o.speed, "speed", "max", "how `fast`: 1 as it was, 2 twice as fast, …, max without a pause")
	f.BoolVar(&o.step, "step", false, "on a terminal: begin paused, and wait for keys")
	f.BoolVar(&o.verify, "verify", false, "show nothing; check that the session would still end the same")
	f.BoolVar(&o.apply, "apply", false, "show nothing; rebuild the files that the session left")
	f.StringVarP(&o.dir, "working-dir", "d", ".", "with --apply: rebuild them in the work tree of `dir`")
	f.BoolVar(&o.force, "force", false, "with --apply: also at another commit, and in place of files that are others")
	return cmd
}

// validate refuses flags that do not go together.
func (o *replayOptions) validate(flags *pflag.FlagSet) error {
	if o.apply && o.verify {
		return usagef("give one of them", "--apply and --verify are two things to do")
	}
	for _, name := range []string{"working-dir", "force"} {
		if flags.Changed(name) && !o.apply {
			return usagef("add --apply", "--%s is about --apply", name)
		}
	}
	for _, name := range []string{"speed", "step", "log-format"} {
		if flags.Changed(name) && (o.apply || o.verify) {
			return usagef("leave one of them out", "--%s is about what is shown, and --apply and --verify show nothing", name)
		}
	}
	if flags.Changed("until-iteration") && o.until < 1 {
		return usagef("iterations are numbered from 1", "--until-iteration cannot be %d", o.until)
	}
	return nil
}

// fastest is the highest --speed that is a number.
const fastest = 1000

// rate reads --speed; 0 is without a pause.
func (o *replayOptions) rate() (float64, error) {
	if o.speed == "max" {
		return 0, nil
	}
	rate, err := strconv.ParseFloat(o.speed, 64)
	if err != nil || !(rate > 0 && rate <= fastest) {
		return 0, usagef("write 1, 2 or max", "--speed cannot be %q", o.speed)
	}
	return rate, nil
}

func runReplay(ctx context.Context, l *logs, o *replayOptions, ref string) error {
	rate, err := o.rate()
	if err != nil {
		return err
	}
	one, err := l.find(ctx, ref, "Replay which session?")
	if err != nil {
		return err
	}
	sink, err := l.display(o, one)
	if err != nil {
		return err
	}
	p := replay.Player{Sink: sink, Until: o.until, Speed: rate, Bad: l.Tell}
	if (rate > 0 || o.step) && l.app.interactive() {
		p.Control = replay.NewControl(rate, o.step, l.app.aside)
		defer l.app.OnKeys(p.Control.Press, nil)()
	}
	r, err := session.OpenFile(one.Path)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // opened for reading
	ended, err := p.Play(ctx, r.Entries())
	if errors.Is(err, replay.ErrQuit) {
		_, err = fmt.Fprintln(l.app.Err)
		return pager.UnlessGone(err)
	}
	if err = pager.UnlessGone(err); err != nil || ended || o.until > 0 {
		return err
	}
	state := "nobody is at work on it"
	if one.Status == session.Running {
		state = "it is running"
	}
	_, err = fmt.Fprintf(l.app.Err, "the log has no end: %s\n", state)
	return pager.UnlessGone(err)
}

// aside shows a line behind what stands on the terminal, "" takes it away: the
// place is saved and gone back to.
func (a *app) aside(text string) {
	if text == "" {
		_, _ = io.WriteString(a.Err, "\x1b[K") // of a terminal that is gone the next event tells
		return
	}
	_, _ = io.WriteString(a.Err, "\x1b7  "+a.ErrRenderer().NewStyle().Faint(true).Render(render.Cut(text, a.Width()-34))+"\x1b8")
}

// display is what showed the session as it ran.
func (l *logs) display(o *replayOptions, one session.Overview) (loop.Sink, error) {
	a := l.app
	format, err := l.format(o)
	if err != nil {
		return nil, err
	}
	shown, err := render.Run(format, render.Options{
		Progress: a.Err, Style: a.ErrRenderer(), Width: a.errWidth(), ASCII: a.ASCII && a.ErrTTY,
		Live: a.ErrTTY && !a.Plain, Zone: a.Now().Location(),
		Result: render.Result{Out: a.Out, Ending: a.OutRenderer(), Room: a.outRoom(), Log: func() string { return one.Path }},
	})
	return a.Secrets.Sink(shown), err
}

// format is how a session is shown.
func (l *logs) format(o *replayOptions) (render.Format, error) {
	switch format := render.Format(o.format); format {
	case render.Pretty, render.Compact, render.JSON:
		return format, nil
	case "":
		cfg, err := l.Config()
		if err != nil {
			return "", err
		}
		return render.Format(cfg.LogFormat), nil
	}
	words := []string{string(render.Pretty), string(render.Compact), string(render.JSON)}
	return "", lookup.OneOf("--log-format", o.format, words)
}

// runApply rebuilds, from a log alone, the files that an iteration left, in a
// checkout of the commit that the session began at.
func runApply(ctx context.Context, l *logs, o *replayOptions, ref string) (err error) {
	one, err := l.find(ctx, ref, "Rebuild the files of which session?")
	if err != nil {
		return err
	}
	var round loop.Round
	err = lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) (err error) {
		_, round, err = sessionview.RoundOf(one.ID, entries, o.until)
		return err
	})
	if err != nil {
		return err
	}
	desk := l.app.putback(true)
	told, err := desk.Rebuild(ctx, one, round.Change, l.app.Path(o.dir), o.force)
	return l.app.told(err, told)
}
