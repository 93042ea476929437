package accept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/putback"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// The trailers of a commit that holds a run's change: the session, and the tree that its critic saw. The commit's own
// tree is another one if the user had changes of their own, or if the branch held more.
const (
	SessionTrailer = "Codeloops-Session"
	TreeTrailer    = "Codeloops-Tree"
)

// A Branch is the change of a run as commits on a branch that is not checked out. HEAD, the index and the work tree
// stay as they are, and no hook runs.
type Branch struct {
	Run     putback.Ended
	Name    string // begins at the commit that the run began at, unless the branch exists
	Message string
	Each    bool // a commit for each iteration
}

// A step is a part of a run that becomes a commit.
type step struct {
	run     putback.Ended
	message string
}

// Do makes the commits. A branch that holds commits of the same session gets what is missing.
func (b Branch) Do(ctx context.Context, d *putback.Restorer, store *session.Store) (done Done, err error) {
	tree, err := worktree.Open(ctx, d.Host, b.Run.Dir, d.Tell)
	if err != nil {
		return done, err
	}
	defer tree.Close() //nolint:errcheck // its objects are written
	done = Done{Session: b.Run.Session, Branch: b.Name, Files: []string{}, On: b.Name}
	k := &committer{Commit: Commit{Run: b.Run}, tree: tree, git: git.Git{Environ: d.Host.Environ}, made: map[string][]byte{}, there: map[string]bool{}, apart: true}
	tip, steps, err := b.steps(ctx, k)
	if err != nil {
		return done, err
	}
	if k.head, done.Nothing = tip, tip == ""; tip == "" {
		k.head = b.Run.Base
	}
	for _, s := range steps {
		if err := k.add(ctx, store, s, &done); err != nil {
			return done, err
		}
	}
	if done.Commit == "" {
		return done, nil
	}
	if tip == "" {
		tip = plumbing.ZeroHash.String()
	}
	if _, err := k.run(ctx, nil, nil, "update-ref", "-m", "codeloops: session "+b.Run.Session, "refs/heads/"+b.Name, done.Commit, tip); err != nil {
		return done, hint.Add(fmt.Errorf("nothing was committed, because the branch %s could not be set: %w", b.Name, err), "run it again")
	}
	return done, nil
}

// steps returns the tip of the branch, "" if there is none, and what is to be added to it.
func (b Branch) steps(ctx context.Context, k *committer) (tip string, all []step, err error) {
	if err := b.usable(ctx, k); err != nil {
		return "", nil, err
	}
	captures := b.Run.Captures
	if out, err := k.run(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+b.Name+"^{commit}"); err == nil {
		tip = trimmed(out)
	}
	from := ""
	if tip != "" {
		id, tree, err := k.origin(ctx, tip)
		if err != nil {
			return "", nil, err
		}
		at := -1
		for i, c := range captures {
			if c.State != "" && c.State == tree {
				at = i
			}
		}
		switch {
		case id == "":
			return "", nil, hint.Errorf("name another one: --branch NAME", "the branch %s exists, and its last commit is of no session: nothing was committed", b.Name)
		case id == b.Run.Session && at < 0:
			return "", nil, hint.Errorf("name another one: --branch NAME", "the branch %s holds a state of session %s that its log does not have: nothing was committed", b.Name, id)
		case id == b.Run.Session:
			from, captures = captures[at].Checkpoint, captures[at+1:]
		}
	}
	if b.Each {
		for _, c := range captures[:max(0, len(captures)-1)] {
			all = append(all, step{b.Run.Between(from, c.Checkpoint), b.iteration(c.Iteration)})
			from = c.Checkpoint
		}
	}
	return tip, append(all, step{b.Run.Between(from, ""), b.Message}), nil
}

// usable rejects what is no name for a branch, and a branch that is checked out: its files would stay behind.
func (b Branch) usable(ctx context.Context, k *committer) error {
	if _, err := k.run(ctx, nil, nil, "check-ref-format", "--branch", b.Name); err != nil {
		return hint.Errorf("name another one: --branch NAME", "%s is no name for a branch", wording.Quote(b.Name, 80))
	}
	trees, err := k.run(ctx, nil, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return fmt.Errorf("list the work trees: %w", err)
	}
	if strings.Contains(string(trees), "\nbranch refs/heads/"+b.Name+"\n") {
		return hint.Errorf("name another one: --branch NAME", "the branch %s is checked out in another work tree: nothing was committed", b.Name)
	}
	return nil
}

