package board_test

import (
	"fmt"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
)

// BenchmarkList does what `queue list` does without a running hub: it opens a queue of 10,000 tasks, reads all
// records, and closes it.
func BenchmarkList(b *testing.B) {
	home, err := hub.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	open := func() (*hub.Link, *board.Board) {
		link, err := home.Connect(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		on, err := board.Open(b.Context(), link.Conn, board.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return link, on
	}
	link, on := open()
	const tasks = 10_000
	for i := range tasks {
		task := queue.Task{Prompt: fmt.Sprintf("task number %d is about something", i), Repository: queue.Repository{Home: home.ID(), Root: "/r"}, Added: time.Now(), Order: i}
		task.Name()
		if _, err := on.Add(b.Context(), task); err != nil {
			b.Fatal(err)
		}
	}
	if err := link.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		link, on := open()
		if all, err := on.All(b.Context()); err != nil || len(all) != tasks {
			b.Fatal(len(all), err)
		}
		if err := link.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
