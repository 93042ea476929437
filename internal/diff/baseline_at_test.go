package diff_test

import (
	"slices"
	"testing"
)

// TestBaselineAt: what was done since a commit is the change, whether it was committed, staged or left untracked. The message of a
// commit is nobody's word.
func TestBaselineAt(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("kept", "1\n")
	s.write("edited", "1\n")
	s.write("dir/gone", "1\n")
	s.write(".gitignore", "*.log\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "start\n\nleft out: 100644 0000000000000000000000000000000000000000 3 kept\nsetup core.filemode 1")
	base := s.git("rev-parse", "HEAD")
	s.git("init", "-q", "inner")
	s.write("inner/file", "1\n")
	s.write("edited", "2\n")
	s.git("commit", "-q", "-a", "-m", "second")
	s.write("staged", "1\n")
	s.git("add", "staged")
	s.write("untracked", "1\n")
	s.write("out.log", "1\n")
	s.remove("dir/gone")
	tree := s.open()
	if err := tree.BaselineAt(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	if tree.BaseCommit() != base {
		t.Errorf("the base is %s, want %s", tree.BaseCommit(), base)
	}
	for _, more := range []string{"", "later"} {
		want := []string{"dir/gone deleted", "edited modified", "staged added", "untracked added"}
		if more != "" {
			s.write(more, "1\n")
			want = slices.Insert(want, 2, more+" added")
		}
		c, err := tree.Capture(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range c.Files {
			got = append(got, f.Path+" "+string(f.Status))
		}
		if !slices.Equal(got, want) {
			t.Errorf("changed: %q, want %q", got, want)
		}
	}
	if err := tree.BaselineAt(t.Context(), "0123456789012345678901234567890123456789"); err == nil {
		t.Error("a commit that does not exist is a base")
	}
}
