package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// workTreeFiles makes a work tree with one regular file, sub/a.sh. It returns the tree, the names
// in it that must not be opened, and a file outside of it.
func workTreeFiles(t *testing.T) (w Files, refused []string, secret string) {
	t.Helper()
	outside, dir := t.TempDir(), t.TempDir()
	secret = filepath.Join(outside, "secret")
	for _, file := range []string{secret, filepath.Join(dir, "sub", "a.sh"), filepath.Join(dir, "large")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("text\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "large"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	refused = []string{"large", "sub", "missing", "../" + filepath.Base(outside) + "/secret", secret}
	if runtime.GOOS == "windows" {
		return Files{dir}, refused, secret
	}
	for name, target := range map[string]string{"link": secret, "inner": "sub/a.sh", "out": outside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return Files{dir}, append(refused, "link", "inner", "out/secret"), secret
}

func TestFilesStayInside(t *testing.T) {
	t.Parallel()
	w, refused, secret := workTreeFiles(t)
	for _, path := range refused {
		if content, err := w.Read(path); err == nil {
			t.Errorf("%s can be read: %.20q", path, content)
		}
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "text\n" {
		t.Errorf("the file outside has %q, %v", text, err)
	}
}

func TestFilesRead(t *testing.T) {
	t.Parallel()
	w, _, _ := workTreeFiles(t)
	if got, err := w.Read("sub/a.sh"); err != nil || string(got) != "text\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
