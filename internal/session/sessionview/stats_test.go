package sessionview_test

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// many is six sessions: sure was run again, unsure was not, two others failed, one is running.
func many() []session.Overview {
	sure := func(o *session.Overview) {
		o.Outcome = &loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 1, Confidence: new(0.97), Duration: time.Second}
		o.Session.Prompt, o.Session.WorkingDir = "again", "/p"
	}
	limit := func(o *session.Overview) {
		o.Status = "max_iterations_reached"
		o.Outcome = &loop.Outcome{Result: loop.MaxIterations, Reason: loop.StopMaxIterations, Iterations: 10, Duration: 10 * time.Second}
	}
	return []session.Overview{
		one("running", 1, func(o *session.Overview) { o.Status, o.Outcome = session.Running, nil }),
		one("again", 20, func(o *session.Overview) { sure(o); limit(o) }),
		one("sure", 30, sure),
		one("unsure", 60, func(o *session.Overview) {
			o.Outcome = &loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 3, Confidence: new(0.5), Duration: 3 * time.Second}
		}),
		one("none", 61, func(o *session.Overview) {
			o.Tally = &progress.Tally{Waits: 2, Actor: progress.Part{Wait: o.Outcome.Duration / 2}, Critic: progress.Part{Wait: o.Outcome.Duration / 4}}
		}),
		one("limit", 62, limit),
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	got := sessionview.NewStats(many())
	if got.Sessions != 6 || got.Ended != 5 || *got.SuccessRate != 0.6 {
		t.Errorf("%d sessions, %d ended, %v", got.Sessions, got.Ended, *got.SuccessRate)
	}
	if want := (sessionview.Spread{Mean: 5.2, Median: 3, P90: 10}); !near(got.Iterations, want) {
		t.Errorf("iterations: %+v", got.Iterations)
	}
	if want := (sessionview.Spread{Mean: 16.8, Median: 10, P90: 60}); !near(got.Duration, want) {
		t.Errorf("duration: %+v", got.Duration)
	}
	if got.Waiting != (sessionview.Waits{Seconds: 45, Sessions: 1}) {
		t.Errorf("waiting: %+v", got.Waiting)
	}
	var names []string
	for _, g := range got.Outcomes {
		names = append(names, g.Name)
	}
	if strings.Join(names, " ") != "success max_iterations_reached running" {
		t.Errorf("outcomes: %v", names)
	}
	if *got.FirstTry != 0.2 || *got.Approval != 3.0/26 || *got.Answered != 2.0/23 {
		t.Errorf("first try %v, approval %v, answered %v", *got.FirstTry, *got.Approval, *got.Answered)
	}
	if want := (sessionview.Waste{Sessions: 2, Seconds: 20}); got.Waste != want {
		t.Errorf("waste: %+v", got.Waste)
	}
}

func near(a, b sessionview.Spread) bool {
	return a.Mean-b.Mean < 1e-9 && b.Mean-a.Mean < 1e-9 && a.Median == b.Median && a.P90 == b.P90
}

