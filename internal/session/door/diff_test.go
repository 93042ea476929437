package door_test

import (
	"errors"
	"strings"
	"testing"

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
	watchers := func() int {
		run.mu.Lock()
		defer run.mu.Unlock()
		return run.watchers
	}
	if _, err := (&door.Client{Path: path, Watches: true}).Look(t.Context()); err != nil {
		t.Error(err)
	}
	for _, watches := range []bool{false, true} {
		(&door.Client{Path: path, Watches: watches}).Doing(t.Context())
		if n := watchers(); n != map[bool]int{true: 1}[watches] {
			t.Errorf("%d watchers, watched: %t", n, watches)
		}
	}
}
