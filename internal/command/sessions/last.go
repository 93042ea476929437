package sessions

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/accept"
	"codeloops/internal/session/putback"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

const lastHelp = `Without an ID it is the last run here. ID is the id of a session, a unique
beginning of it or of its hash, or "latest~1" for the one before the last.`

// LastRun returns the commands that are about the last run here.
func LastRun(r *Restorer) []*cobra.Command {
	return []*cobra.Command{newDiffCmd(r), newAcceptCmd(r), newUndoCmd(r), newCommitCmd(r), newPrCmd(r), newAttestCmd(r), newVerifyCmd(r)}
}

// onRun completes a command about a run that is over.
func onRun(cmd *cobra.Command, l *command.Logs, act func(ctx context.Context, ref string) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = command.OneSession, l.Complete
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return act(cmd.Context(), command.First(args)) }
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&l.Dir, "session-dir", "", "look for its log in `dir`")
	return cmd
}

// ended finds a run that is over; ref is as typed.
func ended(ctx context.Context, l *command.Logs, ref string) (*session.Store, putback.Ended, error) {
	one, err := l.Find(ref)
	if err != nil {
		return nil, putback.Ended{}, err
	}
	if one.Status == session.Running {
		return nil, putback.Ended{}, hint.Errorf("codeloops watch shows it, and its key d what has changed so far", "session %s is still running", one.ID)
	}
	return endOf(ctx, l, one)
}

// endOf returns the states of a run that is over, and tells what is not in them.
func endOf(ctx context.Context, l *command.Logs, one session.Overview) (*session.Store, putback.Ended, error) {
	store, err := session.NewStore(filepath.Dir(one.Path))
	if err != nil {
		return nil, putback.Ended{}, err
	}
	course, err := store.Course(one.ID)
	if err != nil {
		return nil, putback.Ended{}, fmt.Errorf("read session %s: %w", wording.Path(one.ID), err)
	}
	course.Origin.ID = cmp.Or(course.Origin.ID, one.ID) // the original tool's logs do not tell it
	e, err := putback.EndOf(ctx, store, course)
	if e.Cut && err == nil {
		l.Console.Tell("session " + e.Session + " was killed: what was done after its last capture is not in it")
	}
	return store, e, err
}

// change returns what a run has changed.
func (r *Restorer) change(ctx context.Context, one session.Overview) (loop.Change, error) {
	store, e, err := endOf(ctx, r.Logs(), one)
	if err != nil {
		return loop.Change{}, err
	}
	c, err := r.desk(false).Change(ctx, store, e)
	for i := range c.Files {
		f := &c.Files[i]
		f.Patch, f.BinaryPatch = r.Secrets.String(f.Patch), r.Secrets.String(f.BinaryPatch)
	}
	return c, err
}

func newAcceptCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	var message string
	var asJSON, yes bool
	cmd := onRun(&cobra.Command{
		Use:         "accept [ID]",
		Annotations: command.Exits("the run's change is committed", ""),
		Short:       "Commit what the last run has changed, and nothing else",
		Long: `Commit what a run has changed, and nothing else. What you had changed before it,
staged or not, stays as it is, also in the same files. The message is the
critic's summary, unless -m gives another. Your hooks and your signing apply as
with git commit; if a hook refuses, nothing has changed.

If your own lines and the run's cannot be told apart in a file, it is named, and
nothing is committed. What the actor has committed already is left out.

` + lastHelp,
		Example: `  codeloops accept
  codeloops accept -m "Accept ISO weeks"`,
		PreRunE: r.UsersCommand,
	}, l, func(ctx context.Context, ref string) error {
		store, e, err := ended(ctx, l, ref)
		if err != nil {
			return err
		}
		c := accept.Commit{Run: e, Message: r.Secrets.String(cmp.Or(strings.TrimSpace(message), accept.Message(e))), In: r.In, Err: r.Err}
		done, err := c.Do(ctx, r.desk(yes), store, func(root string) error {
			return r.confirmOtherTree(ctx, root, ref, "commit there what session "+e.Session+" has changed", yes)
		})
		if err != nil {
			return err
		}
		return r.Show(asJSON, done, accepted(done, c.Message))
	})
	cmd.Flags().StringVarP(&message, "message", "m", "", "the commit's message `text`")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before committing in another work tree")
	cmd.Flags().BoolVar(&asJSON, "json", false, "say what was committed as JSON: session, commit, branch, files, left")
	return cmd
}

// accepted says what was committed.
func accepted(done accept.Done, message string) string {
	var b strings.Builder
	subject, _, _ := strings.Cut(message, "\n")
	switch {
	case done.Nothing:
		fmt.Fprintf(&b, "there is nothing to commit: session %s has changed nothing\n", done.Session)
	case len(done.Files) == 0:
		fmt.Fprintf(&b, "there is nothing to commit: %s holds all that session %s has changed\n", cmp.Or(done.On, "HEAD"), done.Session)
	case done.Branch == "":
		fmt.Fprintf(&b, "committed %s as %.12s on no branch (git switch -c NAME makes one): %s\n", wording.Count(len(done.Files), "file"), done.Commit, term.Line(subject))
	default:
		fmt.Fprintf(&b, "committed %s as %.12s on %s: %s\n", wording.Count(len(done.Files), "file"), done.Commit, term.Line(strings.TrimPrefix(done.Branch, "refs/heads/")), term.Line(subject))
	}
	for _, sentence := range done.Left {
		b.WriteString(sentence + "\n")
	}
	return b.String()
}

func newUndoCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	var asJSON, yes, dryRun bool
	cmd := onRun(&cobra.Command{
		Use:         "undo [ID]",
		Annotations: command.Exits("the run's change is not in the work tree any more", ""),
		Short:       "Take back what the last run has changed, and nothing else",
		Long: `Take back what a run has changed, byte for byte: its files are what they were
when it began, with what you had changed before it. Other files stay as they
are, and so do HEAD, branches and the index. If some of the run's files have
changed since, they are named and you are asked, or --yes is needed. All of it is
taken back, or nothing.

What was there is kept: ` + "`codeloops sessions restore --undo`" + ` brings it back.

` + lastHelp,
		Example: `  codeloops undo`,
		PreRunE: r.UsersCommand,
	}, l, func(ctx context.Context, ref string) error {
		store, e, err := ended(ctx, l, ref)
		if err != nil {
			return err
		}
		if e.Judged {
			return hint.Errorf("codeloops sessions restore --iteration 0 "+e.Session+" puts all files back to what the work was measured from",
				"session %s has only judged what was there, and has nothing to take back", e.Session)
		}
		desk := r.desk(yes)
		desk.DryRun = dryRun
		taken, err := desk.TakeBack(ctx, store, e, func(root string) error {
			if dryRun {
				return nil
			}
			return r.confirmOtherTree(ctx, root, ref, "take back there what session "+e.Session+" has changed", yes)
		})
		if err != nil {
			return err
		}
		if dryRun && len(taken.Files) > 0 {
			return r.Show(asJSON, taken, wouldTakeBack(taken))
		}
		return r.Show(asJSON, taken, tookBack(taken))
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what it would take back")
	cmd.Flags().BoolVar(&asJSON, "json", false, "say what was taken back as JSON: session, files, kept, head, left")
	return cmd
}

// wouldTakeBack says what would be taken back.
func wouldTakeBack(t putback.Taken) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of session %s would be taken back:\n", wording.Count(len(t.Files), "file"), t.Session)
	for _, name := range t.Files {
		since := ""
		if slices.Contains(t.Changed, name) {
			since = ", which has changed since the run"
		}
		fmt.Fprintf(&b, "  %s%s\n", wording.Name(name), since)
	}
	for _, sentence := range t.Told {
		b.WriteString(sentence + "\n")
	}
	return b.String()
}

// tookBack says what was taken back.
func tookBack(t putback.Taken) string {
	var b strings.Builder
	switch {
	case t.Nothing:
		fmt.Fprintf(&b, "there is nothing to take back: session %s has changed nothing\n", t.Session)
	case len(t.Files) == 0:
		fmt.Fprintf(&b, "there is nothing to take back: %s holds nothing of what session %s has changed\n", wording.Line(t.Root), t.Session)
	default:
		fmt.Fprintf(&b, "took back %s of session %s; what was there is kept in %s (codeloops sessions restore --undo)\n",
			wording.Count(len(t.Files), "file"), t.Session, t.Kept)
	}
	if t.Head != "" && len(t.Files) > 0 {
		fmt.Fprintf(&b, "commits made since the run began stay (git revert takes one back): HEAD is at %.12s\n", t.Head)
	}
	for _, sentence := range t.Told {
		b.WriteString(sentence + "\n")
	}
	return b.String()
}

func newDiffCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	o := &diffOptions{whole: true}
	var asJSON bool
	cmd := onRun(&cobra.Command{
		Use:         "diff [ID]",
		Annotations: command.LookExits(),
		Short:       "Show what the last run has changed",
		Long: `Show what a run has changed from its beginning to its end, and nothing that you
had changed before it. On a terminal the diff is coloured and goes through git's
pager; elsewhere it can be applied with git apply to the state that the run began
with.

` + lastHelp,
		Example: `  codeloops diff --stat
  codeloops diff > work.patch`,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return o.validate(cmd.Flags()) },
	}, l, func(ctx context.Context, ref string) error {
		one, err := l.Find(ref)
		if err == nil && one.Status == session.Running {
			_, _, err = ended(ctx, l, ref)
		}
		if err != nil {
			return err
		}
		if !asJSON {
			return runSessionsDiff(ctx, l, r, o, one)
		}
		change, err := o.change(ctx, l, r, one)
		if err != nil {
			return err
		}
		return r.JSON(filesOf(change))
	})
	o.addOutputFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.noPager, "no-pager", false, "do not use a pager, even on a terminal")
	cmd.Flags().BoolVar(&asJSON, "json", false, "a list of the files as JSON: path, status, insertions, deletions")
	return cmd
}

// A changedFile is a file of a diff as JSON.
type changedFile struct {
	Path       string          `json:"path"`
	Status     loop.FileStatus `json:"status"`
	Insertions int             `json:"insertions"`
	Deletions  int             `json:"deletions"`
}

func filesOf(c loop.Change) []changedFile {
	all := make([]changedFile, 0, len(c.Files))
	for _, f := range c.Files {
		all = append(all, changedFile{f.Path, f.Status, f.Insertions, f.Deletions})
	}
	return all
}
