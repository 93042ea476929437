package diff_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

// A disk knows what of the private repository is on it: files with their content, and
// directories with the names in them.
type disk struct {
	t     *testing.T
	files []os.FileInfo
	names map[string]bool
}

func (d *disk) sync(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		d.files = append(d.files, info)
		return nil
	}
	entries, err := os.ReadDir(f.Name())
	for _, e := range entries {
		d.names[filepath.Join(f.Name(), e.Name())] = true
	}
	return err
}

// cut leaves of a directory what is on the disk: other names are gone, and other files
// empty.
func (d *disk) cut(root string) {
	d.t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if !d.names[path] {
			if err := os.RemoveAll(path); err != nil || !e.IsDir() {
				return err
			}
			return fs.SkipDir
		}
		info, err := e.Info()
		for _, synced := range d.files {
			if e.IsDir() || os.SameFile(info, synced) {
				return err
			}
		}
		return os.WriteFile(path, nil, 0o600)
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// TestPowerCut: when a checkpoint has an id, all of it is on the disk; the user's
// repository is what it was.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/small", "small\n")
	s.write("big", strings.Repeat("0123456789\n", 1<<18)) // kept apart until then
	on := &disk{t: t, names: make(map[string]bool)}
	o := s.options()
	o.Sync = on.sync
	tree, err := diff.Open(t.Context(), s.root, o)
	s.must(err)
	defer tree.Close()
	s.must(tree.KeepIn(s.own))
	s.must(tree.Baseline(t.Context()))
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "start")
	s.must(err)
	s.append("d/small", "more\n")
	s.write("big", strings.Repeat("9876543210\n", 1<<18))
	c := s.capture(tree)
	last, err := tree.Checkpoint(t.Context(), c.State, "s/1", "one")
	s.must(err)
	s.write("late", strings.Repeat("late", 1<<19)) // is not yet on the disk
	s.capture(tree)
	on.cut(s.own)
	s.keptGit("fsck", "--strict", "--full")
	s.git("fsck", "--strict", "--full")
	s.git("gc", "-q", "--prune=now")
	s.remove("late")
	again := s.resumed(base)
	if got := s.capture(again); got.State != c.State || got.Patch() != c.Patch() {
		t.Errorf("resumed to\n%s", got.Patch())
	}
	state, err := again.Recall(t.Context(), last)
	if err != nil || state != c.State {
		t.Errorf("the last one is %s, %v; want %s", state, err, c.State)
	}
	if id, err := again.Checkpoint(t.Context(), c.State, "s/1", "one"); err != nil || s.keptGit("rev-parse", "refs/codeloops/s/1-2") != id {
		t.Errorf("kept again as %s, %v", id, err)
	}
}
