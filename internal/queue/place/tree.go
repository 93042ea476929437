package place

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/repo"
	"codeloops/internal/view"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A tree is what git sees of a place: a work tree that is linked to the repository and on the place's branch.
type tree struct {
	repo   *git.Repo
	dir    string
	branch branch
}

// git runs git in the work tree.
func (t tree) git(ctx context.Context, args ...string) (string, error) {
	return t.do(ctx, git.Call{}, args...)
}

// do runs git in the work tree, also if an agent has set core.worktree.
func (t tree) do(ctx context.Context, c git.Call, args ...string) (string, error) {
	c.Dir, c.Env = t.dir, append(c.Env, "GIT_WORK_TREE="+t.dir)
	return t.repo.Do(ctx, c, args...)
}

// unlock removes locks that a killed git has left: nobody else uses the work tree.
func (t tree) unlock() error {
	locks := []string{filepath.Join(t.repo.CommonDir, filepath.FromSlash(t.branch.ref())+".lock")}
	admin, err := t.repo.Trees().Admin(t.dir)
	if admin != "" {
		names, _ := filepath.Glob(filepath.Join(admin, "*.lock")) // the only error is a malformed pattern
		locks = append(locks, names...)
	}
	for _, name := range locks {
		if e := os.Remove(name); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// unused returns an error if the branch is checked out elsewhere.
func (t tree) unused(ctx context.Context) error {
	tree, err := t.repo.Trees().InUse(ctx, t.branch.name, t.dir)
	if err == nil && tree != "" {
		return hint.Errorf("switch to another branch there", "the branch %s is checked out in %s", t.branch.name, tree)
	}
	return err
}

// attach points HEAD at the branch, if no commit is lost by that, and returns the last commit.
func (t tree) attach(ctx context.Context) (head string, err error) {
	admin, err := t.repo.Trees().Admin(t.dir)
	if err != nil {
		return "", err
	}
	for _, rebase := range []string{"rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(admin, rebase)); err == nil {
			return "", hint.Errorf("git rebase --continue, or --abort, there", "a rebase is in progress in %s", t.dir)
		}
	}
	out, err := t.git(ctx, "rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	head, on, _ := strings.Cut(out, "\n")
	if err != nil || on == t.branch.ref() {
		return head, err
	}
	tip, _, err := t.repo.Commit(ctx, t.branch.ref())
	if err != nil {
		return "", err
	}
	if on, err := t.repo.Contains(ctx, head, tip); err != nil || !on {
		return "", cmp.Or(err, hint.Errorf("git switch "+t.branch.name+" there, and merge what is needed",
			"%s is no longer on its branch %s, and its commit %.12s does not contain that branch", t.dir, t.branch.name, head))
	}
	if _, err = t.git(ctx, "update-ref", t.branch.ref(), head, tip); err == nil {
		_, err = t.git(ctx, "symbolic-ref", "HEAD", t.branch.ref())
	}
	return head, err
}

// merging returns the commit of a merge in progress.
func (t tree) merging(ctx context.Context) (theirs string, merging bool, err error) {
	admin, err := t.repo.Trees().Admin(t.dir)
	if err != nil {
		return "", false, err
	}
	if _, err := os.Lstat(filepath.Join(admin, "MERGE_HEAD")); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	theirs, err = t.git(ctx, "rev-parse", "--verify", "MERGE_HEAD")
	return theirs, true, err
}

// write commits what is staged.
func (t tree) write(ctx context.Context, message string) (head string, err error) {
	env, err := t.repo.Identity(ctx, t.dir)
	if err != nil {
		return "", err
	}
	c := git.Call{Env: env, Stdin: []byte(message)}
	if _, err := t.do(ctx, c, "commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"); err != nil {
		return "", err
	}
	return t.git(ctx, "rev-parse", t.branch.ref())
}

// nested returns an error for nested repositories, whose files or commits would not be merged, unless they are
// unchanged since another tree: git stores only their commit IDs.
func (t tree) nested(ctx context.Context, since string) error {
	out, err := t.git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		link := strings.Fields(about)
		if len(link) < 2 || link[0] != "160000" {
			continue
		}
		dir := filepath.Join(t.dir, filepath.FromSlash(path))
		if stays, err := t.staysBehind(ctx, dir, since+":"+path, link[1]); err != nil {
			return err
		} else if stays {
			// Otherwise git would go on treating it as a repository.
			_, err := t.git(ctx, "reset", "--quiet", "--", ":(top,literal)"+path)
			if r, e := repo.Open(dir, nil); e == nil && r.GitDir != r.CommonDir {
				return cmp.Or(err, hint.Errorf("git merge "+link[1]+" there, if you need its commits, then rm -r "+wording.Shell(dir)+", and codeloops queue retry goes on",
					"%s is another work tree, a whole checkout with a branch of its own, and would not be merged", wording.Name(dir)))
			}
			return cmp.Or(err, hint.Errorf("push it from there, or remove its .git",
				"%s is a git repository of its own, and its contents would not be merged", wording.Name(dir)))
		}
	}
	return nil
}

// staysBehind reports whether a nested repository has contents that exist only there. was names its entry
// before the task.
func (t tree) staysBehind(ctx context.Context, dir, was, commit string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		entries, _ := os.ReadDir(dir)
		return len(entries) > 0, nil //nolint:nilerr // usually a submodule that is not checked out
	}
	if id, ok, err := t.repo.Object(ctx, was); err != nil || ok && id == commit {
		return false, err
	}
	in, err := t.repo.Run(ctx, dir, "for-each-ref", "--count=1", "--contains", commit, "refs/remotes")
	return in == "", err
}

