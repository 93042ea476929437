package store_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// TestForged: an object whose content does not match its name is never returned, loose or
// packed, by us or by git.
func TestForged(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(g *gitDir, id, with plumbing.Hash){
		"alone": func(g *gitDir, id, with plumbing.Hash) {
			must(g.t, os.Remove(g.loose(id)))
			must(g.t, os.Link(g.loose(with), g.loose(id)))
		},
		"larger than it is": func(g *gitDir, id, _ plumbing.Hash) {
			must(g.t, os.Remove(g.loose(id)))
			var b bytes.Buffer
			z := zlib.NewWriter(&b)
			_, err := fmt.Fprintf(z, "blob %d\x00harmless\n", store.Large+1)
			must(g.t, errors.Join(err, z.Close(), os.WriteFile(g.loose(id), b.Bytes(), 0o600)))
		},
		"in a pack": func(g *gitDir, id, with plumbing.Hash) {
			g.git("", "gc", "-q")
			g.mislead(id, with)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitDir(t)
			id, with := g.blob("harmless\n"), g.blob("harmful!\n")
			forge(g, id, with)
			for _, promised := range []store.Git{nil, g} {
				s := store.New(store.Options{ObjectsDir: g.objects(), Git: g, Dir: g.path, Promised: promised})
				if content, err := s.Blob(t.Context(), id); err == nil || errors.Is(err, store.ErrLarge) {
					t.Errorf("%q, %v", content, err)
				}
				if content, err := s.Blob(t.Context(), with); err != nil || string(content) != "harmful!\n" {
					t.Errorf("%q, %v", content, err)
				}
				must(t, s.Close())
			}
		})
	}
}

// TestLargeClaimed: an object counts as too large only after all of it was read, even if
// git says so: git trusts the size of an object that is truncated.
func TestLargeClaimed(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	id := g.blob("harmful!\n")
	must(t, os.Remove(g.loose(id)))
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := fmt.Fprintf(z, "blob %d\x00harmless\n", store.Large+1)
	must(t, errors.Join(err, z.Close(), os.WriteFile(g.loose(id), b.Bytes()[:b.Len()-4], 0o600)))
	s := g.store()
	if content, err := s.Blob(t.Context(), id); err == nil || errors.Is(err, store.ErrLarge) {
		t.Errorf("%q, %v", content, err)
	}
	if g.runs.Load() == 0 {
		t.Error("git was not asked")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (g *gitDir) loose(id plumbing.Hash) string {
	name := id.String()
	return filepath.Join(g.objects(), name[:2], name[2:])
}

// mislead makes the index of the only pack point from an object to another one.
func (g *gitDir) mislead(id, to plumbing.Hash) {
	g.t.Helper()
	const header, name, sum, offset = 8 + 256*4, 20, 4, 4
	files, err := filepath.Glob(filepath.Join(g.objects(), "pack", "*.idx"))
	must(g.t, err)
	if len(files) != 1 {
		g.t.Fatalf("packs %q", files)
	}
	index, err := os.ReadFile(files[0])
	must(g.t, err)
	count := int(index[header-1]) // less than 256
	at := func(id plumbing.Hash) []byte {
		for i := range count {
			if slices.Equal(index[header+i*name:][:name], id[:]) {
				return index[header+count*(name+sum)+i*offset:][:offset]
			}
		}
		g.t.Fatalf("%s is not in the pack", id)
		return nil
	}
	copy(at(id), at(to))
	must(g.t, os.Remove(files[0]))
	must(g.t, os.WriteFile(files[0], index, 0o444))
}
