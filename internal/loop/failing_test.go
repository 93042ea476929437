package loop_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestFailsTwiceInTheSameWords: an actor that fails twice with the same message ends the run, after
// one review. If it says something else or changes a file, the run goes on.
func TestFailsTwiceInTheSameWords(t *testing.T) {
	t.Parallel()
	failed := func(reason string) loop.Attempt {
		return loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndFailed, Reason: reason}, Execution: loop.Execution{ExitCode: 1}}}
	}
	gone := failed("model opus-9 not found (req_011CQ7)")
	other := failed("model opus-9 not found")
	other.ExitCode = 2
	tried := func(a loop.Attempt, reason string) loop.Attempt {
		a.Misses = []loop.Try{{Ending: loop.EndFailed, Reason: reason}}
		return a
	}
	again := loop.Review{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "go on"}}
	for name, c := range map[string]struct {
		attempts []loop.Attempt
		works    bool // the actor changes something each time
		reason   loop.StopReason
		reviews  int
		says     string
	}{
		"twice":            {[]loop.Attempt{gone, failed("model opus-9 not found (req_022CQ8)")}, false, loop.StopActorFailed, 1, "model opus-9 not found (req_022CQ8)"},
		"later":            {[]loop.Attempt{{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}}, gone, gone}, false, loop.StopActorFailed, 2, "model opus-9 not found (req_011CQ7)"},
		"works all along":  {[]loop.Attempt{gone, gone, gone}, true, loop.StopMaxIterations, 3, "model opus-9 not found (req_011CQ7)"},
		"another number":   {[]loop.Attempt{failed("no turn 1"), failed("no turn 2"), failed("no turn 1")}, false, loop.StopMaxIterations, 3, "no turn 1"},
		"other words":      {[]loop.Attempt{gone, failed("no such file"), gone}, false, loop.StopMaxIterations, 3, "model opus-9 not found (req_011CQ7)"},
		"another code":     {[]loop.Attempt{gone, other, gone}, false, loop.StopMaxIterations, 3, "model opus-9 not found (req_011CQ7)"},
		"without words":    {[]loop.Attempt{failed(""), failed(""), failed("")}, false, loop.StopMaxIterations, 3, ""},
		"tried twice":      {[]loop.Attempt{tried(gone, "model opus-9 not found (req_033CQ9)")}, false, loop.StopActorFailed, 0, "model opus-9 not found (req_011CQ7)"},
		"tried otherwise":  {[]loop.Attempt{tried(gone, "not now"), other, gone}, false, loop.StopMaxIterations, 3, "model opus-9 not found (req_011CQ7)"},
		"tried, and works": {[]loop.Attempt{tried(gone, "model opus-9 not found")}, true, loop.StopMaxIterations, 3, "model opus-9 not found (req_011CQ7)"},
		"ends well in all": {[]loop.Attempt{gone, {Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}}, {Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}}}, false, loop.StopMaxIterations, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &play{attempts: c.attempts, reviews: []loop.Review{again}, limits: limit{iterations: 3}, still: !c.works, empty: !c.works}
			out := p.run(t)
			if out.Reason != c.reason || p.asked != c.reviews || out.ActorError != c.says {
				t.Errorf("%s after %d reviews, %q", out.Reason, p.asked, out.ActorError)
			}
			if c.reason == loop.StopActorFailed && !strings.HasSuffix(out.Summary, "with the same message, and changed nothing: "+c.says) {
				t.Errorf("summary: %q", out.Summary)
			}
		})
	}
}
