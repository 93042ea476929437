// Package accept commits what a run has changed, and nothing else: what the user had changed stays as it is, in the
// index and in the work tree.
package accept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"codeloops/internal/diff"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/putback"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Commit is what is to be committed, and where the user sees what their hooks say.
type Commit struct {
	Run     putback.Ended
	Message string
	Named   bool // the message names the session and its tree

	In  io.Reader
	Err io.Writer
}

// Done is what was committed.
type Done struct {
	Session string   `json:"session"`
	Commit  string   `json:"commit"` // "": HEAD has it all
	Branch  string   `json:"branch"` // "": HEAD is detached
	Files   []string `json:"files"`
	Nothing bool     `json:"-"` // the run has changed nothing
	On      string   `json:"-"` // the branch that the change was for, unless it is checked out
	// Left are sentences about what was not committed.
	Left []string `json:"left,omitempty"`
}

// Do commits the change of a run onto HEAD, with the user's hooks and signature. It first calls mayWrite with the work
// tree's root.
func (c Commit) Do(ctx context.Context, d *putback.Restorer, store *session.Store, mayWrite func(root string) error) (done Done, err error) {
	tree, end, err := d.Open(ctx, c.Run.Dir, "accept")
	if err != nil {
		return done, err
	}
	defer end()
	if err := mayWrite(tree.Root()); err != nil {
		return done, err
	}
	changes, left, shared, err := c.Run.Changes(ctx, tree, store)
	if err != nil {
		return done, err
	}
	defer shared.Close() //nolint:errcheck // the process's end releases it in any case
	k := &committer{Commit: c, tree: tree, git: git.Git{Environ: d.Host.Environ}, made: map[string][]byte{}, there: map[string]bool{}}
	if c.Named {
		if k.Message, err = k.named(ctx, c.Message, left); err != nil {
			return done, err
		}
	}
	if err := k.look(ctx); err != nil {
		return done, err
	}
	if err := k.plan(ctx, changes); err != nil {
		return done, err
	}
	done = Done{Session: c.Run.Session, Files: k.paths(), Nothing: len(changes) == 0, Left: k.left}
	if _, done.Branch, err = tree.Head(); err != nil || len(done.Files) == 0 {
		return done, err
	}
	done.Commit, err = k.commit(ctx)
	return done, err
}

// A committer is a commit while it is made.
type committer struct {
	Commit

	tree *worktree.Tree
	git  git.Git
	head string // the commit; "": there is none yet

	inHead, inIndex map[string]diff.Blob
	atBase          map[string]diff.Blob // in the commit that the run began at
	made            map[string][]byte    // contents that are in no repository, by id
	apart           bool                 // the commit is for another branch than HEAD's: work tree and index do not matter
	there           map[string]bool      // ids of contents that the user's repository has
	forHead         map[string]diff.Blob
	forIndex        map[string]diff.Blob
	left            []string
}

// run runs git in the work tree.
func (k *committer) run(ctx context.Context, stdin []byte, env []string, args ...string) ([]byte, error) {
	return k.git.Run(ctx, git.Call{Dir: k.tree.Root(), Args: args, Stdin: stdin, Env: env})
}

// look reads HEAD and the index. It refuses while something else is going on there.
func (k *committer) look(ctx context.Context) (err error) {
	if k.head, _, err = k.tree.Head(); err != nil {
		return err
	}
	for ref, what := range map[string]string{"MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert"} {
		if _, err := os.Lstat(filepath.Join(k.tree.GitDir(), ref)); err == nil {
			return hint.Errorf("finish it or abort it first: git status", "%s is going on in %s", what, k.tree.Root())
		}
	}
	out, err := k.run(ctx, nil, nil, "write-tree")
	if err != nil {
		return hint.Add(fmt.Errorf("read the index: %w", err), "git status shows what is in the way")
	}
	if k.inIndex, err = k.list(ctx, trimmed(out)); err != nil || k.head == "" {
		return err
	}
	if k.inHead, err = k.list(ctx, k.head); err != nil || k.Run.Base == "" {
		return err
	}
	if k.atBase = k.inHead; k.head != k.Run.Base {
		k.atBase, _ = k.list(ctx, k.Run.Base) // it may be gone: then all files count as committed since
	}
	return nil
}

// plan works out what HEAD and the index are to hold.
func (k *committer) plan(ctx context.Context, changes []diff.BlobChange) error { //nolint:gocyclo // the steps belong together, and read top to bottom
	k.forHead, k.forIndex = map[string]diff.Blob{}, map[string]diff.Blob{}
	var mingled, gone, later, inside, withheld, remade []string
	r, settings := k.tree.Repository()
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	how, err := r.Converts(ctx, k.git, settings, r.IndexFile, paths)
	if err != nil {
		return err
	}
	for _, onDisk := range changes {
		c, err := k.inGit(ctx, onDisk, how[onDisk.Path])
		if err != nil {
			return err
		}
		if k.foreign(c) {
			inside = append(inside, c.Path)
			continue
		}
		if how[c.Path] == git.Remade && regular(c.After) {
			remade = append(remade, c.Path)
			continue
		}
		if k.Run.Withheld[c.Path] {
			withheld = append(withheld, c.Path)
			continue
		}
		head, ok, err := k.merge(ctx, c, k.inHead[c.Path])
		if err != nil {
			return err
		}
		if ok && head == k.inHead[c.Path] {
			continue // the actor, or the user, has committed it
		}
		index, also, held, err := k.here(ctx, c, onDisk)
		switch {
		case err != nil:
			return err
		case !held:
			gone = append(gone, c.Path)
		case !ok || !also:
			mingled = append(mingled, c.Path)
			continue
		case c.Now != c.After && !k.apart:
			later = append(later, c.Path)
		}
		k.forHead[c.Path] = head
		if index != k.inIndex[c.Path] {
			k.forIndex[c.Path] = index
		}
	}
	if err := k.told(gone, mingled); err != nil {
		return err
	}
	k.leave("changed since the run, which was not committed: ", later)
	k.leave("not committed, as it is a repository of its own, or in one: ", inside)
	k.leave("not committed, as settings of this repository make git store something else than the file (git add takes it): ", remade)
	k.leave("not committed, as git ignored it when the run began, and it may hold a secret (git add takes it): ", withheld)
	return nil
}

