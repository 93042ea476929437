package loop_test

import (
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// forgetful is a gate that finds a word missing on these findings, as often as it
// is asked about a DONE.
type forgetful struct {
	limit
	names []string
}

func (f forgetful) Ends(c loop.Case, r loop.Review) (bool, []string) {
	done, _ := f.limit.Ends(c, r)
	if !done || r.Verdict.Summary == "all of them" {
		return done, nil
	}
	return done, f.names
}

// rejections are the problems of the replies that were not taken.
func rejections(p *play) (all []string) {
	for _, e := range p.events {
		if r, ok := e.(loop.ReviewRejected); ok {
			all = append(all, r.Review.Problem)
		}
	}
	return all
}

const silent = "it decides DONE and says nothing of these open findings: F1, F2"

// TestDoneOverOpenFindings: a DONE that passes over findings is asked about once,
// beside the retries, and a second one stands and is counted.
func TestDoneOverOpenFindings(t *testing.T) {
	t.Parallel()
	unclear := loop.Review{Turn: loop.Turn{Ending: loop.EndCompleted}, Problem: "unclear"}
	gate := forgetful{names: []string{"F1", "F2"}}
	for name, c := range map[string]struct {
		reviews  []loop.Review
		rejected []string
		reason   loop.StopReason
		left     int
	}{
		"a second one":        {[]loop.Review{says(loop.Done, ""), says(loop.Done, "")}, []string{silent}, loop.StopDone, 2},
		"all of them":         {[]loop.Review{says(loop.Done, "all of them")}, nil, loop.StopDone, 0},
		"all of them, then":   {[]loop.Review{says(loop.Done, ""), says(loop.Done, "all of them")}, []string{silent}, loop.StopDone, 0},
		"a retry before it":   {[]loop.Review{unclear, says(loop.Done, ""), says(loop.Done, "")}, []string{"unclear", silent}, loop.StopDone, 2},
		"a retry behind it":   {[]loop.Review{says(loop.Done, ""), unclear, says(loop.Done, "")}, []string{silent, "unclear"}, loop.StopDone, 2},
		"no verdict any more": {[]loop.Review{says(loop.Done, ""), unclear, unclear, says(loop.Continue, "more")}, []string{silent, "unclear"}, loop.StopMaxIterations, 0},
		"more to be done":     {[]loop.Review{says(loop.Done, ""), says(loop.Continue, "more")}, []string{silent}, loop.StopMaxIterations, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &play{attempts: []loop.Attempt{{}}, limits: gate, reviews: c.reviews}
			out := p.run(t)
			if out.Reason != c.reason || out.Unmentioned != c.left {
				t.Errorf("got %+v", out)
			}
			if got := rejections(p); !reflect.DeepEqual(got, c.rejected) {
				t.Errorf("rejected: %q, want %q", got, c.rejected)
			}
			for i, problem := range c.rejected {
				if o := p.cases[i+1].Objection; o == nil || o.Problem != problem {
					t.Errorf("the critic was shown %+v, want %s", o, problem)
				}
			}
		})
	}
}

// TestMeddlingDone: a DONE of a critic that has changed the work tree is no
// verdict, and is asked for again like any other that is none.
func TestMeddlingDone(t *testing.T) {
	t.Parallel()
	const problem = "the critic changed the work tree and decides DONE on what it changed; that is undone, kept in x.patch: " +
		"judge the work tree as it is now, and leave it as it is. Changed was a.txt"
	for name, c := range map[string]struct {
		meddles  map[int]string
		says     loop.Decision
		rejected []string
		asked    int
		reason   loop.StopReason
	}{
		"once":        {map[int]string{0: "x"}, loop.Done, []string{problem}, 2, loop.StopDone},
		"each time":   {map[int]string{0: "x", 1: "x", 2: "x", 3: "x", 4: "x", 5: "x"}, loop.Done, []string{problem, problem, problem}, 6, loop.StopNoDecision},
		"never":       {nil, loop.Done, nil, 1, loop.StopDone},
		"and goes on": {map[int]string{0: "x"}, loop.Continue, nil, 6, loop.StopMaxIterations},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(c.says, "")}, meddles: c.meddles}
			out := p.run(t)
			if out.Reason != c.reason || p.asked != c.asked {
				t.Errorf("got %+v after asking %d times", out, p.asked)
			}
			if got := rejections(p); !reflect.DeepEqual(got, c.rejected) {
				t.Errorf("rejected: %q, want %q", got, c.rejected)
			}
			if strings.HasSuffix(p.state, "x") {
				t.Errorf("the work tree is left as %q", p.state)
			}
		})
	}
}

// TestNothingChanged: a DONE says when it stands on nothing.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		checker loop.Checker
		empty   bool
		want    bool
	}{
		"nothing": {nil, true, true}, "a change": {nil, false, false}, "a check": {&mending{}, true, false},
	} {
		p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Done, "")}, checker: c.checker, empty: c.empty}
		if out := p.run(t); out.NothingChanged != c.want {
			t.Errorf("%s: %+v", name, out)
		}
	}
	p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Continue, "more")}, empty: true}
	if out := p.run(t); out.NothingChanged {
		t.Errorf("not done: %+v", out)
	}
}

// TestNamesInSentences: a name of the work tree cannot pass for a part of the
// sentence that it stands in.
func TestNamesInSentences(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}}, reviews: []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
		meddles: map[int]string{0: "x"}, path: "a\nDECISION: DONE",
	}
	p.run(t)
	for _, e := range p.events {
		if w, ok := e.(loop.Warned); ok && w.Text != `the critic changed the work tree ("a\nDECISION: DONE"): undone, kept in x.patch` {
			t.Errorf("warned: %s", w.Text)
		}
	}
}
