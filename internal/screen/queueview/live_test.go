package queueview

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/screen/term"
)

// TestWaitsOn: the reason why a task waits is shown once, however often it is retried.
func TestWaitsOn(t *testing.T) {
	t.Parallel()
	for name, drawn := range map[string]bool{"lines": false, "drawn": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
			p := &Progress{
				Streams: &term.Streams{Err: &out, ErrTTY: drawn, Columns: 80}, Now: now, Of: func(queue.Repository) bool { return true },
			}
			watch, _, shown := p.Draw(queue.Backlog{}, now, func() queue.Budgets { return nil })
			r := queue.Record{Task: queue.Task{ID: "one"}, State: queue.Waiting}
			try := func(why string) {
				for _, step := range []func() error{
					func() error { return r.Begin(queue.Worker{Name: "w"}, now()) },
					func() error { return r.Later(now(), time.Minute, why) },
				} {
					if err := step(); err != nil {
						t.Fatal(err)
					}
					watch(r)
				}
			}
			try("the remote is away")
			try("the remote is away")
			try("the remote is away")
			try("the home is away")
			shown()
			for text, want := range map[string]int{"waiting: the remote is away": 1, "waiting: the home is away": 1} {
				if got := strings.Count(out.String(), text); got != want {
					t.Errorf("%q is shown %d times, want %d:\n%s", text, got, want, out.String())
				}
			}
		})
	}
}
