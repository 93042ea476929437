package board_test

import (
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
		"none":         {func(string, string) error { return nil }, ""},
		"a block gone": {func(stream, _ string) error { return os.Remove(filepath.Join(stream, "msgs", "1.blk")) }, "the hub has lost its tasks"},
		"meta unreadable": {func(stream, _ string) error {
			return os.WriteFile(filepath.Join(stream, "meta.inf"), []byte("x"), 0o600)
		}, "is damaged: "},
		"without checksums": {func(stream, _ string) error { return os.Remove(filepath.Join(stream, "meta.sum")) }, "is damaged: "},
		"home gone":         {func(_, dir string) error { return os.Remove(filepath.Join(dir, "home")) }, "the tasks of the queue belong to the name in that file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			open := func() (tasks int, err error) {
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
				if _, err := on.Add(t.Context(), queue.Task{ID: time.Now().Format("150405.000000000"), Prompt: "x"}); err != nil {
					return 0, err
				}
				all, err := on.All(t.Context())
				return len(all), err
			}
			if n, err := open(); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			streams, _ := filepath.Glob(filepath.Join(dir, "store", "jetstream", "*", "streams", "KV_codeloops-tasks"))
			if err := c.harm(streams[0], dir); err != nil {
				t.Fatal(err)
			}
			n, err := open()
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
