package diff_test

import (
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// TestSparseChanged: files that a sparse checkout takes out of the work tree, or brings in, are neither deleted nor
// added, also when the session is resumed; what else was done to them is.
func TestSparseChanged(t *testing.T) {
	t.Parallel()
	const told = "git may show or run something different"
	for name, c := range map[string]struct {
		begin, acts func(*sandbox)
		want, cut   string
	}{
		"narrowed": {nil, func(s *sandbox) {
			s.git("sparse-checkout", "set", "a")
			s.write("a/new", "new\n")
		}, "A a/new", "b/f b/g c/f"},
		"narrowed without a cone": {nil, func(s *sandbox) { s.git("sparse-checkout", "set", "--no-cone", "/*", "!/b/g", "!/top") }, "", "b/g top"},
		"narrowed, and committed": {nil, func(s *sandbox) {
			s.write("b/f", "other\n")
			s.git("commit", "-qam", "other")
			s.git("sparse-checkout", "set", "a")
		}, "D b/f", "b/g c/f"},
		"marked": {nil, func(s *sandbox) { s.git("update-index", "--skip-worktree", "b/f"); s.remove("b/f") }, "", "b/f"},
		"another in its place": {nil, func(s *sandbox) {
			s.git("sparse-checkout", "set", "a")
			s.write("b", "a file\n")
		}, "A b, D b/f, D b/g", "c/f"},
		"deleted": {nil, func(s *sandbox) {
			s.git("sparse-checkout", "set", "a", "b")
			s.remove("b/f")
		}, "D b/f", "c/f"},
		"widened": {narrow, func(s *sandbox) {
			s.git("sparse-checkout", "disable")
			s.write("b/new", "new\n")
		}, "A b/new", ""},
		"widened by one": {narrow, func(s *sandbox) { s.git("sparse-checkout", "add", "b") }, "", ""},
		"widened, and changed": {narrow, func(s *sandbox) {
			s.git("sparse-checkout", "disable")
			s.write("b/f", "other\n")
		}, "M b/f", ""},
		"moved": {narrow, func(s *sandbox) { s.git("sparse-checkout", "set", "c") }, "", "a/f"},
		"the user's own deletion": {func(s *sandbox) {
			narrow(s)
			s.remove("a/f")
		}, func(s *sandbox) { s.git("sparse-checkout", "disable"); s.git("checkout", "-q", "a/f") }, "A a/f", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			for _, f := range []string{"a/f", "b/f", "b/g", "c/f", "top"} {
				s.write(f, f+"\n")
			}
			s.commit("first")
			if c.begin != nil {
				c.begin(s)
			}
			tree := s.begin()
			began := s.kept(tree, "0")
			c.acts(s)
			for how, tree := range map[string]*diff.Tree{"": tree, "resumed: ": s.resumed(began)} {
				if how != "" && strings.HasPrefix(name, "the user's own") {
					continue // what the index had is not known any more
				}
				got := s.capture(tree)
				files, cut := inWords(t, got)
				if files != c.want || cut != c.cut && how == "" {
					t.Errorf("%schanged %q, want %q; left out %q, want %q", how, files, c.want, cut, c.cut)
				}
				if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, told) {
					t.Errorf("%swarnings %q", how, all)
				}
				before := s.onDisk()
				if len(got.Files) == 0 {
					s.restore(tree, loop.Change{State: tree.BaseState()})
					s.same(how+"restored", before)
				}
			}
		})
	}
}

// inWords lists the changed files, and those that a sparse checkout leaves out.
func inWords(t *testing.T, c loop.Change) (files, cut string) {
	t.Helper()
	var changed, left []string
	for _, f := range c.Files {
		changed = append(changed, strings.ToUpper(string(f.Status[:1]))+" "+f.Path)
	}
	for _, u := range c.Unshown {
		if u.Why != loop.CutOut || u.Status != loop.FileDeleted {
			t.Errorf("unshown: %+v", u)
		}
		left = append(left, u.Path)
	}
	return strings.Join(changed, ", "), strings.Join(left, " ")
}

// TestSparseRestored: a restore by another process takes nothing away that a sparse checkout has brought in, but what was
// made since.
func TestSparseRestored(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	for _, f := range []string{"a/f", "b/f", "c/f"} {
		s.write(f, f+"\n")
	}
	s.commit("first")
	narrow(s)
	began := s.kept(s.begin(), "0")
	s.git("sparse-checkout", "disable")
	s.write("b/f", "other\n")
	s.write("b/new", "new\n")
	s.commit("second")
	_, _, err := s.putBack(began)
	s.must(err)
	if s.exists("b/new") || !s.exists("c/f") || !s.exists("a/f") {
		t.Errorf("there is %v", s.onDisk())
	}
}

func narrow(s *sandbox) { s.git("sparse-checkout", "set", "a") }
