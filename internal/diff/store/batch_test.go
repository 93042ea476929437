package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/store"
)

// add adds a number of blobs of various lengths, and a tree of them.
func add(t *testing.T, b *store.Batch, blobs int) (tree plumbing.Hash, content []byte) {
	t.Helper()
	for i := range blobs {
		id, err := b.Add(plumbing.BlobObject, []byte(strings.Repeat(fmt.Sprintf("line %d\n", i), i)))
		must(t, err)
		content = append(append(content, fmt.Sprintf("100644 %04d\x00", i)...), id[:]...)
	}
	tree, err := b.Add(plumbing.TreeObject, content)
	must(t, err)
	return tree, content
}

func batch(t *testing.T, s *store.Store) *store.Batch {
	t.Helper()
	b, err := s.Batch()
	must(t, err)
	return b
}

// TestBatch: a written batch is a single pack that git and all open stores can read, with
// the same index that git would write.
func TestBatch(t *testing.T) {
	t.Parallel()
	for _, blobs := range []int{1, 300} {
		g, own := newGitDir(t), filepath.Join(t.TempDir(), "a", "own.git")
		s, other := g.store(), g.store()
		must(t, s.KeepIn(own))
		must(t, other.KeepIn(own))
		other.Has(t.Context(), plumbing.Hash{1})
		b := batch(t, s)
		tree, content := add(t, b, blobs)
		add(t, b, blobs) // adding it again changes nothing
		if s.Has(t.Context(), tree) || other.Has(t.Context(), tree) {
			t.Error("a tree is there before it is written")
		}
		must(t, b.Write(t.Context()))
		for _, s := range []*store.Store{s, other} {
			if got, err := s.Tree(t.Context(), tree); err != nil || !bytes.Equal(got, content) || !s.Has(t.Context(), tree) {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
			if _, err := s.Blob(t.Context(), tree); err == nil {
				t.Error("a tree was read as a blob")
			}
		}
		must(t, b.Refer("refs/s/1", tree))
		g.git("", "--git-dir="+own, "fsck", "--strict", "--full")
		packs, _ := filepath.Glob(filepath.Join(own, "objects", "pack", "*"))
		if len(packs) != 2 {
			t.Fatalf("packs %q", packs)
		}
		index := filepath.Join(t.TempDir(), "index")
		g.git("", "index-pack", "--strict", "-o", index, packs[1])
		want, err := os.ReadFile(index)
		must(t, err)
		if got, err := os.ReadFile(packs[0]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("an index of %d bytes, %v; git's has %d", len(got), err, len(want))
		}
		if info, err := os.Stat(own); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may look: %v, %v", info.Mode(), err)
		}
	}
}

// TestTake: objects of the user's repository are copied even if they are large, and only
// once.
func TestTake(t *testing.T) {
	t.Parallel()
	g, own := newGitDir(t), filepath.Join(t.TempDir(), "own.git")
	ids := []plumbing.Hash{g.blob(strings.Repeat("x", store.Large+1))}
	sizes := []int64{store.Large + 1}
	for i := range 150 {
		ids, sizes = append(ids, g.blob(fmt.Sprintf("blob %d\n", i))), append(sizes, 7)
	}
	g.git("", "gc", "-q")
	s := g.store()
	must(t, s.KeepIn(own))
	b := batch(t, s)
	for i, id := range ids {
		must(t, b.Take(id, "a\npath", sizes[i]))
	}
	must(t, b.Write(t.Context()))
	b = batch(t, s)
	for i, id := range ids {
		if !b.Owns(id) {
			t.Errorf("%d is not there", i)
		}
	}
	if b.Owns(plumbing.Hash{1}) {
		t.Error("it owns an object that does not exist")
	}
	must(t, b.Write(t.Context()))
	must(t, os.RemoveAll(g.objects()))
	checkLarge(t, s, ids[0], store.Large+1)
	checkBlob(t, s, ids[1], "blob 0\n")
}

