package worktree

import (
	"fmt"
	"os"
	"path/filepath"

	"codeloops/internal/view"
)

// Views returns the place for views of the work tree.
func (t *Tree) Views(starter view.Starter) *view.Place {
	home := t.host.Cache("views")
	for _, of := range t.Agents() {
		if Below(of, home) { // the home directory may be a work tree
			home = filepath.Join(os.TempDir(), fmt.Sprintf("codeloops-views-%d", os.Getuid()))
		}
	}
	return &view.Place{
		Root: t.Root(), GitDir: t.GitDir(), CommonDir: t.CommonDir(), Home: home, Starter: starter, Ignored: t.OutOfScope,
	}
}
