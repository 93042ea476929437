package store_test

import (
	"os"
	"path/filepath"
	"testing"
)

func borrow(t *testing.T, g *gitDir, from string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.objects(), "info", "alternates"), []byte(from+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBlobOfAlternates: blobs are found through chains of alternates, also relative ones.
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