// standsAt reports whether a submodule is at a commit, or not checked out.
func (t tree) standsAt(ctx context.Context, path, commit string) bool {
	dir := filepath.Join(t.dir, filepath.FromSlash(path))
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return true
	}
	head, err := t.repo.Run(ctx, dir, "rev-parse", "HEAD")
	return err == nil && head == commit
}

// marked returns the number of the first line that is a conflict marker and in neither side; 0 is none.
func (t tree) marked(ctx context.Context, root *os.Root, file string, sides []string) (int, error) {
	name := filepath.FromSlash(file)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return 0, nil //nolint:nilerr // it was removed, which resolves the conflict
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return 0, err
	}
	var before map[string]bool // the lines of both sides
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if !marker().MatchString(line) {
			continue
		}
		if before == nil {
			before = make(map[string]bool)
			for _, side := range sides {
				blob, _ := t.git(ctx, "cat-file", "blob", side+":"+file) // a side may lack it
				for l := range strings.Lines(blob) {
					before[strings.TrimRight(l, "\r\n")] = true
				}
			}
		}
		if !before[line] {
			return n + 1, ctx.Err()
		}
	}
	return 0, nil
}

// twin is a temporary work tree, made for its .git file.
func (t tree) twin() string { return t.dir + "~" } // no task has such a name

// rebranch creates a missing branch, at the last commit of the work tree, or else at the base.
func (t tree) rebranch(ctx context.Context, base string) error {
	_, there, err := t.repo.Commit(ctx, t.branch.ref())
	if err != nil || there {
		return err
	}
	admin, err := t.repo.Trees().Admin(t.dir)
	if err != nil {
		return err
	}
	last := base
	log, _ := os.ReadFile(filepath.Join(admin, "logs", "HEAD")) // it may be missing
	for line := range strings.Lines(string(log)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.Trim(fields[1], "0") != "" {
			last = fields[1]
		}
	}
	if _, there, err = t.repo.Commit(ctx, last); err == nil && !there {
		last = base
	}
	if err == nil {
		_, err = t.repo.Run(ctx, t.repo.Root, "update-ref", t.branch.ref(), last, "")
	}
	return err
}

// link repairs the links between the work tree and the repository. It moves aside what an agent has put in place
// of the .git file.
func (t tree) link(ctx context.Context, aside string) error {
	admin, err := t.repo.Trees().Admin(t.dir)
	if err != nil {
		return err
	}
	at, err := t.git(ctx, "rev-parse", "--path-format=absolute", "--git-dir")
	if ctx.Err() != nil {
		return err
	}
	if is, _ := filepath.EvalSymlinks(filepath.FromSlash(at)); err == nil && admin != "" && is == admin {
		return nil
	}
	link := filepath.Join(t.dir, ".git")
	if info, err := os.Lstat(link); err == nil && !info.Mode().IsRegular() { // a repository that an agent made
		if err := os.Rename(link, aside); err != nil {
			return err
		}
	}
	if admin != "" {
		return os.WriteFile(link, []byte("gitdir: "+filepath.ToSlash(admin)+"\n"), 0o600)
	}
	twin := t.twin()
	if err := t.repo.Trees().Add(ctx, twin, t.branch.name); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(filepath.Join(twin, ".git"), link), view.Remove(twin)); err != nil {
		return err
	}
	if err := t.repo.Trees().Repair(ctx, t.dir); err != nil {
		return err
	}
	_, err = t.git(ctx, "reset", "--quiet")
	return err
}

// remove removes directories of work trees, with their links.
func (t tree) remove(dirs ...string) error {
	for _, dir := range dirs {
		if err := errors.Join(view.Remove(dir), t.repo.Trees().Forget(dir)); err != nil {
			return err
		}
	}
	return nil
}
