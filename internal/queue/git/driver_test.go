package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git/gittest"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// TestNoMergeDriver: a merge runs no driver of the repository's configuration, which an agent may have written, and
// conflicts are marked all the same.
func TestNoMergeDriver(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Git("config", "merge.mine.driver", "touch "+filepath.Join(r.State, "ran")+"; cp %B %A")
	r.Write(".gitattributes", "* merge=mine\n")
	r.Write("first", "1\n2\n3\n4\n5\n")
	base := r.Save("base")
	r.Write("first", "one\n2\n3\n4\n5\n")
	ours := r.Save("ours")
	r.Git("reset", "--quiet", "--hard", base)
	r.Write("first", "1\n2\n3\n4\nfive\n")
	theirs := r.Save("theirs")
	m, err := r.MergeTree(t.Context(), nil, ours, theirs)
	if err != nil || len(m.Files) > 0 {
		t.Fatalf("%v, %q", err, m.Files)
	}
	if text := r.Git("cat-file", "blob", m.Tree+":first"); text != "one\n2\n3\n4\nfive" {
		t.Errorf("merged to %q", text)
	}
	r.Write("first", "uno\n2\n3\n4\n5\n")
	m, err = r.MergeTree(t.Context(), nil, ours, r.Save("conflict"))
	if err != nil || len(m.Files) != 1 {
		t.Fatalf("%v, %q", err, m.Files)
	}
	if text := r.Git("cat-file", "blob", m.Tree+":first"); text != "<<<<<<< ours\none\n=======\nuno\n>>>>>>> theirs\n2\n3\n4\n5" {
		t.Errorf("merged to %q", text)
	}
	if _, err := os.Stat(filepath.Join(r.State, "ran")); err == nil {
		t.Error("the driver has run")
	}
}
