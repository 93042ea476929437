package diff_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPosition: a position changes with what a check can see of HEAD, the index and the
// tags, and with nothing else.
func TestPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*sandbox)
		want   string
	}{
		{"nothing", func(*sandbox) {}, ""},
		{"a look of git", func(s *sandbox) {
			s.must(os.Chtimes(s.path("a"), time.Time{}, time.Now().Add(time.Hour)))
			s.git("status")
			s.git("update-index", "--refresh")
		}, ""},
		{"another branch and a remote", func(s *sandbox) {
			s.git("branch", "other")
			s.git("update-ref", "refs/remotes/origin/main", "HEAD")
			s.git("update-ref", "refs/codeloops/x/1", "HEAD")
		}, ""},
		{"another form", func(s *sandbox) { s.git("pack-refs", "--all"); s.git("update-index", "--index-version", "4") }, ""},
		{"a split index", func(s *sandbox) { s.git("update-index", "--split-index") }, ""},
		{"staged", func(s *sandbox) { s.write("b", "b\n"); s.git("add", "b") }, "index"},
		{"to be added", func(s *sandbox) { s.write("b", "b\n"); s.git("add", "-N", "b") }, "index"},
		{"assumed", func(s *sandbox) { s.git("update-index", "--assume-unchanged", "a") }, "index"},
		{"skipped", func(s *sandbox) { s.git("update-index", "--skip-worktree", "a") }, "index"},
		{"a tag", func(s *sandbox) { s.git("tag", "v2") }, "tags"},
		{"a tag less", func(s *sandbox) { s.git("tag", "-d", "v1") }, "tags"},
		{"a tag moved", func(s *sandbox) {
			s.git("tag", "-f", "v1", s.git("commit-tree", "HEAD^{tree}", "-m", "x"))
		}, "tags"},
		{"a tag that is packed", func(s *sandbox) { s.git("tag", "v2"); s.git("pack-refs", "--all") }, "tags"},
		{"a commit", func(s *sandbox) { s.git("commit", "-q", "--allow-empty", "-m", "x") }, "HEAD"},
		{"a branch", func(s *sandbox) { s.git("checkout", "-q", "-b", "mine") }, "HEAD"},
		{"no branch", func(s *sandbox) { s.git("checkout", "-q", "--detach") }, "HEAD"},
		{"all of it", func(s *sandbox) { s.write("b", "b\n"); s.commit("b"); s.git("tag", "v2") }, "HEAD, index, tags"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write("a", "a\n")
			s.commit("first")
			s.git("branch", "-M", "main")
			s.git("tag", "v1")
			tree := s.begin()
			before, err := tree.Capture(t.Context())
			s.must(err)
			c.change(s)
			after, err := tree.Capture(t.Context())
			s.must(err)
			if got := strings.Join(after.Position.Since(before.Position), ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			again, err := tree.Capture(t.Context())
			s.must(err)
			if again.Position != after.Position {
				t.Errorf("another look finds %+v after %+v", again.Position, after.Position)
			}
		})
	}
}

// TestPositionOfAnOddIndex: flags of entries count equally in every form of an index.
func TestPositionOfAnOddIndex(t *testing.T) {
	t.Parallel()
	var digests []string
	for _, form := range [][]string{
		{"config", "x.y", "z"}, {"update-index", "--split-index"}, {"update-index", "--fsmonitor"}, {"update-index", "--index-version", "4"},
	} {
		s := newRepo(t)
		for _, name := range []string{"a", "b", "d/c"} {
			s.write(name, name+"\n")
		}
		s.git("add", "-A")
		s.git("update-index", "--assume-unchanged", "a")
		s.git("update-index", "--skip-worktree", "d/c")
		s.git(form...)
		c, err := s.begin().Capture(t.Context())
		s.must(err)
		digests = append(digests, c.Position.Index)
	}
	if slices.Sort(digests); len(slices.Compact(digests)) != 1 {
		t.Errorf("the same index has the digests %q", digests)
	}
}
