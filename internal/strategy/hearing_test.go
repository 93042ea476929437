package strategy_test

import (
	"errors"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// said is what the user says during a run.
const said = "and use library B"

// TestHearing: no strategy is done before somebody who works was told what the user has said, and
// its last critic judges by that, whenever it is said and wherever the power fails after that.
func TestHearing(t *testing.T) {
	t.Parallel()
	for name, c := range courses(t) {
		if c.reason != loop.StopDone {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.strategy = strategy.Hearing(c.strategy)
			for at := 1; c.hears(t, at, -1); at++ {
				for crash := at; c.hears(t, at, crash); crash += 9 {
				}
			}
		})
	}
}

// hears runs a course in which the user says something at an event and the power fails later. It
// reports whether the course has so many events.
func (c course) hears(t *testing.T, at, crash int) bool { //nolint:gocyclo // the steps belong together, and read top to bottom
	t.Helper()
	w, events, heard := newWorld(), 0, false
	w.limit = 30
	if c.world != nil {
		c.world(w)
	}
	w.left = crash
	w.at = func() {
		if events++; events == at {
			heard = w.steering.Steer(loop.SteerSay, said) == nil
		}
	}
	s := loop.Session{ID: "s", Prompt: "do it"}
	out, err := w.loop(c.strategy).Run(t.Context(), s)
	reached := events >= at && (crash < 0 || err != nil)
	if err != nil {
		if !errors.Is(err, errCrash) {
			t.Fatalf("said at %d: %v", at, err)
		}
		heard = w.logged
		w.left, w.at, w.steering = -1, nil, loop.Steering{}
		out, err = w.loop(c.strategy).Resume(t.Context(), s, w.journal.Clone())
	}
	if err == nil {
		err = w.grammar.End()
	}
	if err != nil || out.Reason != loop.StopDone && out.Reason != loop.StopMaxIterations || w.told != heard || len(w.trees) != 1 {
		t.Fatalf("said at %d, crash at %d: heard %t, told %t, %+v, %v\n%q", at, crash, heard, w.told, out, err, w.notes)
	}
	if heard && w.judging != "" && !strings.Contains(w.judging, said) {
		t.Fatalf("said at %d, crash at %d: the last critic judges %q", at, crash, w.judging)
	}
	return reached
}
