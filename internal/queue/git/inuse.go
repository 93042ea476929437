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

// InUse returns the work tree that has a branch checked out, or will have it again after a rebase or bisect; "" is none.
// Git itself does not report the latter, and fails on a work tree that is just being made.
func (r *Repo) InUse(ctx context.Context, branch string) (string, error) {
	all, err := os.ReadDir(filepath.Join(r.CommonDir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range all {
		admin := filepath.Join(r.CommonDir, "worktrees", e.Name())
		text, err := os.ReadFile(filepath.Join(admin, "gitdir"))
		if err != nil || !uses(admin, branch) {
			continue // it is incomplete, or another one
		}
		link := filepath.FromSlash(strings.TrimSuffix(string(text), "\n"))
		if !filepath.IsAbs(link) { // worktree.useRelativePaths
			link = filepath.Join(admin, link)
		}
		return filepath.Dir(link), nil
	}
	switch {
	case !uses(r.CommonDir, branch):
		return "", nil
	case r.found == nil || r.found.GitDir == r.CommonDir:
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
