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
