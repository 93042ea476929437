package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"codeloops/internal/run/worktree"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Trees are the linked work trees of a repository, some of which are ours.
type Trees struct{ of *Repo }

// Trees returns the repository's linked work trees.
func (r *Repo) Trees() Trees { return Trees{r} }

// Admin returns the directory below .git/worktrees that belongs to a work tree of ours; "" is none.
func (t Trees) Admin(tree string) (string, error) {
	all, err := t.admins()
	for _, admin := range all {
		if t.leads(admin) == filepath.Join(tree, ".git") {
			return admin, nil
		}
	}
	return "", err
}

// admins lists the directories of all linked work trees.
func (t Trees) admins() (all []string, err error) {
	dir := filepath.Join(t.of.CommonDir, "worktrees")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		all = append(all, filepath.Join(dir, e.Name()))
	}
	return all, err
}

// leads returns the .git file of the work tree that an admin directory belongs to; "" where it is incomplete.
func (t Trees) leads(admin string) string {
	text, err := os.ReadFile(filepath.Join(admin, "gitdir"))
	path := filepath.FromSlash(strings.TrimSuffix(string(text), "\n"))
	if err != nil || path == "" {
		return ""
	}
	if !filepath.IsAbs(path) { // worktree.useRelativePaths
		path = filepath.Join(admin, path)
	}
	return filepath.Clean(path)
}

// worktrees runs git worktree under the lock: git fails when it sees the entry of a work tree that is just being
// made.
func (t Trees) worktrees(ctx context.Context, args ...string) error {
	return t.Alone(func() error {
		_, err := t.of.Run(ctx, t.of.Root, append([]string{"worktree"}, args...)...)
		return err
	})
}

// Alone runs do while no work tree of ours is made or removed: git commands that look at all work trees, such as
// fetch, fail on a half-made one. If that is somebody else's, it retries. So it does when somebody else's git removes
// the directory of all entries, with its last one, just before an entry is made there.
func (t Trees) Alone(do func() error) error {
	unlock, err := t.lock()
	if err != nil {
		return err
	}
	defer unlock()
	for range patience {
		if err = do(); err == nil || !disturbed().MatchString(err.Error()) {
			return err
		}
		time.Sleep(moment)
	}
	return hint.Add(err, "if no git is running there, remove the entry that it names")
}

// disturbed matches git's errors about what another git is making or removing.
var disturbed = wording.Pattern(`/commondir|could not create directory of '.*': No such file or directory`)

// Git makes a work tree without files within milliseconds.
const (
	patience = 20
	moment   = 50 * time.Millisecond
)

// lock keeps others of ours from making or removing work trees. It first removes what a killed process has left
// half-made.
func (t Trees) lock() (unlock func(), err error) {
	unlock, err = lockedfile.MutexAt(filepath.Join(t.of.CommonDir, "codeloops-worktrees")).Lock()
	if err != nil {
		return nil, fmt.Errorf("lock the work trees of %s: %w", t.of.CommonDir, err)
	}
	if err := t.remove(func(admin, link string) bool {
		return strings.Contains(link, string(filepath.Separator)+t.of.ID()+string(filepath.Separator)) && torn(admin)
	}); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// torn reports whether the entry of a work tree is incomplete in a way that makes git commands fail: a file is empty, or
// HEAD is still the commit that does not exist, with which git begins.
func torn(admin string) bool {
	for _, name := range []string{"HEAD", "commondir"} {
		text, err := os.ReadFile(filepath.Join(admin, name))
		if strings.Trim(string(text), "0\n") == "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			return true
		}
	}
	return false
}

