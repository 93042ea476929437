package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording/hint"
)

type diffOptions struct {
	viewOptions
	until    int
	stat     bool
	nameOnly bool
	nul      bool
	whole    bool // up to the end of the run, not of its last finished iteration
}

func newSessionsDiffCmd(l *command.Logs, r *Restorer) *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:         "diff [ID|FILE|REF]",
		Annotations: command.LookExits(),
		Short:       "Print everything that a session changed",
		Long: `Print everything that changed from the start of the session to the end of its
last finished iteration. --until-iteration prints the change up to the end of
another iteration, --iteration what that one alone changed. The work of a
discarded attempt or candidate never reached the work tree; only these two flags
show it, or the reference of its state (refs/codeloops/ID/STEP), as the end of a
run with several candidates names it.

On a terminal the diff is coloured and goes through the pager that git uses:
$GIT_PAGER, core.pager of the user's configuration, $PAGER, or less. Elsewhere it
is exact, with the content of binary files, so that it can be applied to the
state that the session, or the iteration, began with:

  codeloops sessions diff ID | git apply

` + refHelp,
		Example: `  codeloops sessions diff --stat
  codeloops sessions diff latest~1 --until-iteration 2 > work.patch
  codeloops sessions diff --iteration 2`,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return o.validate(cmd.Flags()) },
	}
	onSession(cmd, l, "Show the diff of which session?", func(ctx context.Context, one session.Overview) error {
		return runSessionsDiff(ctx, l, r, o, one)
	})
	ofSession := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if ref := command.First(args); strings.HasPrefix(ref, checkpoints.Refs) {
			return o.ofState(cmd.Context(), l, ref)
		}
		return ofSession(cmd, args)
	}
	f := cmd.Flags()
	o.addFlags(f, "only what iteration `n` changed")
	f.IntVar(&o.until, "until-iteration", 0, "what had changed when iteration `n` was over")
	o.addOutputFlags(f)
	return cmd
}

func (o *diffOptions) addOutputFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.stat, "stat", false, "only how much changed in each file")
	f.BoolVar(&o.nameOnly, "name-only", false, "only the names of the files")
	f.BoolVarP(&o.nul, "null", "z", false, "with --name-only: do not quote names, and end each with a zero byte")
}

func runSessionsDiff(ctx context.Context, l *command.Logs, r *Restorer, o *diffOptions, one session.Overview) error {
	change, err := o.change(ctx, l, r, one)
	if err != nil {
		return err
	}
	c := l.Console
	if !c.OutTTY && !o.nameOnly && !o.stat {
		return pager.UnlessGone(printExact(c, change))
	}
	return c.Page(ctx, o.noPager, func(ctx context.Context, w io.Writer) error {
		screen := c.Screen()
		switch {
		case o.nameOnly:
			return sessionview.Names(w, change, o.nul)
		case o.stat:
			return stat(ctx, c, w, change)
		}
		return sessionview.Patch(w, change, &screen)
	})
}

// stat prints how much a change has changed in each file, as git does, whatever repository is here.
func stat(ctx context.Context, c *command.Console, w io.Writer, change loop.Change) error {
	text := []byte(" 0 files changed\n")
	if patch := change.ApplicablePatch(); patch != "" {
		var err error
		text, err = git.Git{Environ: c.Environ}.Run(ctx, git.Call{
			Dir: c.Dir, Args: []string{"-c", "core.quotePath=false", "apply", "--stat"}, Env: []string{"GIT_DIR=" + os.DevNull}, Stdin: []byte(patch),
		})
		if err != nil {
			return err
		}
	}
	_, err := w.Write(text)
	return err
}

// ofState prints what differs between the start of a session and a state that it has kept.
func (o *diffOptions) ofState(ctx context.Context, l *command.Logs, ref string) error {
	if o.stat || o.nameOnly || o.iteration > 0 || o.until > 0 {
		return hint.Errorf("leave them out", "a reference has its whole diff, and takes no flags that select")
	}
	store, err := l.Store()
	if err != nil {
		return err
	}
	c := l.Console
	id, _, _ := strings.Cut(strings.TrimPrefix(ref, checkpoints.Refs), "/")
	gone := hint.Errorf("`codeloops sessions list` shows what there is", "there is no reference %s in session %s", ref, id)
	dir := store.Checkpoints(session.Look(store.Path(id)).Session.Checkpoints)
	if dir == "" {
		return gone
	}
	patch, err := git.Git{Environ: c.Environ}.In(ctx, c.Dir, "--git-dir="+dir, "diff-tree", "-r", "-p", "--binary", "--full-index",
		"--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--end-of-options", checkpoints.Refs+id+"/0", ref)
	if err != nil {
		return gone
	}
	if !c.OutTTY {
		_, err := c.Out.Write(patch)
		return pager.UnlessGone(err)
	}
	return c.Page(ctx, o.noPager, func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, c.Screen().Coloured(string(patch)))
		return err
	})
}

func (o *diffOptions) validate(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("until-iteration") && o.until < 1:
		return hint.Errorf("iterations are numbered from 1", "--until-iteration cannot be %d", o.until)
	case o.until > 0 && o.iteration > 0:
		return hint.Errorf("give one of them", "--iteration and --until-iteration cannot be combined")
	case o.stat && o.nameOnly:
		return hint.Errorf("give one of them", "--stat and --name-only cannot be combined")
	case o.nul && !o.nameOnly:
		return hint.Errorf("add --name-only", "--null needs --name-only")
	}
	return o.viewOptions.validate(flags)
}

// change returns the change to show. What is not in the log is taken from the states that the run has kept, and the
// other way round.
func (o *diffOptions) change(ctx context.Context, l *command.Logs, r *Restorer, one session.Overview) (change loop.Change, err error) {
	if !o.whole {
		change, err = o.logged(ctx, l, one)
		if missing, ok := errors.AsType[*sessionview.MissingError](err); !ok || missing.Last > 0 || missing.Iteration > 0 || one.Status == session.Running {
			return change, err
		}
	}
	kept, e := r.change(ctx, one)
	switch {
	case e == nil:
		return kept, nil
	case o.whole:
		change, err = o.logged(ctx, l, one)
	}
	if err != nil && one.Session.Checkpoint != "" { // else its hint would name this command
		err = e
	}
	return change, err
}

// logged returns the change that is in the log.
func (o *diffOptions) logged(ctx context.Context, l *command.Logs, one session.Overview) (change loop.Change, err error) {
	var before loop.Change
	var round loop.Round
	err = lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) (err error) {
		before, round, err = sessionview.RoundOf(one.ID, entries, max(o.iteration, o.until))
		return err
	})
	if err != nil || o.iteration == 0 {
		return round.Change, err
	}
	change, known := round.Alone(before)
	if !known {
		return change, hint.Errorf(fmt.Sprintf("--until-iteration %d shows all that had changed by then", o.iteration),
			"the log of session %s does not hold what iteration %d alone changed", one.ID, o.iteration)
	}
	return change, nil
}

// printExact prints a diff for git apply, byte by byte as in the log.
func printExact(c *command.Console, change loop.Change) error {
	if left := sessionview.Unappliable(change); len(left) > 0 {
		if _, err := fmt.Fprintf(c.Err, "codeloops: git apply will refuse this diff: the log does not hold the content of %s\n",
			render.Count(len(left), "binary file", "binary files")); err != nil {
			return err
		}
	}
	return sessionview.Patch(c.Out, change, nil)
}