// here returns what the index is to hold of a file, and whether the work tree holds some of the change. For another branch
// neither matters.
func (k *committer) here(ctx context.Context, c, onDisk diff.BlobChange) (index diff.Blob, also, held bool, err error) {
	if k.apart {
		return k.inIndex[c.Path], true, true, nil
	}
	if index, also, err = k.follows(ctx, c, k.inIndex[c.Path]); err != nil {
		return index, false, false, err
	}
	held, err = k.held(ctx, onDisk)
	return index, also, held, err
}

// leave notes what was not committed.
func (k *committer) leave(why string, paths []string) {
	if len(paths) > 0 {
		k.left = append(k.left, why+worktree.Names(paths))
	}
}

// told refuses to commit files that do not hold the run's change any more, and those where it cannot be told apart.
func (k *committer) told(gone, mingled []string) error {
	if len(gone) > 0 {
		return hint.Errorf("if another branch is checked out, go back to the run's; else `codeloops sessions restore "+k.Run.Session+"` brings it back",
			"nothing was committed, because the work tree does not hold the run's change of %s any more", worktree.Names(gone))
	}
	if len(mingled) > 0 {
		return hint.Errorf("`codeloops diff` shows the run's lines; take them by hand: git add --patch",
			"nothing was committed, because what you had changed cannot be told from what the run changed in %s", worktree.Names(mingled))
	}
	return nil
}

// foreign reports whether a path is part of another repository, or is a new one.
func (k *committer) foreign(c diff.BlobChange) bool {
	if c.After.Mode == gitlink && k.inHead[c.Path] == (diff.Blob{}) {
		return true
	}
	for dir := filepath.Dir(filepath.FromSlash(c.Path)); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(k.tree.Root(), dir, ".git")); err == nil {
			return true
		}
		if k.inHead[filepath.ToSlash(dir)].Mode == gitlink {
			return true
		}
	}
	return false
}

func (k *committer) paths() []string {
	all := []string{}
	for path := range k.forHead {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// commit makes the commit, and then the index what it would be if the user's own changes had been staged after it. If
// that fails, HEAD is put back.
func (k *committer) commit(ctx context.Context) (id string, err error) {
	if err := k.store(ctx); err != nil {
		return "", err
	}
	index, err := k.run(ctx, nil, nil, "rev-parse", "--git-path", "index")
	if err != nil {
		return "", fmt.Errorf("find the index: %w", err)
	}
	name := trimmed(index)
	if !filepath.IsAbs(name) {
		name = filepath.Join(k.tree.Root(), name)
	}
	if _, err := os.Lstat(name + ".lock"); err == nil {
		return "", hint.Errorf("wait until it has ended; if there is none, remove it", "another git is at work here: there is %s", name+".lock")
	}
	own, err := k.ownIndex(ctx, name)
	defer os.Remove(own) //nolint:errcheck // it is only a copy
	if err != nil {
		return "", err
	}
	meant, err := k.run(ctx, nil, []string{"GIT_INDEX_FILE=" + own}, "write-tree")
	if err != nil {
		return "", err
	}
	refused := k.callGit(ctx, own)
	ctx = context.WithoutCancel(ctx) // git may have committed: HEAD and index belong together, even after Ctrl+C
	id, _, err = k.tree.Head()
	switch {
	case refused != nil && (err != nil || id == k.head):
		return "", refused
	case err != nil:
		return "", err
	}
	if err = k.follow(ctx, trimmed(meant), id); err == nil {
		err = k.update(ctx, nil, k.forIndex)
	}
	if err != nil {
		back := []string{"update-ref", "-m", "codeloops accept: taken back", "HEAD", k.head, id}
		if k.head == "" {
			back = []string{"update-ref", "-d", "HEAD", id}
		}
		_, e := k.run(ctx, nil, nil, back...)
		return "", errors.Join(fmt.Errorf("nothing was committed, because the index could not be updated: %w", err), e)
	}
	_, _ = k.run(ctx, nil, nil, "update-index", "-q", "--refresh") // it only makes git faster
	return id, nil
}

// callGit lets git commit an index as if the user had: with their hooks and their signature.
func (k *committer) callGit(ctx context.Context, index string) error {
	message, err := os.CreateTemp("", "codeloops-message-")
	if err != nil {
		return err
	}
	defer os.Remove(message.Name()) //nolint:errcheck // a temporary file
	_, err = message.WriteString(k.Message + "\n")
	if err := errors.Join(err, message.Close()); err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	program, err := git.Program()
	if err != nil {
		return err
	}
	tool := proc.Tool{
		Argv: []string{program, "-C", k.tree.Root(), "commit", "--quiet", "-F", message.Name()},
		Env:  []string{"GIT_INDEX_FILE=" + index}, Stdin: k.In, Stdout: k.Err, Stderr: k.Err,
	}
	code, err := tool.Run(ctx)
	if err == nil && code != 0 {
		err = hint.Errorf("mend what it says above; then: codeloops accept "+wording.Shell(k.Run.Session), "nothing was committed, because git commit, or a hook of it, refused (exit code %d)", code)
	}
	return err
}