// TestWhyTheyEnded: each limit of a strategy, and each role without a decision, has its own row;
// details of a single session do not. A reason is shown in full if there is room, and is otherwise
// cut at the end.
func TestWhyTheyEnded(t *testing.T) {
	t.Parallel()
	var list []session.Overview
	for i, out := range []loop.Outcome{
		{Result: loop.Success, Reason: loop.StopDone},
		{Result: loop.MaxIterations, Reason: loop.StopMaxIterations},
		{Result: loop.MaxIterations, Reason: loop.StopMaxIterations, Cause: "max_attempts"},
		{Result: loop.Failed, Reason: loop.StopNoDecision, Cause: "evaluator"},
		{Result: loop.Failed, Reason: loop.StopConflict, Cause: "refs/one"},
		{Result: loop.Failed, Reason: loop.StopConflict, Cause: "refs/another"},
		{Result: loop.Failed, Reason: loop.StopActorFailed},
	} {
		list = append(list, one("s", i, func(o *session.Overview) { o.Outcome = &out }))
	}
	for width, want := range map[int]string{
		80: `SESSIONS  SUCCESS  WHY THEY ENDED
       2     100%  the same files were changed meanwhile
       1     100%  the actor failed twice with the same words
       1     100%  the work was approved
       1     100%  the iterations are used up
       1     100%  max_attempts was reached
       1     100%  the evaluator gave no decision
`,
		50: `SESSIONS  SUCCESS  WHY THEY ENDED
       2     100%  the same files were changed me…
       1     100%  the actor failed twice with th…
`,
	} {
		out := sessionview.Totals(sessionview.NewStats(list), sessionview.Screen{Width: width, Style: colours()})
		if got := ansi.Strip(out); !strings.Contains(got, want) {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
}

func TestTotalsFit(t *testing.T) {
	t.Parallel()
	list := many()
	list[0].Session.WorkingDir = "/home/\x1b[2Ju/" + strings.Repeat("deep/", 30)
	for width := 60; width < 120; width++ {
		st := sessionview.NewStats(list)
		out := sessionview.Totals(st, sessionview.Screen{Width: width, Style: colours()})
		if strings.Contains(out, "2J") {
			t.Fatal("not cleaned")
		}
		for line := range strings.Lines(out) {
			if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
	none := sessionview.Totals(sessionview.NewStats(nil), sessionview.Screen{Width: 80, Style: colours()})
	if none != "0 sessions, 0 of them ended; success -\n" {
		t.Errorf("%q", none)
	}
}

// TestTotalsNarrow: groups fit however few columns there are, and signs are ASCII where there are
// no others.
func TestTotalsNarrow(t *testing.T) {
	t.Parallel()
	list := many()
	list[0].Session.WorkingDir = "/home/u/" + strings.Repeat("deep/", 30)
	list[1].Tally = &progress.Tally{Spent: loop.Spending{Actor: loop.Spent{CostUSD: 1, CostBasis: loop.Reported}}}
	for width := 20; width < 80; width++ {
		screen := sessionview.Screen{Width: width, Style: lipgloss.NewRenderer(io.Discard), ASCII: true}
		out := sessionview.Totals(sessionview.NewStats(list), screen)
		if strings.ContainsFunc(out, func(r rune) bool { return r > unicode.MaxASCII }) || !strings.Contains(out, ">=$1.00") {
			t.Errorf("width %d: not ASCII:\n%s", width, out)
		}
		_, groups, _ := strings.Cut(out, "OUTCOME\n")
		for line := range strings.Lines(groups) {
			if len(line)-1 > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
}

// TestStatsCost adds up cost and tokens by what the sessions have in common.
func TestStatsCost(t *testing.T) {
	t.Parallel()
	cost := func(usd float64, tokens int64) *progress.Tally {
		return &progress.Tally{Spent: loop.Spending{Actor: loop.Spent{CostUSD: usd, CostBasis: loop.Reported, Tokens: tokens, TokensBasis: loop.Reported}}}
	}
	list := many()
	list[1].Tally, list[2].Tally = cost(0.25, 100), cost(1.5, 7)
	st := sessionview.NewStats(list)
	got := map[string]float64{}
	for _, g := range st.Outcomes {
		if g.CostUSD != nil {
			got[g.Name] = *g.CostUSD
		}
	}
	want := map[string]float64{"success": 1.5, "max_iterations_reached": 0.25}
	if !reflect.DeepEqual(got, want) || st.Projects[0].Tokens+st.Projects[1].Tokens != 107 {
		t.Errorf("by outcome %v, want %v; projects %+v", got, want, st.Projects)
	}
	if st.Waste.CostUSD == nil || *st.Waste.CostUSD != 0.25 {
		t.Errorf("waste: %+v", st.Waste)
	}
	if out := sessionview.Totals(st, sessionview.Screen{Width: 80, Style: colours()}); strings.Count(out, "$1.75") != 3 {
		t.Errorf("%s", out)
	}
}

// The sessions of a queue's tasks count to where others of their repository worked.
func TestStatsOfTasks(t *testing.T) {
	t.Parallel()
	in := func(dir, kept, task string) session.Overview {
		return one(dir+task, 1, func(o *session.Overview) {
			o.Session.WorkingDir, o.Session.Checkpoints, o.Session.Task = dir, kept, task
		})
	}
	got := map[string]int{}
	for _, g := range sessionview.NewStats([]session.Overview{
		in("/p/sub", "p.git", ""), in("/p", "p.git", ""), in("/q", "q.git", ""), in("/trees/1", "p.git", "1"), in("/trees/2", "r.git", "2"), in("/r", "", ""),
	}).Projects {
		got[g.Name] = g.Sessions
	}
	if want := map[string]int{"/p/sub": 1, "/p": 2, "/q": 1, "/trees/2": 1, "/r": 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
