package store_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

func borrow(t *testing.T, g *gitDir, from string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.objects(), "info", "alternates"), []byte(from+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBlobOfAlternates(t *testing.T) {
	t.Parallel()
	first, second, third := newGitDir(t), newGitDir(t), newGitDir(t)
	loose := first.blob("far\n")
	packed := second.blob("near\n")
	second.git("", "gc", "-q")
	borrow(t, second, first.objects())
	relative, err := filepath.Rel(third.objects(), second.objects())
	if err != nil {
		t.Fatal(err)
	}
	borrow(t, third, "# a comment\n"+relative)
	s := third.store()
	checkBlob(t, s, loose, "far\n")
	checkBlob(t, s, packed, "near\n")
}

// TestAlternatesAsGit: what git finds along a chain, which begins anew in the
// middle, is found, and no more.
func TestAlternatesAsGit(t *testing.T) {
	t.Parallel()
	const length = 9
	var chain []*gitDir
	var blobs []plumbing.Hash
	for i := range length {
		g := newGitDir(t)
		chain, blobs = append(chain, g), append(blobs, g.blob("blob "+strconv.Itoa(i)))
	}
	for i, g := range chain[:length-1] {
		borrow(t, g, strconv.Quote(chain[i+1].objects())+"\n"+chain[0].objects()+"\nmissing")
	}
	borrow(t, chain[length-1], chain[length-1].objects())
	for i, g := range chain {
		s, found := g.store(), 0
		for j, id := range blobs {
			_, err := g.Run(t.Context(), g.path, []string{"cat-file", "-e", id.String()}, nil)
			if got := s.Has(t.Context(), id); got != (err == nil) {
				t.Errorf("repository %d finds blob %d: %t; git: %v", i, j, got, err)
			} else if got {
				checkBlob(t, s, id, "blob "+strconv.Itoa(j))
				found++
			}
		}
		if found == 0 || i == 0 && found == length {
			t.Errorf("repository %d finds %d", i, found)
		}
	}
}
