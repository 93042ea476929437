package worktree

import (
	"fmt"
	"os"
	"path/filepath"

	"codeloops/internal/wording/hint"
)

// RealDir returns where a working directory is. A link in its path may be turned
// elsewhere during a run: from here on nobody goes by it.
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

// Below reports whether a path is in a directory, or is the directory itself, wherever
// symbolic links lead and whatever names a directory has.
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

// Followed is where an absolute path leads, of which the last part may not be there
// yet.
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
