package diff_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff"
)

// rewrite gives a file other content of the same length, and restores its time.
func rewrite(tb testing.TB, name string) {
	tb.Helper()
	info, err := os.Stat(name)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Repeat("x", int(info.Size()))), info.Mode()); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, info.ModTime()); err != nil {
		tb.Fatal(err)
	}
}

// TestCopyOf: a copy of a captured work tree is taken to be in the captured state. Only
// the files that the caller names as changed, or that were written recently, are read.
func TestCopyOf(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.clock = keeping(true)
	for _, name := range []string{"changed", "copied", "said", "dir/later", "sub/f"} {
		s.write(name, name+"\n")
	}
	s.commit("first")
	s.longAgo()
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "")
	s.must(err)
	s.append("changed", "more\n")
	c, err := tree.Capture(t.Context())
	s.must(err)
	_, err = tree.Checkpoint(t.Context(), c.State, "s/1", "")
	s.must(err)

	for name, test := range map[string]struct {
		now  time.Duration // relative to the clock
		want []string
	}{
		"known": {time.Hour, []string{"changed", "said"}}, // to the clock, the files are old
		"young": {-time.Hour, []string{"changed", "copied", "said"}},
	} {
		copied := s.copyOf(name)
		rewrite(t, filepath.Join(copied, "copied"))
		rewrite(t, filepath.Join(copied, "said"))
		o := s.options()
		o.Clock, o.Now = keeping(true), func() time.Time { return time.Now().Add(test.now) }
		again, err := diff.Open(t.Context(), copied, o)
		s.must(err)
		s.must(again.KeepIn(s.own))
		s.must(again.Resume(t.Context(), base))
		again.CopyOf(tree, c.State, []string{"said"})
		now, err := again.Capture(t.Context())
		s.must(err)
		var got []string
		for _, f := range now.Files {
			got = append(got, f.Path)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: changed are %q, want %q", name, got, test.want)
		}
		s.must(os.WriteFile(filepath.Join(copied, "dir", "later"), []byte("longer than before"), 0o600))
		if now, err = again.Capture(t.Context()); err != nil || len(now.Files) != len(test.want)+1 {
			t.Errorf("%s: then %d files have changed, %v", name, len(now.Files), err)
		}
		s.must(again.Close())
	}
}
