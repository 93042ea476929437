//go:build unix

package diff_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/diff/restore"
)

// TestWork: applying the change from then to done to the files here merges content and
// mode. Each is a file's content and mode, "" for no file. want is the result, or "both"
// for a conflict.
func TestWork(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, then, done, here, want string }{
		{"content", "a 0644", "b 0644", "a 0644", "b 0644"},
		{"added", "", "b 0640", "", "b 0640"},
		{"gone", "a 0644", "", "a 0644", ""},
		{"not-theirs", "a 0644", "a 0644", "c 0600", "c 0600"},
		{"hidden-mode-here", "a 0644", "b 0644", "a 0600", "b 0600"},
		{"mode-here", "a 0644", "b 0644", "a 0755", "b 0755"},
		{"mode-taken-here", "a 0755", "b 0755", "a 0644", "b 0644"},
		{"mode-there", "a 0644", "a 0755", "a 0644", "a 0755"},
		{"hidden-mode-there", "a 0644", "b 0600", "a 0644", "b 0600"},
		{"same-mode", "a 0644", "b 0600", "a 0600", "b 0600"},
		{"same-program", "a 0644", "b 0755", "a 0755", "b 0755"},
		{"same-all", "a 0644", "b 0644", "b 0644", "b 0644"},
		{"modes", "a 0644", "b 0755", "a 0600", "both"},
		{"hidden-modes", "a 0644", "b 0600", "a 0640", "both"},
		{"contents", "a 0644", "b 0644", "c 0644", "both"},
		{"added-too", "", "b 0644", "c 0644", "both"},
		{"gone-here", "a 0644", "b 0644", "", "both"},
		{"gone-there", "a 0644", "", "c 0644", "both"},
	}
	s := newRepo(t)
	put := func(name, file string) {
		t.Helper()
		if s.remove(name); file == "" {
			return
		}
		var mode os.FileMode
		content, text, _ := strings.Cut(file, " ")
		if _, err := fmt.Sscanf(text, "%o", &mode); err != nil {
			t.Fatal(err)
		}
		s.write(name, content)
		s.chmod(name, mode)
	}
	found := func(name string) string {
		content, err := os.ReadFile(s.path(name))
		if err != nil {
			return ""
		}
		info, err := os.Stat(s.path(name))
		s.must(err)
		return fmt.Sprintf("%s %04o", content, info.Mode().Perm())
	}
	for _, c := range cases {
		put(c.name, c.then)
	}
	tree := s.begin()
	then := s.kept(tree, "then")
	for _, c := range cases {
		put(c.name, c.done)
	}
	done := s.kept(tree, "done")
	for _, c := range cases {
		put(c.name, c.here)
	}
	from, err := tree.Recall(then)
	s.must(err)
	to, err := tree.Recall(done)
	s.must(err)
	work, err := tree.Work(t.Context(), from, to)
	s.must(err)
	for mode, same := range map[os.FileMode]bool{0o600: false, 0o644: true} { // the mode of a file whose mode the work does not change
		s.chmod("content", mode)
		again, err := tree.Work(t.Context(), from, to)
		s.must(err)
		if again.Same(work) != same {
			t.Errorf("with the permissions %o the work is the same: %v", mode, !same)
		}
	}
	s.chmod("content", 0o644)
	_, err = s.keep().Restore(t.Context(), s.root, restore.Plan{Changes: slices.DeleteFunc(work.Changes, func(c restore.PathChange) bool {
		return slices.Contains(work.Conflicts, c.Path)
	})})
	s.must(err)
	for _, c := range cases {
		got := found(c.name)
		if slices.Contains(work.Conflicts, c.name) {
			got = "both"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