// TestLooseCopied: a batch copies a loose object into its pack, and one that a power cut has emptied
// is written again.
func TestLooseCopied(t *testing.T) {
	t.Parallel()
	g, own := newGitDir(t), filepath.Join(t.TempDir(), "own.git")
	content := strings.Repeat("x", 1<<20+1) // too much for the memory
	id := store.Sum(plumbing.BlobObject, []byte(content))
	loose := filepath.Join(own, "objects", id.String()[:2], id.String()[2:])
	for range 2 {
		s := g.store()
		must(t, s.KeepIn(own))
		must(t, s.Keep(id, []byte(content)))
		b := batch(t, s)
		if b.Owns(id) {
			t.Error("a loose object counts as synced")
		}
		must(t, b.Take(id, "path", 0))
		must(t, os.Rename(loose, loose+"~"))
		must(t, os.WriteFile(loose, nil, 0o600))
		must(t, s.Keep(id, []byte(content)))
		must(t, b.Write(t.Context()))
		if !b.Owns(id) {
			t.Error("it is not in a pack")
		}
		checkBlob(t, s, id, content)
		must(t, os.RemoveAll(filepath.Join(own, "objects", "pack")))
		must(t, os.Mkdir(filepath.Join(own, "objects", "pack"), 0o700))
	}
}

// TestTakeMissing: an object that exists nowhere is reported with its path.
func TestTakeMissing(t *testing.T) {
	t.Parallel()
	g := newGitDir(t)
	s := g.store()
	b := batch(t, s)
	for i := range 200 {
		must(t, b.Take(plumbing.Hash{byte(i), 1}, fmt.Sprintf("file %d", i), 1))
	}
	if err := b.Write(t.Context()); err == nil || !strings.Contains(err.Error(), "file 0") {
		t.Errorf("error %v", err)
	}
}

// TestBatchFails: a batch that cannot be written leaves no files behind.
func TestBatchFails(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "own.git")
	s := newGitDir(t).store()
	must(t, s.KeepIn(own))
	b := batch(t, s)
	add(t, b, 200)
	packs := filepath.Join(own, "objects", "pack")
	must(t, os.RemoveAll(packs))
	must(t, os.WriteFile(packs, nil, 0o600))
	if err := b.Write(t.Context()); err == nil || !strings.Contains(err.Error(), "201 objects") {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(own, "objects", "*", "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// TestRefer: an existing reference, packed or loose, and a stale lock stay in place, and
// the new reference gets a number.
func TestRefer(t *testing.T) {
	t.Parallel()
	g, own := newGitDir(t), filepath.Join(t.TempDir(), "own.git")
	s := g.store()
	must(t, s.KeepIn(own))
	var ids []plumbing.Hash
	for i := range 4 {
		b := batch(t, s)
		tree, _ := add(t, b, i+1)
		must(t, b.Write(t.Context()))
		ids = append(ids, tree)
	}
	b := batch(t, s)
	git := func(args ...string) string { return g.git("", append([]string{"--git-dir=" + own}, args...)...) }
	if got := s.Newest("refs/s/"); !got.IsZero() {
		t.Errorf("without references the newest is %s", got)
	}
	must(t, b.Refer("refs/s/1/9", ids[0]))
	must(t, b.Refer("refs/s/1/9", ids[1]))
	git("pack-refs", "--all")
	must(t, b.Refer("refs/s/1/9", ids[2]))
	must(t, os.WriteFile(filepath.Join(own, "refs", "s", "1", "10.lock"), nil, 0o600))
	must(t, b.Refer("refs/s/1/10", ids[3]))
	want := fmt.Sprintf("%s refs/s/1/10-2\n%s refs/s/1/9\n%s refs/s/1/9-2\n%s refs/s/1/9-3", ids[3], ids[0], ids[1], ids[2])
	if got := git("for-each-ref", "--format=%(objectname) %(refname)"); got != want {
		t.Errorf("references\n%s\nwant\n%s", got, want)
	}
	if got := s.Newest("refs/s/"); got != ids[3] {
		t.Errorf("the newest is %s", got)
	}
	for _, name := range []string{"", "s/", "refs/../x", "refs/a b", "refs/x.lock"} {
		if err := b.Refer(name, ids[0]); err == nil {
			t.Errorf("%q is no error", name)
		}
	}
}
