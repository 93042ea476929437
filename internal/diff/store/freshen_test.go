package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// age makes all objects as old as git lets what nothing refers to become.
func (g *gitDir) age() {
	g.t.Helper()
	old := time.Now().Add(-30 * 24 * time.Hour)
	must(g.t, filepath.WalkDir(g.objects(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, old, old)
	}))
}

// TestFreshen: git removes what nothing refers to and is old, and spares it when it
// was asked for, or written once more, wherever it is.
func TestFreshen(t *testing.T) {
	t.Parallel()
	const content = "nobody refers to it\n"
	id := store.Sum(plumbing.BlobObject, []byte(content))
	for _, use := range []struct {
		name   string
		spares bool
		do     func(*store.Store) bool
	}{
		{"looked for", false, func(s *store.Store) bool { return s.Has(t.Context(), id) }},
		{"asked for", true, func(s *store.Store) bool { return s.Freshen(t.Context(), plumbing.BlobObject, id) }},
		{"written", true, func(s *store.Store) bool {
			b := s.Batch()
			b.Add(plumbing.BlobObject, []byte(content))
			return b.Write(t.Context()) == nil
		}},
	} {
		for place, pack := range map[string][]string{
			"alone":             nil,
			"in a pack":         {"pack-objects", "-q", "objects/pack/pack"},
			"in a pack of such": {"repack", "-q", "--cruft", "-d"},
		} {
			t.Run(use.name+" "+place, func(t *testing.T) {
				t.Parallel()
				g := newGitDir(t)
				g.blob("somebody refers to it\n")
				g.git(content, "hash-object", "-w", "--stdin")
				g.age()
				cruft := "gc.cruftPacks=false"
				if pack != nil {
					g.git(id.String(), pack...)
					must(t, os.RemoveAll(g.loose(id)))
				}
				if place == "in a pack of such" { // which has times of its own
					cruft = "gc.cruftPacks=true"
				} else {
					g.age()
				}
				s := store.New(store.Options{ObjectsDir: g.objects(), Now: time.Now})
				if !use.do(s) {
					t.Error("it is not there")
				}
				g.git("", "-c", cruft, "gc", "-q", "--prune=2.weeks.ago")
				if got := s.Has(t.Context(), id); got != use.spares {
					t.Errorf("it is there after git gc: %t", got)
				}
				if s.Freshen(t.Context(), plumbing.BlobObject, plumbing.Hash{1}) {
					t.Error("what is nowhere is there")
				}
				must(t, s.Close())
			})
		}
	}
}
