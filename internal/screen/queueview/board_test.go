package queueview

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/queue"
	"codeloops/internal/screen/live"
	"codeloops/internal/screen/term"
)

// TestBoard: those that need the user come first, then those under way, those that wait, indented below what they wait
// for, and those that are done; keys choose one.
func TestBoard(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all := queue.Backlog{}
	add := func(id string, state queue.State, change func(*queue.Record)) {
		r := &queue.Record{Task: queue.Task{ID: id, Prompt: id + " in full\n\nmore", Added: now, Order: len(all), Cast: [][]string{{"claude"}}}, State: state, Since: now.Add(-time.Minute)}
		if change != nil {
			change(r)
		}
		all[id] = r
	}
	add("merged", queue.Merged, nil)
	add("last", queue.Waiting, func(r *queue.Record) { r.Task.After = []string{"next"} })
	add("next", queue.Waiting, func(r *queue.Record) { r.Task.After = []string{"runs"}; r.Task.Priority = 1 })
	add("runs", queue.Running, func(r *queue.Record) {
		r.Progress = queue.Progress{Iteration: 2, Phase: "ACTOR_EXECUTING", Dollars: 1.5}
	})
	add("asks", queue.NeedsHuman, func(r *queue.Record) { r.Why, r.Warnings = "which day?", []string{"a check was weakened"} })
	var out bytes.Buffer
	s := &term.Streams{Err: &out, ErrTTY: true, Columns: 100}
	terminal, _, release := live.Over(s)
	defer release()
	b := &board{all: all, said: map[string]string{}, keys: true}
	v := &View{Tasks: all, Holds: &queue.Holds{}, Now: now}
	draw := func() string {
		return ansi.Strip(strings.Join(b.draw(v, terminal, 100, 30), "\n"))
	}
	want := `  TASK              STATE          AGENT   DOING                     SINCE    COST
> asks in full      needs-human !  claude  which day?                1m 00s      -
  runs in full      running        claude  iteration 2 actor's turn  1m 00s  $1.50
    next in full    waiting        claude  after runs                1m 00s      -
      last in full  waiting        claude  after next                1m 00s      -
  merged in full    merged         claude                            1m 00s      -
  2 waiting, 1 running, 1 merged, 1 needs-human, $1.50
  ↑↓ Enter opens it, d its diff; s stop, f say, r retry, x cancel, a accept`
	if got := draw(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	} else {
		t.Log("\n" + got)
	}
	chooses(t, b, draw)
	if got := ansi.Strip(b.draw(v, terminal, 50, 30)[1]); !strings.Contains(got, "asks in full      needs-human !") {
		t.Errorf("on a narrow terminal: %q", got)
	}
	if lines := b.draw(v, terminal, 40, 7); len(lines) > 7 {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

// chooses presses keys on a board.
func chooses(t *testing.T, b *board, draw func() string) {
	t.Helper()
	press := func(keys ...string) (key Key, r *queue.Record, words string) {
		for _, k := range keys {
			key, r, words = b.press(k)
		}
		return key, r, words
	}
	if key, r, _ := press("k", "\x1b[B", "\r"); key != Open || r.Task.ID != "runs" {
		t.Errorf("%q, %+v", key, r)
	}
	if key, r, words := press("f", "o", "x", "\x7f", "k", "\r"); key != Say || r.Task.ID != "runs" || words != "ok" {
		t.Errorf("%q, %+v, %q", key, r, words)
	}
	if key, r, _ := press("x"); r != nil || !strings.Contains(draw(), "x again cancels runs") {
		t.Errorf("%q, %+v", key, r)
	}
	if key, r, _ := press("j", "x"); r != nil {
		t.Errorf("%q, %+v", key, r)
	}
	if key, r, _ := press("x"); key != Cancel || r.Task.ID != "next" {
		t.Errorf("%q, %+v", key, r)
	}
}
