package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// checkpointRefs is where checkpoints stand, and what Restore has taken away.
const checkpointRefs = "refs/codeloops/"

type restoreOptions struct {
	iteration int
	given     bool // whether --iteration was
	yes       bool
}

func newSessionsRestoreCmd(l *logs) *cobra.Command {
	o := &restoreOptions{}
	cmd := &cobra.Command{
		Use:   "restore [ID|REF]",
		Short: "Put the work tree back to what it was after an iteration",
		Long: `Put the files of the work tree back to what they were after the last iteration
of a session, or after the one that --iteration names; 0 is the session's start.
HEAD, branches, the index and ignored files stay as they are. Line ends and what
filters make of a file are as git checks it out now. What is there is kept first,
as a reference that this command takes as well: a restore can be undone.

` + refHelp + `

` + sessionsExit,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags().Changed("iteration")
			return runRestore(cmd.Context(), l, o, first(args))
		},
	}
	cmd.Flags().IntVar(&o.iteration, "iteration", 0, "the state after iteration `N`; 0 is the session's start")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	return cmd
}

// A goal is the state to put a work tree back to.
type goal struct {
	dir        string // in the work tree
	checkpoint string
	name       string // for people
}

func runRestore(ctx context.Context, l *logs, o *restoreOptions, ref string) (err error) {
	g, err := l.goal(ctx, o, ref)
	if err != nil {
		return err
	}
	a := l.app
	tree, err := a.openTree(ctx, g.dir)
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // its objects are written
	lock, err := tree.lock("restore", a.now())
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // the system takes it back in any case
	if root := tree.Root(); root != a.here().root {
		err = a.beElsewhere(ctx, root, ref, "put its files back to "+g.name, o.yes)
	} else if !o.yes {
		err = a.sure(ctx, fmt.Sprintf("put the files of %s back to %s?", root, g.name))
	}
	if err != nil {
		return err
	}
	if err := tree.Baseline(ctx); err != nil {
		return err
	}
	state, err := tree.Recall(ctx, g.checkpoint)
	if err != nil {
		return fmt.Errorf("read %s: %w", g.name, err)
	}
	kept, err := tree.Restore(ctx, loop.Change{State: state})
	if err != nil {
		return err
	}
	if kept == "" {
		kept = "they were so already"
	}
	_, err = fmt.Fprintf(a.Out, "the files of %s are those of %s; %s\n", tree.Root(), g.name, kept)
	return err
}

// goal finds what a reference and an iteration mean.
func (l *logs) goal(ctx context.Context, o *restoreOptions, ref string) (goal, error) {
	if strings.HasPrefix(ref, checkpointRefs) {
		out, err := gitProgram{env: l.app.env}.in(ctx, l.app.dir, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
		if err != nil {
			return goal{}, usagef("`git for-each-ref "+checkpointRefs+"` lists what there is", "there is no reference %s here", ref)
		}
		return goal{dir: l.app.dir, checkpoint: strings.TrimSpace(string(out)), name: ref}, nil
	}
	store, err := l.store()
	if err != nil {
		return goal{}, err
	}
	if ref == "" && l.app.interactive() {
		one, err := l.pick(ctx, "Put the files back to which session's?")
		if err != nil {
			return goal{}, err
		}
		ref = one.ID
	}
	id, err := l.id(store, ref)
	if err != nil {
		return goal{}, err
	}
	course, err := store.Course(id)
	if err != nil {
		return goal{}, fmt.Errorf("read session %s: %w", id, err)
	}
	return restoreGoal(course, o)
}

func restoreGoal(c session.Course, o *restoreOptions) (goal, error) {
	rounds := c.Past.Rounds
	n := o.iteration
	if !o.given {
		n = len(rounds)
	}
	g := goal{dir: c.Session.WorkingDir, checkpoint: c.Session.Checkpoint, name: "the start of session " + c.Session.ID}
	if n < 0 || n > len(rounds) {
		return g, usagef("0 is the session's start", "session %s has whole iterations 1 to %d, not %d", c.Session.ID, len(rounds), n)
	}
	if n > 0 {
		g.checkpoint, g.name = rounds[n-1].Change.Checkpoint, fmt.Sprintf("iteration %d of session %s", n, c.Session.ID)
	}
	if g.checkpoint == "" {
		return g, usagef("its diff is in the log: codeloops sessions diff "+c.Session.ID, "no checkpoint was kept for %s", g.name)
	}
	var err error
	g.dir, err = realDir(g.dir)
	return g, err
}
