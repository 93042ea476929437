package worktree_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The copy has the bytes of the work tree, whatever git would make of them.
func TestBytes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.git(s.root, "config", "filter.loud.clean", "tr a-z A-Z")
	s.git(s.root, "config", "filter.loud.smudge", "cat")
	files := map[string]string{
		".gitattributes": "*.py ident\n*.txt working-tree-encoding=UTF-7\n*.up filter=loud\n*.crlf text\n",
		"a.py":           "x = 1  # $Id: code here $\n",
		"a.txt":          "#+AAo-assert\n",
		"a.up":           "quiet\n",
		"a.crlf":         "one\r\ntwo\n",
		"a.bin":          "\x00\xff\r\n",
	}
	for name, content := range files {
		s.write(name, content, 0o600)
	}
	s.write("d/run.sh", "echo\n", 0o700)
	c := s.copy("")
	state := s.state()
	s.write("a.crlf", "one\r\n", 0o600)
	files["a.crlf"] = "one\r\n"
	s.remove("README") // as it cannot be copied, it is checked out
	dir, err := c.Make(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	files["README"] = "hullo\n"
	for name, want := range files {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "d", "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
		t.Errorf("d/run.sh: %v, %v", info, err)
	}
}

// Nothing is read through a link that leads out of the work tree.
func TestLinksOut(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	outside := filepath.Join(filepath.Dir(s.root), "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "run.sh"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, state := s.copy(""), s.state()
	s.remove("sub")
	if err := os.Symlink(outside, filepath.Join(s.root, "sub")); err != nil {
		t.Skip(err)
	}
	dir, err := c.Make(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "sub/run.sh"); got != "echo hi\n" {
		t.Errorf("sub/run.sh holds %q", got)
	}
}

func (s *scene) remove(name string) {
	s.t.Helper()
	if err := os.RemoveAll(filepath.Join(s.root, name)); err != nil {
		s.t.Fatal(err)
	}
}
