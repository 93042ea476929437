//go:build unix

package git

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPipe: a pipe in the place of a file that git reads counts as an empty one.
func TestPipe(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".gitignore", ".gitattributes"} {
		dir := t.TempDir()
		g := Git{Environ: os.Environ()}
		if _, err := g.In(t.Context(), dir, "init", "-q"); err != nil {
			t.Fatal(err)
		}
		sub := filepath.Join(dir, "sub")
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "a"), []byte("a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(filepath.Join(sub, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := g.In(t.Context(), dir, "add", "-A"); err != nil {
			t.Errorf("with a pipe %s: %v", name, err)
		}
		if out, err := g.In(t.Context(), dir, "ls-files"); err != nil || string(out) != "sub/a\n" {
			t.Errorf("with a pipe %s: %q, %v", name, out, err)
		}
	}
}

// TestPipeReference: a pipe in the place of a reference is none.
func TestPipeReference(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	heads := filepath.Join(dir, "refs", "heads")
	if err := os.MkdirAll(heads, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(heads, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if is, err := At(dir).Refs("refs/heads/pipe"); err != nil || len(is) > 0 {
		t.Errorf("%q, %v", is, err)
	}
}
