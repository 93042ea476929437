package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// git runs git in the place.
func (p *Place) git(ctx context.Context, args ...string) (string, error) {
	return p.repo.Run(ctx, p.Dir, args...)
}

func (p *Place) ref() string { return "refs/heads/" + p.Branch }

// unlock removes locks that a killed git has left: nobody else uses the place.
func (p *Place) unlock() error {
	locks := []string{filepath.Join(p.repo.CommonDir, filepath.FromSlash(p.ref())+".lock")}
	admin, err := p.repo.Trees().Admin(p.Dir)
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
func (p *Place) unused(ctx context.Context) error {
	tree, err := p.repo.Trees().InUse(ctx, p.Branch, p.Dir)
	if err == nil && tree != "" {
		return hint.Errorf("switch to another branch there", "the branch %s is checked out in %s", p.Branch, tree)
	}
	return err
}

// attach points HEAD at the place's branch, if no commit is lost by that, and returns the last commit.
func (p *Place) attach(ctx context.Context) (head string, err error) {
	admin, err := p.repo.Trees().Admin(p.Dir)
	if err != nil {
		return "", err
	}
	for _, rebase := range []string{"rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(admin, rebase)); err == nil {
			return "", hint.Errorf("git rebase --continue, or --abort, there", "a rebase is in progress in %s", p.Dir)
		}
	}
	out, err := p.git(ctx, "rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	head, on, _ := strings.Cut(out, "\n")
	if err != nil || on == p.ref() {
		return head, err
	}
	tip, _, err := p.repo.Commit(ctx, p.ref())
	if err != nil {
		return "", err
	}
	if on, err := p.repo.Contains(ctx, head, tip); err != nil || !on {
		return "", cmp.Or(err, hint.Errorf("git switch "+p.Branch+" there, and merge what is needed",
			"%s is no longer on its branch %s, and its commit %.12s does not contain that branch", p.Dir, p.Branch, head))
	}
	if _, err = p.git(ctx, "update-ref", p.ref(), head, tip); err == nil {
		_, err = p.git(ctx, "symbolic-ref", "HEAD", p.ref())
	}
	return head, err
}

// merging returns the commit of a merge in progress.
func (p *Place) merging(ctx context.Context) (theirs string, merging bool, err error) {
	admin, err := p.repo.Trees().Admin(p.Dir)
	if err != nil {
		return "", false, err
	}
	if _, err := os.Lstat(filepath.Join(admin, "MERGE_HEAD")); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	theirs, err = p.git(ctx, "rev-parse", "--verify", "MERGE_HEAD")
	return theirs, true, err
}

// write commits what is staged.
func (p *Place) write(ctx context.Context, message string) (head string, err error) {
	env, err := p.repo.Identity(ctx, p.Dir)
	if err != nil {
		return "", err
	}
	c := git.Call{Dir: p.Dir, Env: env, Stdin: []byte(message)}
	if _, err := p.repo.Do(ctx, c, "commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"); err != nil {
		return "", err
	}
	return p.git(ctx, "rev-parse", p.ref())
}

// nested returns an error for nested repositories, whose files or commits would not be merged, unless they are
// unchanged since base: git stores only their commit IDs.
func (p *Place) nested(ctx context.Context, base string) error {
	out, err := p.git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		link := strings.Fields(about)
		if len(link) < 2 || link[0] != "160000" {
			continue
		}
		dir := filepath.Join(p.Dir, filepath.FromSlash(path))
		if stays, err := p.staysBehind(ctx, dir, base+":"+path, link[1]); err != nil {
			return err
		} else if stays {
			// Otherwise git would go on treating it as a repository.
			_, err := p.git(ctx, "reset", "--quiet", "--", ":(top,literal)"+path)
			return cmp.Or(err, hint.Errorf("push it from there, or remove its .git",
				"%s is a git repository of its own, and its contents would not be merged", wording.Name(dir)))
		}
	}
	return nil
}

// staysBehind reports whether a nested repository has contents that exist only there. was names its entry when the
// branch began.
func (p *Place) staysBehind(ctx context.Context, dir, was, commit string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		entries, _ := os.ReadDir(dir)
		return len(entries) > 0, nil //nolint:nilerr // usually a submodule that is not checked out
	}
	if id, ok, err := p.repo.Object(ctx, was); err != nil || ok && id == commit {
		return false, err
	}
	in, err := p.repo.Run(ctx, dir, "for-each-ref", "--count=1", "--contains", commit, "refs/remotes")
	return in == "", err
}

