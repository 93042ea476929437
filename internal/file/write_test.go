package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// left returns what is in a directory, with links followed: the content by name.
func left(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, mode := range []fs.FileMode{0o600, 0o666, 0o444, 0o640} { // the umask and the old mode do not matter
		if err := Write(path, []byte(mode.String()), mode); err != nil {
			t.Fatal(err)
		}
		st, err := os.Lstat(path)
		if got := left(t, dir); err != nil || len(got) != 1 || got["f"] != mode.String() || os.PathSeparator == '/' && st.Mode() != mode {
			t.Errorf("%v: %v, %v, %v", mode, got, st, err)
		}
	}
}

func TestWriteReplacesLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "f"), filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(other, []byte("old"), 0o600), os.Symlink("other", path), Write(path, []byte("new"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := left(t, dir); got["f"] != "new" || got["other"] != "old" {
		t.Error(got)
	}
}

// TestWriteFails: a file that cannot be written completely stays as it was, and no part of it is left.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	torn := func(w io.Writer) error {
		_, err := io.WriteString(w, "ne")
		return errors.Join(err, full)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for name, put := range map[string]func(string, fs.FileMode, func(io.Writer) error) error{"Create": Create, "Replace": Replace} {
		if err := put(path, 0o600, torn); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
		if got := left(t, dir); len(got) > 0 {
			t.Errorf("%s left %v", name, got)
		}
	}
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, 0o600, torn); !errors.Is(err, full) {
		t.Error(err)
	}
	if got := left(t, dir); len(got) != 1 || got["f"] != "old" {
		t.Error(got)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "d"), nil, 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	if drafts, err := filepath.Glob(filepath.Join(dir, ".codeloops-*")); err != nil || len(drafts) > 0 {
		t.Error(drafts, err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	text := func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	}
	if err := Create(path, 0o600, text); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, 0o600, func(io.Writer) error { return nil }); !errors.Is(err, fs.ErrExist) {
		t.Errorf("it exists: %v", err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := Create(filepath.Join(dir, "link"), 0o600, text); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if got := left(t, dir); len(got) != 1 || got["f"] != "text" {
		t.Error(got)
	}
}
