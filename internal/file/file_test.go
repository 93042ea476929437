package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		how  Options
		want string
		err  error
	}{
		{"f", Options{Max: 5}, "hello", nil},
		{"f", Options{NoFollow: true, Max: 5}, "hello", nil},
		{"f", Options{Max: 4}, "", ErrTooLarge},
		{"link", Options{Max: 5}, "hello", nil},
		{"link", Options{NoFollow: true, Max: 5}, "", ErrNotRegular},
		{".", Options{Max: 5}, "", ErrNotRegular},
		{"none", Options{Max: 5}, "", fs.ErrNotExist},
	} {
		data, stamp, err := Read(filepath.Join(dir, c.name), c.how)
		if string(data) != c.want || !errors.Is(err, c.err) {
			t.Errorf("Read(%s, %+v) = %q, %v; want %q, %v", c.name, c.how, data, err, c.want, c.err)
		}
		if c.err == nil {
			fi, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if stamp != StampOf(fi) || stamp == (Stamp{}) {
				t.Errorf("Read(%s): stamp %+v, want %+v", c.name, stamp, StampOf(fi))
			}
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{path: false, path + "x": true, filepath.Join(path, "x"): true, filepath.Dir(path): false} {
		if _, _, err := Read(name, Options{}); Missing(err) != want {
			t.Errorf("Missing(%v) = %v, want %v", err, !want, want)
		}
	}
}

func TestStampBefore(t *testing.T) {
	t.Parallel()
	s := Stamp{Size: 1, Mtime: 1000, Ctime: 2000}
	for ns, want := range map[int64]bool{1500: false, 2000: false, 2001: true} {
		if got := s.Before(time.Unix(0, ns)); got != want {
			t.Errorf("Before(%d) = %v, want %v", ns, got, want)
		}
	}
}
