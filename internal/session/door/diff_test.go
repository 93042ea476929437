package door_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"codeloops/internal/session/door"
)

// TestDiff: the diff is returned as it is, cut to the limit, and an error gives the reason.
func TestDiff(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	c := &door.Client{Path: path, Session: "the one"}
	long := strings.Repeat("+\x01 \"line\"\n", 1<<20)
	for _, patch := range []string{"", "+a\n", "+é\tb\n", long} {
		run.mu.Lock()
		run.patch = patch
		run.mu.Unlock()
		got, err := c.Diff(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if patch != long && got != patch {
			t.Errorf("got %q, want %q", got, patch)
		}
		if patch == long {
			whole, rest, cut := strings.Cut(got, "…")
			if !cut || len(whole) > 4<<20 || !strings.HasPrefix(long, whole) || !strings.HasSuffix(whole, "\n") || !strings.Contains(rest, "more") {
				t.Errorf("%d bytes are cut to %d, followed by %q", len(long), len(whole), rest)
			}
		}
	}
	run.mu.Lock()
	run.fails = errors.New("the disk is on fire")
	run.mu.Unlock()
	if _, err := c.Diff(t.Context()); err == nil || !strings.Contains(err.Error(), "on fire") {
		t.Errorf("a failing diff: %v", err)
	}
	if _, err := (&door.Client{Path: path, Session: "another"}).Diff(t.Context()); err == nil {
		t.Error("the diff of another session was returned")
	}
}

// TestWatched: a run learns that it is watched only from clients that show its changes.
func TestWatched(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	attend := func(watches bool, until func() bool) {
		ctx, end := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			(&door.Client{Path: path, Watches: watches}).Attend(ctx, time.Millisecond)
		}()
		for !until() {
			time.Sleep(time.Millisecond)
		}
		end()
		<-over
	}
	watchers := func() int {
		run.mu.Lock()
		defer run.mu.Unlock()
		return run.watchers
	}
	if _, err := (&door.Client{Path: path, Watches: true}).Look(t.Context()); err != nil {
		t.Error(err)
	}
	looks := 0
	attend(false, func() bool { looks++; return looks > 20 })
	if n := watchers(); n > 0 {
		t.Errorf("%d watchers, want none", n)
	}
	attend(true, func() bool { return watchers() > 2 })
}
