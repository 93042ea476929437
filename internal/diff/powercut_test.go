package diff_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

// A disk records what has been synced of the private repository: the content of files and
// the names in directories.
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

// cut leaves in a directory only what was synced: other names are removed, and other
// files emptied.
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

// TestPowerCut: once a checkpoint has an ID, it survives a power cut completely, and the
// user's repository is unchanged.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("d/small", "small\n")
	s.write("big", strings.Repeat("0123456789\n", 1<<18)) // stored apart until the checkpoint
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
	s.write("late", strings.Repeat("late", 1<<19)) // not yet on the disk
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
	state, err := again.Recall(last)
	if err != nil || state != c.State {
		t.Errorf("the last state is %s, %v; want %s", state, err, c.State)
	}
	if id, err := again.Checkpoint(t.Context(), c.State, "s/1", "one"); err != nil || s.keptGit("rev-parse", "refs/codeloops/s/1-2") != id {
		t.Errorf("another checkpoint is %s, %v", id, err)
	}
}
