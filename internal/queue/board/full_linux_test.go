package board_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
)

// A hub whose disk is full acknowledges nothing, says so, and goes on by itself when there is room. No acknowledged
// task is lost, and clients stay connected.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	h, err := hub.Open(filepath.Join(dir, "queue"))
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	served, err := h.Serve(t.Context(), hub.Options{Tell: func(s string) { said <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	link, err := h.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	on, err := board.Open(t.Context(), link.Conn, board.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	acknowledged, n := map[string]bool{}, 0
	for err = add(t, on, n, acknowledged); err == nil; err = add(t, on, n, acknowledged) {
		if n++; n > 1000 {
			t.Fatal("the disk does not become full")
		}
	}
	refuses(t, err, "add task task-", "is its disk full")
	if got := <-said; !strings.Contains(got, "the hub cannot write to its disk: ") || !strings.Contains(got, "no space left on device") {
		t.Errorf("said %q", got)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if got := <-said; !strings.Contains(got, "can write to its disk again") {
		t.Errorf("said %q", got)
	}
	for err = add(t, on, n, acknowledged); err != nil; err = add(t, on, n, acknowledged) { // until the client has reconnected
		t.Log(err)
	}
	keeps(t, on, acknowledged)
}

// keeps expects that no acknowledged task is lost.
func keeps(t *testing.T, on *board.Board, acknowledged map[string]bool) {
	t.Helper()
	all, err := on.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id := range acknowledged {
		if all[id] == nil {
			t.Errorf("%s was acknowledged, but is lost", id)
		}
	}
}

// add adds a task of 100 KiB.
func add(t *testing.T, on *board.Board, n int, acknowledged map[string]bool) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	task := queue.Task{Prompt: fmt.Sprintf("task %d\n%s", n, strings.Repeat("x", 100<<10)), Added: on.Now()}
	task.Name()
	_, err := on.Add(ctx, task)
	if err == nil || errors.Is(err, board.ErrThere) {
		acknowledged[task.ID] = true
		return nil
	}
	return err
}

// fill leaves one megabyte free on a file system.
func fill(t *testing.T, file string) {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(file), &s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, make([]byte, int64(s.Bavail)*s.Bsize-1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
}