// marked returns the number of the first line that is a conflict marker and in neither side; 0 is none.
func (p *Place) marked(ctx context.Context, root *os.Root, file string, sides []string) (int, error) {
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
				blob, _ := p.git(ctx, "cat-file", "blob", side+":"+file) // a side may lack it
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
func (p *Place) twin() string { return p.Dir + "~" } // no task has such a name

// branch creates a missing branch, at the last commit of the work tree, or else at the base.
func (p *Place) branch(ctx context.Context, base string) error {
	_, there, err := p.repo.Commit(ctx, p.ref())
	if err != nil || there {
		return err
	}
	admin, err := p.repo.Trees().Admin(p.Dir)
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
	if _, there, err = p.repo.Commit(ctx, last); err == nil && !there {
		last = base
	}
	if err == nil {
		_, err = p.repo.Run(ctx, p.repo.Root, "update-ref", p.ref(), last, "")
	}
	return err
}

// link repairs the links between the work tree and the repository. It moves aside what an agent has put in place
// of the .git file.
func (p *Place) link(ctx context.Context, aside string) error {
	admin, err := p.repo.Trees().Admin(p.Dir)
	if err != nil {
		return err
	}
	at, err := p.git(ctx, "rev-parse", "--path-format=absolute", "--git-dir")
	if ctx.Err() != nil {
		return err
	}
	if is, _ := filepath.EvalSymlinks(filepath.FromSlash(at)); err == nil && admin != "" && is == admin {
		return nil
	}
	link := filepath.Join(p.Dir, ".git")
	if info, err := os.Lstat(link); err == nil && !info.Mode().IsRegular() { // a repository that an agent made
		if err := os.Rename(link, aside); err != nil {
			return err
		}
	}
	if admin != "" {
		return os.WriteFile(link, []byte("gitdir: "+filepath.ToSlash(admin)+"\n"), 0o600)
	}
	twin := p.twin()
	if err := p.repo.Trees().Add(ctx, twin, p.Branch); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(filepath.Join(twin, ".git"), link), view.Remove(twin)); err != nil {
		return err
	}
	if err := p.repo.Trees().Repair(ctx, p.Dir); err != nil {
		return err
	}
	_, err = p.git(ctx, "reset", "--quiet")
	return err
}

// contained returns an error unless a commit contains head, and is kept by another ref.
func (p *Place) contained(ctx context.Context, merged, head string) error {
	id, there, err := p.repo.Commit(ctx, merged)
	if err != nil {
		return err
	}
	if !there {
		return hint.Errorf("merge it first", "the branch %s would be lost: it is not merged, as %q is no commit", p.Branch, merged)
	}
	if in, err := p.repo.Contains(ctx, id, head); err != nil || !in {
		out, _ := p.repo.Run(ctx, p.repo.Root, "rev-list", "--count", head, "^"+id)
		lost, _ := strconv.Atoi(out)
		return cmp.Or(err, hint.Errorf("merge it first", "%s of the branch %s would be lost: %.12s does not contain its last commit %.12s",
			wording.Count(lost, "commit"), p.Branch, id, head))
	}
	if kept, err := p.elsewhere(ctx, id); err != nil || kept {
		return err
	}
	return hint.Errorf("merge it first", "the branch %s would be lost: no other branch has %.12s, into which it was merged", p.Branch, id)
}

// elsewhere reports whether a ref other than the place's branch contains a commit.
func (p *Place) elsewhere(ctx context.Context, id string) (bool, error) {
	refs, err := p.repo.Run(ctx, p.repo.Root, "for-each-ref", "--format=%(refname)", "--contains", id)
	for ref := range strings.Lines(refs) {
		if strings.TrimSpace(ref) != p.ref() {
			return true, err
		}
	}
	return false, err
}

// drop keeps a commit at a new ref and returns that; "" if another ref has it already.
func (p *Place) drop(ctx context.Context, commit string) (string, error) {
	if kept, err := p.elsewhere(ctx, commit); err != nil || kept {
		return "", err
	}
	for n := 1; ; n++ {
		ref := dropped + p.Task
		if n > 1 {
			ref = fmt.Sprintf("%s-%d", ref, n)
		}
		at, there, err := p.repo.Commit(ctx, ref)
		if err != nil || there && at == commit {
			return ref, err
		}
		if !there {
			_, err = p.repo.Run(ctx, p.repo.Root, "update-ref", ref, commit, "")
			return ref, err
		}
	}
}
