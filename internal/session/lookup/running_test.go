package lookup

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/session"
)

// TestStranger: a command that holds the lock of a work tree for a moment, as a restore does, is not
// a run.
func TestStranger(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := filepath.Join(root, ".git")
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(git, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &host.Host{Environ: []string{"HOME=" + t.TempDir()}, Dir: root, Now: time.Now}
	tree := session.WorkTree{Root: root, GitDir: git, Own: h.Data("locks")}
	for holder, want := range map[string]bool{"restore": false, "2026-01-27T15-30-45Z_abcdef": true} {
		lock, err := tree.Acquire(holder, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		r, ok := (&Logs{Host: h}).stranger(nil)
		if ok != want || ok && (r.Lock.Session != holder || r.Lock.WorkTree != root) {
			t.Errorf("while %s holds the lock: %t, %+v", holder, ok, r)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if r, ok := (&Logs{Host: h}).stranger(nil); ok {
		t.Errorf("while nobody holds it: %+v", r)
	}
}
