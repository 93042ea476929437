package worktree

import (
	"fmt"
	"os"
	"path/filepath"

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
