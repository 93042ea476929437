package view

import (
	"os"
	"path/filepath"

	"codeloops/internal/wording"
)

// homeName matches the name of a directory for the views of one work tree.
var homeName = wording.Pattern(`^([0-9a-f]{16}|doctor)$`)

// Left returns the directories with views in a home of views. It does not know who uses them.
func Left(home string) (dirs []string) {
	if info, err := os.Lstat(home); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(home) // what cannot be read cannot be removed
	for _, e := range entries {
		if e.IsDir() && homeName().MatchString(e.Name()) {
			dirs = append(dirs, filepath.Join(home, e.Name()))
		}
	}
	return dirs
}

// Remove removes a directory with views or a copy, whatever rights commands have taken away in it.
// No link is followed.
func Remove(dir string) error { return removeMany(dir) }