// iteration is the message of an iteration that was not the last one.
func (b Branch) iteration(n int) string {
	message := fmt.Sprintf("Iteration %d: %s", n, term.Line(standing.Title(b.Run.Prompt)))
	if said := strings.TrimSpace(term.Clean(b.Run.Feedback[n])); said != "" {
		message += "\n\nThe critic said of it:\n\n" + said
	}
	return message
}

// origin returns what the trailers of a commit say, "" if it has none.
func (k *committer) origin(ctx context.Context, commit string) (id, tree string, err error) {
	out, err := k.run(ctx, nil, nil, "show", "--no-patch", "--format=%(trailers:key="+SessionTrailer+",valueonly)%x00%(trailers:key="+TreeTrailer+",valueonly)", commit)
	if err != nil {
		return "", "", fmt.Errorf("read the last commit of the branch: %w", err)
	}
	first, second, _ := strings.Cut(string(out), "\x00")
	return strings.TrimSpace(first), strings.TrimSpace(second), nil
}

// add commits a step onto k.head, which becomes that commit.
func (k *committer) add(ctx context.Context, store *session.Store, s step, done *Done) (err error) {
	changes, left, shared, err := s.run.Changes(ctx, k.tree, store)
	if err != nil {
		return err
	}
	defer shared.Close() //nolint:errcheck // the process's end releases it in any case
	done.Nothing = done.Nothing && len(changes) == 0
	if k.inHead, k.atBase = map[string]diff.Blob{}, nil; k.head != "" {
		if k.inHead, err = k.list(ctx, k.head); err != nil {
			return err
		}
	}
	if k.atBase = k.inHead; k.head != k.Run.Base {
		k.atBase, _ = k.list(ctx, k.Run.Base) // it may be gone: then all files count as committed since
	}
	k.left = nil
	if err := k.plan(ctx, changes); err != nil {
		return err
	}
	done.Left = k.left
	if len(k.forHead) == 0 {
		return nil
	}
	if err := k.store(ctx); err != nil {
		return err
	}
	own, err := k.ownIndex(ctx, "")
	defer os.Remove(own) //nolint:errcheck // it is a temporary file
	if err != nil {
		return err
	}
	out, err := k.run(ctx, nil, []string{"GIT_INDEX_FILE=" + own}, "write-tree")
	if err != nil {
		return fmt.Errorf("write the tree: %w", err)
	}
	message, err := k.named(ctx, s.message, left)
	if err != nil {
		return err
	}
	if k.head, err = k.commitTree(ctx, trimmed(out), message); err != nil {
		return err
	}
	done.Commit, done.Files = k.head, slices.Compact(slices.Sorted(slices.Values(append(done.Files, k.paths()...))))
	return nil
}

// commitTree makes a commit on k.head, with the user's name and signature.
func (k *committer) commitTree(ctx context.Context, tree, message string) (string, error) {
	args := []string{"commit-tree", tree, "-F", "-"}
	if k.head != "" {
		args = append(args, "-p", k.head)
	}
	if out, err := k.run(ctx, nil, nil, "config", "--type=bool", "commit.gpgSign"); err == nil && trimmed(out) == "true" {
		args = append(args, "-S")
	}
	out, err := k.run(ctx, []byte(message), nil, args...)
	if exit, ok := errors.AsType[*proc.ExitError](err); ok && strings.Contains(exit.Stderr, "user.email") {
		return "", hint.Errorf(`git config --global user.name "…" and user.email, or the variables GIT_COMMITTER_NAME and GIT_COMMITTER_EMAIL`,
			"nothing was committed, because git does not know who you are")
	}
	if err != nil {
		return "", fmt.Errorf("nothing was committed: %w", err)
	}
	return trimmed(out), nil
}

// named adds the trailers to a message.
func (k *committer) named(ctx context.Context, message, tree string) (string, error) {
	out, err := k.run(ctx, []byte(strings.TrimRight(message, "\n")+"\n"), nil, "interpret-trailers",
		"--trailer", SessionTrailer+": "+k.Run.Session, "--trailer", TreeTrailer+": "+tree)
	if err != nil {
		return "", fmt.Errorf("write the message: %w", err)
	}
	return trimmed(out), nil
}
