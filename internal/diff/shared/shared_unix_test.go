//go:build unix

package shared

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestMkdirAll: what is missing is made with the permissions asked for; what is
// there stays as it is, a link to elsewhere, too.
func TestMkdirAll(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	there, link := filepath.Join(dir, "there"), filepath.Join(dir, "link")
	for _, err := range []error{os.Mkdir(there, 0o700), os.Chmod(there, 0o751), os.Symlink(elsewhere, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"there/a/b", "there/a/b", "link", "there"} {
		if err := (Mode{bits: 0o640, exact: true}).MkdirAll(root, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path, want := range map[string]fs.FileMode{
		there: 0o751, filepath.Join(there, "a"): 0o750 | fs.ModeSetgid, filepath.Join(there, "a", "b"): 0o750 | fs.ModeSetgid,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode()&^fs.ModeDir != want&^fs.ModeDir {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	if err := (Mode{}).MkdirAll(root, "link/a"); err == nil {
		t.Error("a directory was made elsewhere")
	}
}
