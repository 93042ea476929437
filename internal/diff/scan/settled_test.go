package scan

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/store"
)

// scannerOf returns a scanner at one moment.
func scannerOf(root string, at time.Time) *Scanner {
	return &Scanner{
		Root: root, FileMode: true, Symlinks: true,
		Now:   func() time.Time { return at },
		Blobs: store.New(store.Options{}), Rules: ignore.New(ignore.Options{WorkTree: root}),
		Attributes: attr.New(attr.Options{WorkTree: root}),
	}
}

// TestUnsettled: what was changed a moment before it was looked at may change
// again without its stat showing it. It is not known by that, neither a file nor
// a directory.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dirs := clockOf(root).dirs // else they are listed each time
	name := filepath.Join(root, "f")
	if err := os.WriteFile(name, []byte("f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(root) // since when there is the file, which was written then or later
	if err != nil {
		t.Fatal(err)
	}
	const tick = 10 * time.Millisecond // of the slowest of clocks
	for later, want := range map[time.Duration]bool{time.Minute: true, tick: false, -time.Minute: false} {
		s := scannerOf(root, info.ModTime().Add(later))
		state, err := s.Scan(t.Context(), Known{})
		if err != nil {
			t.Fatal(err)
		}
		if got := state.Root.listing.stat != (Stat{}); got != (want && dirs) {
			t.Errorf("looked at %v after the change: the directory is known by its stat: %t", later, got)
		}
		if got := state.Root.file("f").trust == exact; got != want {
			t.Errorf("looked at %v after the change: the file is known by its stat: %t", later, got)
		}
	}
}
