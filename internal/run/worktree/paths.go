package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// RealDir resolves the links in the path of a working directory. A link might be changed during a
// run, so from here on only the resolved path is used.
func RealDir(dir string) (string, error) {
	there, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("use the working directory: %w", err)
	}
	st, err := os.Stat(there)
	if err != nil {
		return "", fmt.Errorf("use the working directory: %w", err)
	}
	if !st.IsDir() {
		return "", hint.Errorf("name a directory", "the working directory %s is not a directory", dir)
	}
	return there, nil
}

// SessionDir is the working directory of a session. If that is gone, as after an agent has renamed it, it is the
// nearest one above it that is in the same repository, if that had the directory when the session began: a linked work
// tree that was removed is not part of the one around it.
func SessionDir(ctx context.Context, s loop.Session) (string, error) {
	dir, err := RealDir(s.WorkingDir)
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	for above := s.WorkingDir; above != filepath.Dir(above); {
		above = filepath.Dir(above)
		if info, err := os.Stat(above); err != nil || !info.IsDir() {
			continue
		}
		if r, err := git.Open(above, nil); err == nil && session.CheckpointsFor(r.Family) == s.Checkpoints && hadDir(ctx, r.WorkTree, s) {
			return RealDir(above)
		}
		break
	}
	return "", hint.Add(err, "was it moved? Put it back there, then try again")
}

// hadDir reports whether a repository's commit from the beginning of a session holds its working directory.
func hadDir(ctx context.Context, root string, s loop.Session) bool {
	within, err := filepath.Rel(root, s.WorkingDir)
	if err != nil || s.BaseCommit == "" {
		return false
	}
	_, err = git.Git{Environ: os.Environ()}.In(ctx, root, "cat-file", "-e", s.BaseCommit+":"+filepath.ToSlash(within))
	return err == nil
}

// Below reports whether a path is in a directory, or is the directory itself, whatever symbolic
// links and alternative names are involved.
func Below(dir, path string) bool {
	top, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for there := Followed(path); ; there = filepath.Dir(there) {
		if st, err := os.Stat(there); err == nil && os.SameFile(top, st) {
			return true
		}
		if there == filepath.Dir(there) {
			return false
		}
	}
}

// Followed resolves the links in an absolute path, whose last elements need not exist yet.
func Followed(path string) string {
	for there, rest := path, ""; ; there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest) {
		if resolved, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(resolved, rest)
		}
		if there == filepath.Dir(there) {
			return path
		}
	}
}
