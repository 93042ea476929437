package board_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/wording/hint"
)

// TestDamaged: a store that has lost files is named, with what can be done, and is no empty queue.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(stream, dir string) error
		want string // "": it goes on
	}{
		"none":                 {func(string, string) error { return nil }, ""},
		"an index overwritten": {func(stream, _ string) error { return overwrite(filepath.Join(stream, "msgs", "index.db"), 10) }, ""}, // the server makes it again
		"a block gone":         {func(stream, _ string) error { return os.Remove(filepath.Join(stream, "msgs", "1.blk")) }, "the hub has lost the backlog"},
		"a record overwritten": {func(stream, _ string) error { return overwrite(filepath.Join(stream, "msgs", "1.blk"), 20) }, "is damaged: "},
		"a value overwritten":  {func(stream, _ string) error { return overwrite(filepath.Join(stream, "msgs", "1.blk"), 100) }, "the store of the queue cannot be read"},
		"budgets gone": {func(stream, _ string) error {
			return os.RemoveAll(strings.Replace(stream, "KV_codeloops-tasks", "KV_codeloops-queue", 1))
		}, "the hub has lost the budgets"},
		"meta unreadable": {func(stream, _ string) error {
			return os.WriteFile(filepath.Join(stream, "meta.inf"), []byte("x"), 0o600)
		}, "is damaged: "},
		"without checksums": {func(stream, _ string) error { return os.Remove(filepath.Join(stream, "meta.sum")) }, "is damaged: "},
		"home gone":         {func(_, dir string) error { return os.Remove(filepath.Join(dir, "home")) }, "the tasks of the queue belong to the name in that file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if n, err := addTo(t, dir); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			streams, _ := filepath.Glob(filepath.Join(dir, "store", "jetstream", "*", "streams", "KV_codeloops-tasks"))
			if err := c.harm(streams[0], dir); err != nil {
				t.Fatal(err)
			}
			n, err := addTo(t, dir)
			if c.want == "" {
				if n != 2 || err != nil {
					t.Error(n, err)
				}
				return
			}
			if _, advice := hint.Of(err); err == nil || !strings.Contains(err.Error(), c.want) || !advice {
				t.Errorf("%d tasks, %v", n, err)
			}
		})
	}
}

// overwrite overwrites bytes of a file.
func overwrite(file string, at int64) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("XXXXXXXXXXXXXXXXXX"), at)
	return errors.Join(err, f.Close())
}

// addTo adds a task to the queue in a directory, and returns how many it then has.
func addTo(t *testing.T, dir string) (tasks int, err error) {
	t.Helper()
	h, err := hub.Open(dir)
	if err != nil {
		return 0, err
	}
	link, err := h.Connect(t.Context())
	if err != nil {
		return 0, err
	}
	defer link.Close()
	on, err := board.Open(t.Context(), link.Conn, board.Options{})
	if err != nil {
		return 0, err
	}
	if all, err := on.All(t.Context()); err != nil {
		return len(all), err
	}
	if _, err := on.Add(t.Context(), queue.Task{ID: time.Now().Format("150405.000000000"), Prompt: "x"}); err != nil {
		return 0, err
	}
	all, err := on.All(t.Context())
	return len(all), err
}
