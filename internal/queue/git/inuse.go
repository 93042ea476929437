package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/run/worktree"
	"codeloops/internal/wording/hint"
)

// admins lists the directories of all linked work trees.
func (r *Repo) admins() (all []string, err error) {
	dir := filepath.Join(r.CommonDir, "worktrees")
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
func leads(admin string) string {
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

// InUse returns the work tree that has a branch checked out, or will have it again after a rebase or bisect; "" is none.
// Git itself does not report the latter, and fails on a work tree that is just being made.
func (r *Repo) InUse(ctx context.Context, branch string) (string, error) {
	all, err := r.admins()
	if err != nil {
		return "", err
	}
	linked := false // whether Root is a linked work tree
	for _, admin := range all {
		link := leads(admin)
		if link == "" {
			continue
		}
		tree := filepath.Dir(link)
		linked = linked || tree == r.Root
		if uses(admin, branch) {
			return tree, nil
		}
	}
	if head, _ := os.ReadFile(filepath.Join(r.CommonDir, "HEAD")); strings.Contains(string(head), "refs/heads/.invalid") {
		return "", hint.Errorf("git refs migrate --ref-format=files", "the repository keeps its refs in a format that is not known here (reftable)")
	}
	switch {
	case !uses(r.CommonDir, branch):
		return "", nil
	case !linked:
		return r.Root, nil
	}
	bare, err := r.Run(ctx, r.CommonDir, "rev-parse", "--is-bare-repository")
	if err != nil || bare == "true" {
		return "", err
	}
	return filepath.Dir(r.CommonDir), nil
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
