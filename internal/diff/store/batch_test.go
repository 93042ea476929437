package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// add adds so many blobs of many lengths and a tree of them.
func add(b *store.Batch, blobs int) (tree plumbing.Hash, content []byte) {
	for i := range blobs {
		id := b.Add(plumbing.BlobObject, []byte(strings.Repeat(fmt.Sprintf("line %d\n", i), i)))
		content = append(append(content, fmt.Sprintf("100644 %04d\x00", i)...), id[:]...)
	}
	return b.Add(plumbing.TreeObject, content), content
}

// TestBatch: what is written is there for git and for the store, of which one
// had looked before; few objects are loose, many are one pack.
func TestBatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ blobs, loose, packs int }{{blobs: 1, loose: 2}, {blobs: 132, loose: 133}, {blobs: 133, packs: 1}, {blobs: 300, packs: 1}} {
		g := newGitDir(t)
		s, other := g.store(), g.store()
		b := s.Batch()
		tree, content := add(b, c.blobs)
		add(b, c.blobs) // once more: it is the same
		if s.Has(t.Context(), tree) || other.Has(t.Context(), tree) {
			t.Error("a tree is there before it is written")
		}
		if err := b.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(g.git("", "ls-tree", tree.String()), " blob "); got != c.blobs {
			t.Errorf("git finds a tree of %d blobs, not %d", got, c.blobs)
		}
		for _, s := range []*store.Store{s, other} {
			if got, err := s.Tree(t.Context(), tree); err != nil || !bytes.Equal(got, content) || !s.Has(t.Context(), tree) {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
			if _, err := s.Blob(t.Context(), tree); err == nil {
				t.Error("a tree was read as a blob")
			}
		}
		g.git("", "fsck", "--strict", "--full")
		want := fmt.Sprintf("count: %d\nin-pack: %d\npacks: %d\ngarbage: 0", c.loose, c.packs*(c.blobs+1), c.packs)
		if got := count(g); got != want {
			t.Errorf("git counts\n%s\nwant\n%s", got, want)
		}
	}
}

// count tells how git sees the objects, and what it takes for none.
func count(g *gitDir) string {
	lines := strings.Split(g.git("", "count-objects", "-v"), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return !slices.Contains([]string{"count", "in-pack", "packs", "garbage"}, name)
	}), "\n")
}

// TestBatchIndex: git would have made the same index of the pack.
func TestBatchIndex(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	b := g.store().Batch()
	add(b, 500)
	if err := b.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	packs, _ := filepath.Glob(filepath.Join(g.objects(), "pack", "*.pack"))
	if len(packs) != 1 {
		t.Fatalf("packs %q", packs)
	}
	index := filepath.Join(t.TempDir(), "index")
	sum := g.git("", "index-pack", "--strict", "-o", index, packs[0])
	if want := "pack-" + sum + ".pack"; filepath.Base(packs[0]) != want {
		t.Errorf("the pack is called %s, not %s", filepath.Base(packs[0]), want)
	}
	want, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(strings.TrimSuffix(packs[0], "pack") + "idx")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("an index of %d bytes, %v; git's has %d", len(got), err, len(want))
	}
}

// TestBatchAfterAnother: git may have repacked between two of them, and keeps
// what a reference protects.
func TestBatchAfterAnother(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	s := g.store()
	var trees []plumbing.Hash
	for i := range 4 {
		b := s.Batch()
		tree, _ := add(b, 200+i)
		trees = append(trees, tree)
		if err := b.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.git("", "update-ref", "refs/keep/"+tree.String(), tree.String())
		if i%2 == 1 {
			g.git("", "gc", "-q", "--prune=now")
		}
	}
	for _, tree := range trees {
		if _, err := s.Tree(t.Context(), tree); err != nil || !s.Has(t.Context(), tree) {
			t.Errorf("tree %s: %v", tree, err)
		}
	}
	g.git("", "fsck", "--strict", "--full")
}

// TestBatchFails: of what cannot be written nothing is left.
func TestBatchFails(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	b := g.store().Batch()
	add(b, 200)
	packs := filepath.Join(g.objects(), "pack")
	if err := os.RemoveAll(packs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(packs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Write(t.Context()); err == nil || !strings.Contains(err.Error(), "201 objects") {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(g.objects(), "*", "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// TestBatchElsewhere: a directory of objects may have any name.
func TestBatchElsewhere(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	s := store.New(store.Options{ObjectsDir: filepath.Join(g.path, "elsewhere")})
	if err := os.Mkdir(filepath.Join(g.path, "elsewhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, blobs := range []int{1, 200} {
		b := s.Batch()
		tree, content := add(b, blobs)
		if err := b.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Tree(t.Context(), tree); err != nil || !bytes.Equal(got, content) || !s.Has(t.Context(), tree) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
