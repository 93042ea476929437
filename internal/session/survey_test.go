package session

import (
	"errors"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// survey1 surveys a store that can be read.
func survey1(t *testing.T, s *Store) []Overview {
	t.Helper()
	all, err := s.Survey()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A want is what is wanted of an overview.
type want struct {
	status     Status
	iterations int
	turns      int // of the actor, without counting; -1: not known
	counted    int
	err        bool // of the beginning
	problem    bool
}

// is reports whether an overview is as wanted, with so many turns of the actor.
func (w want) is(o Overview, turns int) bool {
	counted := -1
	if o.Tally != nil {
		counted = o.Tally.Actor.Turns
	}
	return o.Status == w.status && counted == turns && (o.Err != nil) == w.err && (o.Problem != nil) == w.problem &&
		o.Tells() == (!w.err || w.status == Status(loop.Success)) && o.Iterations == w.iterations
}

// TestSurvey: the first and the last line tell how each session went, whatever is between them. What
// only the whole log tells is counted on demand.
func TestSurvey(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	line := func(e loop.Event, totals *progress.Tally) string {
		return string(Entry{At: stamped(2), Event: e, Totals: totals}.line())
	}
	start := line(loop.Started{Session: loop.Session{Prompt: "p", WorkingDir: "/p"}}, nil)
	round := line(loop.IterationFinished{Round: firstRound()}, nil)
	end := loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Iterations: 1}}
	totals := &progress.Tally{Actor: progress.Part{Turns: 3}}
	wanted := map[string]want{}
	for id, c := range map[string]struct {
		log string
		want
	}{
		"ended":       {start + round + line(end, totals), want{Status(loop.Success), 1, 3, 3, false, false}},
		"damaged":     {start + "not JSON\n" + line(end, totals), want{Status(loop.Success), 1, 3, 3, false, false}},
		"original":    {start + round + line(end, nil), want{Status(loop.Success), 1, -1, 1, false, false}},
		"crashed":     {start + round, want{Crashed, 1, -1, 1, false, false}},
		"torn":        {start + round + round[:20], want{Crashed, 1, -1, 1, false, true}},
		"torn before": {start + round + "not JSON\n" + round[:20], want{Crashed, UnknownIterations, -1, 1, false, true}},
		"beheaded":    {"not JSON\n" + round + line(end, totals), want{Status(loop.Success), 1, 3, 3, true, false}},
		"foreign":     {"hello\n", want{Crashed, UnknownIterations, -1, -1, true, false}},
		"empty":       {"", want{Crashed, UnknownIterations, -1, -1, true, false}},
	} {
		writeFile(t, store.Path(id), c.log)
		wanted[id] = c.want
	}
	live := begin(t, store, "live", began, false)
	wanted[live.ID()] = want{Running, 0, -1, -1, false, false}
	all := survey1(t, store)
	if len(all) != len(wanted) {
		t.Errorf("%d sessions", len(all))
	}
	for _, o := range all {
		if w := wanted[o.ID]; !w.is(o, w.turns) {
			t.Errorf("%s: %+v, want %+v", o.ID, o, w)
		}
		if bad, ok := errors.AsType[*LineError](o.Problem); o.ID == "torn" && (!ok || bad.Line != 3 || !errors.Is(bad, ErrTorn)) {
			t.Errorf("%s: %v", o.ID, o.Problem)
		}
	}
	Count(all)
	for _, o := range all {
		w := wanted[o.ID]
		if o.ID == "torn before" {
			w.iterations = 1
		}
		if !w.is(o, w.counted) {
			t.Errorf("%s, counted: %+v, want %+v", o.ID, o, w)
		}
	}
}
