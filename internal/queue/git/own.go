package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/git"
	"codeloops/internal/view"
)

// Borrow makes a bare repository that reads the objects of others, too, or changes what one of ours reads.
func Borrow(dir string, objects ...string) error {
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "objects"), 0o700), os.MkdirAll(filepath.Join(dir, "refs"), 0o700))
	for name, text := range map[string]string{
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		"HEAD":   "ref: refs/heads/main\n",
	} {
		if _, there := os.Lstat(filepath.Join(dir, name)); err == nil && there != nil {
			err = put(dir, name, text, 0o600)
		}
	}
	if err == nil && len(objects) > 0 {
		err = put(dir, "objects/info/alternates", strings.Join(objects, "\n")+"\n", 0o600)
	}
	if err != nil {
		return fmt.Errorf("make a repository: %w", err)
	}
	return nil
}

// put writes a file below a directory; the name has slashes.
func put(dir, name, text string, perm fs.FileMode) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), perm)
}

// Objects is the directory of the repository's objects.
func (r *Repo) Objects() string { return filepath.Join(r.CommonDir, "objects") }

// Own gives a work tree a repository of its own, with refs, settings and hooks that are what the user's are now, and an
// empty stash: what commands do to them there reaches neither the user nor other tasks. It borrows the user's objects.
// HEAD is at a commit, and on a branch unless that is "". What is there is replaced, except for objects and submodules.
func (r *Repo) Own(tree, branch, commit string) error {
	own := filepath.Join(tree, ".git")
	err := emptied(own)
	if err == nil {
		err = Borrow(own, r.Objects())
	}
	if err == nil {
		err = r.inherit(own)
	}
	if err == nil {
		err = r.refs(own, branch, commit)
	}
	if err != nil {
		return fmt.Errorf("make a repository for %s: %w", tree, err)
	}
	return nil
}

// inherit copies settings and hooks to a git directory in a work tree.
func (r *Repo) inherit(own string) error {
	lfs := filepath.Join(r.CommonDir, "lfs")
	if _, err := os.Stat(lfs); err == nil {
		_ = os.Symlink(lfs, filepath.Join(own, "lfs")) // Windows may forbid links; what is missing is then fetched again
	}
	users := os.DirFS(r.CommonDir)
	for _, pattern := range []string{"config", "config.worktree", "shallow", "info/*", "hooks/*"} {
		names, err := fs.Glob(users, pattern)
		for _, name := range names {
			info, e := fs.Stat(users, name) // hooks are often links to files of the work tree
			if e != nil || !info.Mode().IsRegular() || strings.HasSuffix(name, ".sample") {
				continue
			}
			text, e := fs.ReadFile(users, name)
			said := strings.ToLower(strings.ReplaceAll(string(text), "bare = false", ""))
			if strings.HasPrefix(name, "config") && (strings.Contains(said, "bare") || strings.Contains(said, "worktree")) {
				text = append(text, "\n[core]\n\tbare = false\n\tworktree = ..\n"...) // the last one counts; a submodule's names its own
			}
			err = errors.Join(err, e, put(own, name, string(text), info.Mode().Perm()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refs writes the refs of a repository of a work tree's own.
func (r *Repo) refs(own, branch, commit string) error {
	refs, err := r.Refs("refs/")
	if err != nil {
		return err
	}
	var packed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if name != "refs/stash" && name != "refs/heads/"+branch && !strings.HasPrefix(name, "refs/codeloops/") {
			packed.WriteString(refs[name] + " " + name + "\n")
		}
	}
	head := commit
	if branch != "" {
		head = "ref: refs/heads/" + branch
		err = put(own, "refs/heads/"+branch, commit+"\n", 0o600)
	}
	return errors.Join(err, put(own, "packed-refs", packed.String(), 0o600), put(own, git.FamilyFile, r.CommonDir+"\n", 0o600), put(own, "HEAD", head+"\n", 0o600))
}

// CheckOut makes a work tree of a commit, with a repository of its own, in an empty directory; see [Repo.Own].
func (r *Repo) CheckOut(ctx context.Context, dir, branch, commit string) error {
	err := r.Own(dir, branch, commit)
	if err == nil {
		_, err = r.Run(ctx, dir, "reset", "--hard", "--quiet", "--no-recurse-submodules")
	}
	return err
}

// emptied removes everything from a git directory but its objects, which earlier commits there may need, and submodules.
func emptied(own string) error {
	if info, err := os.Lstat(own); err == nil && !info.IsDir() {
		return os.Remove(own)
	}
	entries, err := os.ReadDir(own)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() != "objects" && e.Name() != "modules" {
			err = errors.Join(err, view.Remove(filepath.Join(own, e.Name())))
		}
	}
	return err
}