// remove removes the chosen entries. Each is renamed first, so that nobody sees a part of one.
func (t Trees) remove(meant func(admin, link string) bool) error {
	aside := filepath.Join(t.of.CommonDir, "codeloops-removed")
	all, err := t.admins()
	err = errors.Join(err, os.RemoveAll(aside)) // left by an interrupted removal
	for _, admin := range all {
		if link := t.leads(admin); meant(admin, link) {
			err = errors.Join(err, os.Rename(admin, aside), os.RemoveAll(aside), os.RemoveAll(t.own(admin)))
		}
	}
	if err != nil {
		return fmt.Errorf("remove the entry of a work tree in %s: %w", t.of.CommonDir, err)
	}
	return nil
}

// Add makes a work tree without files. The arguments are those of git worktree add.
func (t Trees) Add(ctx context.Context, args ...string) error {
	err := t.worktrees(ctx, append([]string{"add", "--quiet", "--no-checkout"}, args...)...)
	for _, tree := range args {
		if admin, _ := t.Admin(tree); admin != "" && err == nil {
			err = os.RemoveAll(t.own(admin)) // of an earlier one, which the user has removed
		}
	}
	return err
}

// CheckOut writes the files of a new work tree of ours.
func (t Trees) CheckOut(ctx context.Context, tree string) error {
	_, err := t.of.Run(ctx, tree, "reset", "--hard", "--quiet", "--no-recurse-submodules")
	return err
}

// Repair updates the entry of a work tree that was moved.
func (t Trees) Repair(ctx context.Context, tree string) error {
	return t.worktrees(ctx, "repair", tree)
}

// Forget removes the entry of a work tree of ours, also an incomplete one, which git would keep forever. The name
// of its directory is unique.
func (t Trees) Forget(tree string) error {
	unlock, err := t.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := t.remove(func(admin, link string) bool {
		return link == filepath.Join(tree, ".git") || link == "" && filepath.Base(admin) == filepath.Base(tree)
	}); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(t.of.CommonDir, "worktrees")) // fails unless it is empty
	return nil
}

// InUse returns the work tree, other than ours, that has a branch checked out, or will have it again after a
// rebase or bisect; "" is none. Git itself does not report the latter, and fails on a work tree that is just being
// made.
func (t Trees) InUse(ctx context.Context, branch, ours string) (string, error) {
	all, err := t.admins()
	if err != nil {
		return "", err
	}
	linked := false // whether Root is a linked work tree
	for _, admin := range all {
		link := t.leads(admin)
		if link == "" {
			continue
		}
		tree := filepath.Dir(link)
		linked = linked || tree == t.of.Root
		if tree != ours && uses(admin, branch) {
			return tree, nil
		}
	}
	if head, _ := os.ReadFile(filepath.Join(t.of.CommonDir, "HEAD")); strings.Contains(string(head), "refs/heads/.invalid") {
		return "", hint.Errorf("git refs migrate --ref-format=files", "the repository keeps its refs in a format that is not known here (reftable)")
	}
	switch {
	case !uses(t.of.CommonDir, branch):
		return "", nil
	case !linked:
		return t.of.Root, nil
	}
	bare, err := t.of.Run(ctx, t.of.CommonDir, "rev-parse", "--is-bare-repository")
	if err != nil || bare == "true" {
		return "", err
	}
	return filepath.Dir(t.of.CommonDir), nil
}

// uses reports whether a work tree uses a branch.
func uses(admin, branch string) bool {
	for _, name := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
		text, _ := os.ReadFile(filepath.Join(admin, name)) // most have only HEAD
		if strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(string(text)), "ref: "), "refs/heads/") == branch {
			return true
		}
	}
	return false
}

// Home makes a directory for the repository's work trees below dir. It rejects one inside the repository.
func (r *Repo) Home(dir, name string) (string, error) {
	for _, of := range []string{r.Root, r.CommonDir} {
		if worktree.Below(of, dir) {
			return "", hint.Errorf("name a directory outside of it", "work trees of %s would be made in %s, which is part of it", r.Root, dir)
		}
	}
	home := filepath.Join(dir, r.ID(), name)
	err := os.MkdirAll(home, 0o700)
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		return "", fmt.Errorf("make a directory for work trees of %s: %w", r.Root, err)
	}
	return home, nil
}
