package convergence_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy/convergence"
)

var settings = &loop.ConvergencePolicy{WarnAfter: 2, StopAfter: 4}

// An act describes a round in short: the state of the work tree, what the critic says, and whatever else
// matters.
type act struct {
	state    string
	feedback string
	issues   []string
	failing  int   // how many of two checks fail; -1: there are no checks
	printed  int64 // bytes by each check
	score    float64
	decision loop.Decision // "" means CONTINUE
	rule     string
	unjudged bool
	answers  []loop.Answer
	summary  string
}

func (a act) round(n int) loop.Round {
	r := loop.Round{Iteration: n, Unjudged: a.unjudged, Change: loop.Change{State: a.state}}
	r.Change.Files = []loop.FileChange{{Path: "a"}}
	r.Verdict = loop.Verdict{Decision: loop.Continue, Feedback: a.feedback, Issues: a.issues, Summary: a.summary}
	r.Rule = a.rule
	if a.decision != "" {
		r.Verdict.Decision = a.decision
	}
	if r.Verdict.Answers = a.answers; a.rule == "" {
		r.Review.Verdict = r.Verdict
	}
	if a.score > 0 {
		r.Verdict.Score = &a.score
	}
	for i := range 2 {
		if a.failing >= 0 {
			code := 0
			if i < a.failing {
				code = 1
			}
			r.Checks = append(r.Checks, loop.CheckResult{Command: "go test ./...", Ending: loop.EndCompleted, ExitCode: code, Output: loop.Output{Total: a.printed}})
		}
	}
	return r
}

// play runs the rounds one after the other, as a gate would. It returns for each round "", the warnings,
// or "stuck: " and the reason.
func play(s *loop.ConvergencePolicy, acts []act) (said []string, last convergence.Report) {
	var history []loop.Round
	for i, a := range acts {
		r := a.round(i + 1)
		if a.unjudged {
			said = append(said, "")
			history = append(history, r.Outline())
			continue
		}
		last = convergence.Look(s, history, r)
		r.Findings, r.Warnings = last.Findings, last.Warnings
		history = append(history, r.Outline())
		switch {
		case last.Stuck != "":
			return append(said, "stuck: "+last.Stuck), last
		default:
			said = append(said, strings.Join(last.Warnings, " "))
		}
	}
	return said, last
}

const (
	long    = "The function parse does not refuse empty input: return an error for it, and add a test that shows so."
	another = "Write documentation for every exported name of package login before going on with anything else."
)

func acts(n int, each func(i int) act) []act {
	all := make([]act, n)
	for i := range all {
		all[i] = each(i)
	}
	return all
}

func state(i int) string { return fmt.Sprintf("state-%d", i) }

// TestStuck: a loop without progress is warned, then ended.
func TestStuck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		acts []act
		want []string
	}{
		"no change": {
			acts(9, func(i int) act {
				return act{state: "same", failing: -1, feedback: fmt.Sprint("Look at file ", i, ".go, and say why")}
			}),
			[]string{
				"", "", "The last 2 turns of the actor changed nothing in the work tree.",
				"The last 3 turns of the actor changed nothing in the work tree.",
				"stuck: The last 4 turns of the actor changed nothing in the work tree.",
			},
		},
		"in circles": {
			acts(9, func(i int) act {
				return act{state: state(i % 2), failing: -1, feedback: fmt.Sprint("Now try number ", i, " of them")}
			}),
			[]string{
				"", "",
				"The work tree is again as it was after iteration 1: the work goes in circles.",
				"The work tree is again as it was after iteration 2: the work goes in circles.",
				"The work tree is again as it was after iteration 1: the work goes in circles.",
				"The work tree is again as it was after iteration 2: the work goes in circles.",
				"stuck: The work tree is again as it was after iteration 1: the work goes in circles.",
			},
		},
		"the same finding": {
			acts(9, func(i int) act { return act{state: state(i), failing: -1, feedback: long} }),
			[]string{
				"", "The finding F1 has been open for 2 iterations.", "The finding F1 has been open for 3 iterations.",
				"stuck: The finding F1 has been open for 4 iterations.",
			},
		},
		"the same finding by its name": {
			acts(4, func(i int) act {
				return act{state: state(i), failing: -1, feedback: []string{long, "- F1: still so", "- F1: nothing has changed there", "- **F1**: no"}[i]}
			}),
			[]string{
				"", "The finding F1 has been open for 2 iterations.", "The finding F1 has been open for 3 iterations.",
				"stuck: The finding F1 has been open for 4 iterations.",
			},
		},
		"the same failing checks": {
			acts(9, func(i int) act {
				return act{state: state(i), failing: 1, printed: 120, feedback: fmt.Sprint("Look at file ", i, ".go, and say why")}
			}),
			[]string{
				"", "The same checks have failed in the same way for 2 iterations.", "The same checks have failed in the same way for 3 iterations.",
				"stuck: The same checks have failed in the same way for 4 iterations.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := play(settings, c.acts); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestNotStuck: a loop that only looks stuck is not ended.
func TestNotStuck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		acts   []act
		warned bool
	}{
		"alternating files, new work each time": {
			acts(12, func(i int) act {
				return act{state: state(i), failing: -1, feedback: fmt.Sprintf("The file %s has to do part %d as well", []string{"a.go", "b.go"}[i%2], i)}
			}), false,
		},
		"ever fewer checks fail": {
			acts(3, func(i int) act { return act{state: state(i), failing: 2 - i, feedback: long} }), false,
		},
		"other numbers in the same words": {
			acts(12, func(i int) act {
				return act{state: state(i), failing: -1, feedback: fmt.Sprintf("There are still %d tests that fail, see to them one by one", 40-i)}
			}), false,
		},
		"the same words on other functions": {
			acts(12, func(i int) act {
				return act{state: state(i), failing: -1, feedback: fmt.Sprintf("The function parse_%c does not refuse empty input: return an error for it", 'a'+i)}
			}), false,
		},
		"ever fewer findings": {
			acts(6, func(i int) act {
				return act{state: state(i), failing: -1, issues: []string{"No timeout.", "No tests at all.", "Docs lacking entirely.", "Wrong exit code.", "Leaks memory badly.", "Races on shutdown."}[i:]}
			}), false,
		},
		"a check fails, each time with another output": {
			acts(12, func(i int) act {
				return act{state: state(i), failing: 1, printed: int64(i), rule: "checks", feedback: "The reviewer approved the work, but these checks fail:\n- `go test ./...` ended with exit code 1"}
			}), false,
		},
		"errors have a limit of their own": {
			acts(12, func(int) act { return act{state: "same", failing: -1, decision: loop.Error, feedback: long} }), false,
		},
		"so have rules": {
			acts(12, func(int) act { return act{state: "same", failing: -1, unjudged: true, feedback: long} }), false,
		},
		"put back once because it was asked for": {
			[]act{{state: "a", failing: -1, feedback: long}, {state: "b", failing: -1, feedback: another}, {state: "a", failing: -1, feedback: "Thanks, that was the better way to do this"}, {state: "c", failing: -1, feedback: long}},
			true,
		},
		"a warning that helped": {
			[]act{
				{state: "a", failing: -1, feedback: long},
				{state: "b", failing: -1, feedback: long},
				{state: "c", failing: -1, feedback: long},
				{state: "d", failing: -1, feedback: another},
				{state: "e", failing: -1, feedback: long},
				{state: "f", failing: -1, feedback: another},
			}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, last := play(settings, c.acts)
			if last.Stuck != "" {
				t.Errorf("stuck: %q", said)
			}
			if warned := strings.Join(said, "") != ""; warned != c.warned {
				t.Errorf("warned %t: %q", warned, said)
			}
		})
	}
}

// TestFailingCheck: a check that fails every time, in different ways, stays one open finding.
func TestFailingCheck(t *testing.T) {
	t.Parallel()
	const command = "make"
	fates := []string{"was ended by a signal", "ended with exit code 1", "did not end within 1m30s"}
	var history []loop.Round
	for n := range 9 {
		r := act{state: state(n), failing: -1, rule: "checks"}.round(n + 1)
		r.Checks = []loop.CheckResult{{Command: command, Ending: loop.EndFailed, ExitCode: 1, Output: loop.Output{Total: int64(n)}}}
		r.Verdict.Feedback = "The reviewer approved the work, but these checks fail:\n- `" + command + "` " + fates[n%len(fates)]
		got := convergence.Look(settings, history, r)
		r.Findings, r.Warnings = got.Findings, got.Warnings
		history = append(history, r.Outline())
		want := convergence.Report{Findings: []loop.Finding{{
			ID: "F1", Text: "`make` " + fates[n%len(fates)], State: loop.FindingOpen, Since: 1, Check: command,
		}}}
		if n == 0 {
			want.Findings[0].State = loop.FindingNew
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("iteration %d: got %+v, want %+v", n+1, got, want)
		}
	}
}

// TestThresholds: each setting alone decides when a loop is warned and ended.
func TestThresholds(t *testing.T) {
	t.Parallel()
	idle := acts(12, func(i int) act { return act{state: "same", failing: -1, feedback: fmt.Sprint("more ", i)} })
	for name, c := range map[string]struct {
		settings      *loop.ConvergencePolicy
		warned, ended int // the iterations of the first warning and of the end; 0: never
	}{
		"as they are":   {settings, 3, 5},
		"off":           {nil, 0, 0},
		"never stop":    {&loop.ConvergencePolicy{WarnAfter: 3}, 4, 0},
		"without words": {&loop.ConvergencePolicy{StopAfter: 3}, 0, 4},
		"patient":       {&loop.ConvergencePolicy{WarnAfter: 5, StopAfter: 9}, 6, 10},
	} {
		said, _ := play(c.settings, idle)
		warned := 1 + slices.IndexFunc(said, func(s string) bool { return s != "" && !strings.HasPrefix(s, "stuck") })
		ended := 1 + slices.IndexFunc(said, func(s string) bool { return strings.HasPrefix(s, "stuck") })
		if warned != c.warned || ended != c.ended {
			t.Errorf("%s: warned after %d and ended after %d, want %d and %d", name, warned, ended, c.warned, c.ended)
		}
	}
}

// TestWarnedFirst: a long history without warnings, as of a session that began without thresholds, is warned
// before it is ended.
func TestWarnedFirst(t *testing.T) {
	t.Parallel()
	idle := func(n int) loop.Round {
		return act{state: "same", failing: -1, feedback: fmt.Sprint("more ", n)}.round(n)
	}
	var history []loop.Round
	for n := range 8 {
		history = append(history, idle(n+1))
	}
	got := convergence.Look(settings, history, idle(9))
	if got.Stuck != "" || len(got.Warnings) != 1 {
		t.Errorf("the first time: %+v", got)
	}
	history = append(history, idle(9))
	history[8].Warnings = got.Warnings
	if got = convergence.Look(settings, history, idle(10)); got.Stuck == "" {
		t.Errorf("the second time: %+v", got)
	}
	// A resumed session gets another try.
	history = append(history, idle(10))
	history[9].Rule = convergence.Rule
	for n := 11; n < 14; n++ {
		if got = convergence.Look(settings, history, idle(n)); got.Stuck != "" {
			t.Errorf("stuck again in iteration %d", n)
		}
		history = append(history, idle(n))
		history[n-1].Warnings = got.Warnings
	}
	const stuck = "The last 4 turns of the actor changed nothing in the work tree."
	if got = convergence.Look(settings, history, idle(14)); got.Stuck != stuck {
		t.Errorf("after another try: %+v", got)
	}
	// What the actor was not allowed to do is named.
	denied := idle(14)
	denied.Attempt.Failures = []loop.Failure{{Act: "run `make`", ExitCode: 2}, {Act: "run `npm test`", Denied: true}}
	if got = convergence.Look(settings, history, denied); got.Stuck != stuck+" In the last one it was not allowed to run `npm test`; allow it in the agent's settings, or in its command." {
		t.Errorf("denied: %+v", got)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	rounds := []act{
		{state: "1", failing: -1, feedback: "Not yet:\n\n1. There is no test for `parse_input`.\n2. The README does not\n   mention the flag --json.\n"},
		{state: "2", failing: -1, feedback: "Better:\n- F1: still no test\n- Close the file in all cases.\n"},
		{state: "3", failing: -1, issues: []string{"Close the file in all cases.", "Close the file in all cases."}, answers: says("F1 closed")},
		{state: "4", failing: -1, issues: []string{"There is no test for `parse_input`."}},
		{state: "5", failing: -1, issues: []string{"No test for print_output!"}, answers: says("F2 withdrawn", "F3 closed")},
		{state: "6", failing: -1, decision: loop.Done, answers: says("F1 closed", "F9 closed")},
	}
	want := []string{
		"F1 new 1, F2 new 1",
		"F1 open 1, F2 unmentioned 1, F3 new 2",
		"F2 unmentioned 1, F3 open 2, F1 closed 1",
		"F1 reopened 1, F2 unmentioned 1, F3 unmentioned 2",
		"F1 unmentioned 1, F4 new 5, F2 withdrawn 1, F3 closed 2",
		"F4 unmentioned 5, F1 closed 1, F2 withdrawn 1, F3 closed 2",
	}
	for n := range rounds {
		_, report := play(settings, rounds[:n+1])
		if s := states(report); s != want[n] {
			t.Errorf("after round %d: %s, want %s", n+1, s, want[n])
		}
	}
	_, first := play(settings, rounds[:1])
	if got := first.Findings[1].Text; got != "The README does not mention the flag --json." {
		t.Errorf("the second finding is %q", got)
	}
}

// TestMays: a finding marked MAY does not prevent DONE. A finding that was binding once stays binding, and a
// review without any MUST is binding as a whole.
func TestMays(t *testing.T) {
	t.Parallel()
	rounds := []act{
		{state: "1", failing: -1, feedback: "- MUST: a test for `parse_input`\n- MAY: a shorter name for the flag --json\n- The README lacks the flag."},
		{state: "2", failing: -1, feedback: "MUST: close the file in all cases\nMAY: a test for `parse_input`\nMUST: a shorter name for the flag --json"},
		{state: "3", failing: -1, feedback: "MAY: say more in the help text"},
		{state: "4", failing: -1, decision: loop.Done, summary: "Done.\nMAY: the tests could be quicker\nMUST: nothing"},
	}
	want := []string{"F2", "", "", "F6"}
	for n := range rounds {
		_, report := play(settings, rounds[:n+1])
		var mays []string
		for _, f := range report.Findings {
			if f.May && f.Due() {
				t.Errorf("%s is marked MAY, but due", f.ID)
			}
			if f.May {
				mays = append(mays, f.ID)
			}
		}
		if got := strings.Join(mays, " "); got != want[n] {
			t.Errorf("after round %d: may %q, want %q: %+v", n+1, got, want[n], report.Findings)
		}
	}
}

// says parses answers such as "F1 closed".
func says(answers ...string) (all []loop.Answer) {
	for _, a := range answers {
		id, state, _ := strings.Cut(a, " ")
		all = append(all, loop.Answer{ID: id, State: loop.FindingState(state)})
	}
	return all
}

func states(r convergence.Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprint(f.ID, " ", f.State, " ", f.Since))
	}
	return strings.Join(all, ", ")
}

// TestPoints: every point of the feedback becomes a finding, prose included.
func TestPoints(t *testing.T) {
	t.Parallel()
	const gone, back = "test_neg was removed.", "Put it back."
	for _, c := range []struct {
		feedback string
		want     []string
	}{
		{gone, []string{gone}},
		{"Das hier fehlt noch.\n\nMUST: " + back + "\nMAY: Mention --neg.", []string{back, "Mention --neg."}},
		{gone + " " + back, []string{gone + " " + back}},
		{gone + " " + back + "\n- Mention --neg in the README.", []string{gone + " " + back, "Mention --neg in the README."}},
		{"- Mention --neg in the README.\n\n" + gone + " " + back, []string{"Mention --neg in the README.", gone + " " + back}},
		{"**Two things remain:**\n1. " + gone + "\n2) " + back, []string{gone, back}},
		{"Two things are missing.\n\nMUST: " + gone + "\nMUST: " + back, []string{gone, back}},
		{"Two things are missing.\n\n1. " + gone + "\n2. " + back, []string{"Two things are missing.", gone, back}},
		{gone + " " + back + "\n1. One.\n2. Two.", []string{gone + " " + back, "One.", "Two."}},
		{"Add tests.\n\nFix the typo.\n1. One.\n2. Two.", []string{"Add tests.", "Fix the typo.", "One.", "Two."}},
		{gone + "\n1. " + back, []string{gone, back}},
		{"Two parts:\nDONE:\n- one\nMISSING:\n1. " + gone + "\n2. " + back, []string{"one", gone, back}},
		{"- " + gone + "\n\n**And then:**\n\n- " + back, []string{gone, back}},
		{"- " + gone + "\nIt says:\nno such test\n- " + back, []string{gone, "It says: no such test", back}},
		{"残っている点：\n\n- " + gone, []string{"残っている点：", gone}},
		{"Add tests.\n\nFix the typo.", []string{"Add tests.", "Fix the typo."}},
		{"测试被删除了。把它放回去。", []string{"测试被删除了。把它放回去。"}},
		{"It fails:\n```\nTraceback. Error. More.\n```\n> The actor says. It is done.\nMend main.py.", []string{"Mend main.py."}},
		{"The fence is never closed.\n```\n" + gone, []string{"The fence is never closed. ``` " + gone}},
		{"more", []string{"more"}},
		{"  ", nil},
	} {
		_, report := play(settings, []act{{state: "1", failing: -1, feedback: c.feedback}})
		var got []string
		for _, f := range report.Findings {
			got = append(got, f.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.feedback, got, c.want)
		}
	}
}

// TestPointsBesideLists: prose beside a list of issues counts, unless it only repeats them.
func TestPointsBesideLists(t *testing.T) {
	t.Parallel()
	issues := []string{"The README lacks the flag --neg."}
	feedback := "The README lacks the flag --neg.\n\nThe test of parse_input was removed."
	_, report := play(settings, []act{{state: "1", failing: -1, issues: issues, feedback: feedback}})
	if got := states(report); got != "F1 new 1, F2 new 1" || report.Findings[1].Text != "The test of parse_input was removed." {
		t.Errorf("%+v", report.Findings)
	}
}

// TestPointsOfASummary: without feedback, issues and required changes, the summary becomes the finding.
func TestPointsOfASummary(t *testing.T) {
	t.Parallel()
	r := act{state: "1", failing: -1}.round(1)
	r.Verdict.Summary = "The test of parse_input was removed."
	r.Review.Verdict = r.Verdict
	if got := convergence.Look(settings, nil, r); states(got) != "F1 new 1" || got.Findings[0].Text != r.Verdict.Summary {
		t.Errorf("%+v", got)
	}
	r.Verdict.RequiredChanges = []string{`ADD "test_neg"`}
	r.Review.Verdict = r.Verdict
	if got := convergence.Look(settings, nil, r); states(got) != "F1 new 1" || got.Findings[0].Text != `ADD "test_neg"` {
		t.Errorf("beside a required change: %+v", got)
	}
}

// TestOtherWords: a point in other words is another finding, unless it has the name of an earlier one.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	first := act{state: "1", failing: -1, feedback: "- The README lacks the flag"}
	for feedback, want := range map[string]string{
		"-  The README  lacks the flag": "F1 open 1",
		"- The README lacks the flag!":  "F1 unmentioned 1, F2 new 2",
		"- F1: README, flag":            "F1 open 1",
	} {
		_, report := play(settings, []act{first, {state: "2", failing: -1, feedback: feedback}})
		if got := states(report); got != want {
			t.Errorf("%q: %s, want %s", feedback, got, want)
		}
	}
}

// TestLate: a new finding on lines that the last iteration did not touch is late.
func TestLate(t *testing.T) {
	t.Parallel()
	first := act{state: "1", failing: -1, feedback: "- parse.go:3 drops the error"}.round(1)
	first.Findings = convergence.Look(settings, nil, first).Findings
	if first.Findings[0].Late {
		t.Error("a finding of the first review is late")
	}
	own := loop.Change{Files: []loop.FileChange{{Path: "src/parse.go", Status: loop.FileModified, Patch: "@@ -2,3 +2,3 @@\n a\n-b\n+c\n d\n"}}}
	for text, late := range map[string]bool{
		"parse.go:3 returns nil":                   false,
		"parse.go:9 returns nil":                   true,
		"src/parse.go:9: returns nil":              true,
		"print.go:3 prints too much":               true,
		"print.go:3 disagrees with parse.go:3":     false,
		"there is no test":                         false,
		"parse.go:9 and `print.go:4` say the same": true,
	} {
		now := act{state: "2", failing: -1, feedback: "- " + text, answers: says("F1 closed")}.round(2)
		now.Own = &own
		got := convergence.Look(settings, []loop.Round{first.Outline()}, now).Findings
		if n := len(got); n != 2 || got[0].Late != late {
			t.Errorf("%q: %+v", text, got)
		}
		now.Own, now.Findings = nil, got
		third := act{state: "3", failing: -1, feedback: "- F2: still"}.round(3)
		if again := convergence.Look(settings, []loop.Round{first.Outline(), now.Outline()}, third).Findings; again[0].Late != late {
			t.Errorf("%q, from the log: %+v", text, again)
		}
	}
	unjudged := loop.Round{Iteration: 2, Unjudged: true}
	now := act{state: "3", failing: -1, feedback: "- print.go:3 prints too much"}.round(3)
	now.Own = &own
	if got := convergence.Look(settings, []loop.Round{first.Outline(), unjudged}, now).Findings; got[1].Late {
		t.Errorf("late, although the critic has not seen what a rule sent back: %+v", got)
	}
}

// TestManyPoints: points beyond the limit are counted in one last finding.
func TestManyPoints(t *testing.T) {
	t.Parallel()
	issues := make([]string, 70)
	for i := range issues {
		issues[i] = fmt.Sprintf("name_%d is wrong", i)
	}
	_, report := play(settings, []act{{state: "1", failing: -1, issues: issues}})
	if n := len(report.Findings); n != 51 || report.Findings[50].Text != "20 more points, in the review of that iteration" {
		t.Errorf("%d findings, the last one %+v", n, report.Findings[n-1])
	}
}

// TestManyPointsBesideLists: a thousand sentences beside a thousand issues are told apart in a
// moment. With every issue read again for every sentence it would take ten seconds.
func TestManyPointsBesideLists(t *testing.T) {
	t.Parallel()
	v := loop.Verdict{Decision: loop.Continue}
	for n := range 1000 {
		v.Issues = append(v.Issues, fmt.Sprintf("the file number%d.go lacks a test for case %d", n, n))
		v.Feedback += fmt.Sprintf("- in module%d there is something wrong with item %d\n", n, n)
	}
	report := convergence.Look(nil, nil, loop.Round{Iteration: 1, Review: loop.Review{Verdict: v}, Ruling: loop.Ruling{Verdict: v}})
	if n := len(report.Findings); n != 51 || report.Findings[50].Text != "1950 more points, in the review of that iteration" {
		t.Errorf("%d findings, the last one %q", n, report.Findings[n-1].Text)
	}
}

// TestNamedPoints: a point that begins with a finding's ID is that finding; an answer is not a point.
func TestNamedPoints(t *testing.T) {
	t.Parallel()
	first := act{state: "1", failing: -1, feedback: "- test_neg was removed from test_calc.py\n- the README lacks --neg"}
	for _, c := range []struct{ feedback, states, text string }{
		{"- F1: still missing", "F1 open 1, F2 unmentioned 1", "test_neg was removed from test_calc.py Later: still missing"},
		{"F1, open, since iteration 1: test_neg was removed from test_calc.py", "F1 open 1, F2 unmentioned 1", "test_neg was removed from test_calc.py"},
		{"- F1: now test_pos has gone from test_more.py too", "F1 open 1, F2 unmentioned 1", "test_neg was removed from test_calc.py Later: now test_pos has gone from test_more.py too"},
		{"- F2: settled\n- F1: open", "F1 open 1, F2 closed 1", "test_neg was removed from test_calc.py Later: open"},
		{"- F7: no such finding", "F1 unmentioned 1, F2 unmentioned 1, F3 new 2", "test_neg was removed from test_calc.py"},
	} {
		second := act{state: "2", failing: -1, feedback: c.feedback}
		if strings.Contains(c.feedback, "settled") {
			second.answers = says("F2 closed", "F1 open")
		}
		_, report := play(settings, []act{first, second})
		if got := states(report); got != c.states || report.Findings[0].Text != c.text {
			t.Errorf("%q: %s, %q", c.feedback, got, report.Findings[0].Text)
		}
	}
}

// TestAnsweredRanges: an answer to a range of IDs is one to those findings in it that exist.
func TestAnsweredRanges(t *testing.T) {
	t.Parallel()
	first := act{state: "1", failing: -1, feedback: "- The README lacks it.\n- No test at all.\n- Wrong exit code."}
	for _, c := range []struct {
		answers []loop.Answer
		want    string
	}{
		{says("F1-F3 closed"), "F1 closed 1, F2 closed 1, F3 closed 1"},
		{says("F1-F2 closed"), "F3 unmentioned 1, F1 closed 1, F2 closed 1"},
		{says("F2-F99 closed"), "F1 unmentioned 1, F2 closed 1, F3 closed 1"},
		{says("F4-F99 closed"), "F1 unmentioned 1, F2 unmentioned 1, F3 unmentioned 1"},
		{says("F1-F0 closed"), "F1 unmentioned 1, F2 unmentioned 1, F3 unmentioned 1"},
		{says("F3-F1 closed"), "F1 unmentioned 1, F2 unmentioned 1, F3 unmentioned 1"},
		{says("F0-F3 closed"), "F1 unmentioned 1, F2 unmentioned 1, F3 unmentioned 1"},
		{says("F1-F3 closed", "F2 withdrawn"), "F2 unmentioned 1, F1 closed 1, F3 closed 1"},
	} {
		_, report := play(settings, []act{first, {state: "2", failing: -1, decision: loop.Done, answers: c.answers}})
		if got := states(report); got != c.want {
			t.Errorf("%v: %s, want %s", c.answers, got, c.want)
		}
	}
}

// rounds returns how many random sessions are played.
func rounds() int {
	if testing.Short() {
		return 25
	}
	return 100
}

// TestLawsAtRandom plays random sessions. Folding a session again, as a resume does, gives the same result; no
// session is stopped without a warning; work and feedback that are always new are never stopped; findings keep
// their IDs.
func TestLawsAtRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 9))
	words := strings.Fields("parse login timeout test error close file flag json docs README exit code memory race shutdown empty input")
	sentence := func() string {
		var s []string
		for range 3 + r.IntN(6) {
			s = append(s, words[r.IntN(len(words))])
		}
		return strings.Join(s, " ")
	}
	for range rounds() {
		said := []string{sentence(), sentence(), sentence()}
		fresh := r.IntN(4) == 0
		session := acts(14, func(i int) act {
			a := act{state: state(r.IntN(4)), failing: r.IntN(4) - 1, feedback: said[r.IntN(3)]}
			if r.IntN(3) == 0 {
				a.issues = []string{said[r.IntN(3)], sentence()}
			}
			if r.IntN(6) == 0 {
				a.decision = loop.Error
			}
			a.unjudged = r.IntN(8) == 0
			if fresh {
				a = act{state: state(i), failing: -1, feedback: fmt.Sprintf("%s %d", sentence(), i), issues: []string{fmt.Sprintf("name_%d is wrong", i)}}
			}
			return a
		})
		told, last := play(settings, session)
		if again, _ := play(settings, session); !slices.Equal(told, again) {
			t.Fatalf("the same session was judged differently: %q and %q", told, again)
		}
		if last.Stuck != "" && strings.Join(told[:len(told)-1], "") == "" {
			t.Fatalf("stopped without a warning: %q in %+v", told, session)
		}
		if fresh && strings.Join(told, "") != "" {
			t.Fatalf("everything was new, but %q in %+v", told, session)
		}
		names := map[string]int{}
		for n := range session {
			_, report := play(settings, session[:n+1])
			for _, f := range report.Findings {
				if since, known := names[f.ID]; known && since != f.Since {
					t.Fatalf("%s began in %d, then in %d", f.ID, since, f.Since)
				}
				names[f.ID] = f.Since
			}
		}
	}
}

func FuzzLook(f *testing.F) {
	f.Add("- a\n- b", "1. a\n 2) b", "", 0.5)
	f.Add("\xff\x00 ", "more", "parse.go parse.go", 0.0)
	f.Fuzz(func(t *testing.T, a, b, c string, similarity float64) {
		s := &loop.ConvergencePolicy{WarnAfter: 2, StopAfter: 3, Similarity: &similarity}
		session := []act{{state: "1", feedback: a}, {state: "2", feedback: b, issues: []string{c}}, {state: "1", feedback: a}, {state: "1", feedback: c}}
		told, report := play(s, session)
		again, same := play(s, session)
		if !reflect.DeepEqual(told, again) || !reflect.DeepEqual(report, same) {
			t.Errorf("%q, then %q", told, again)
		}
		for _, x := range report.Findings {
			if strings.ContainsAny(x.Text, "\n\r") || x.ID == "" || x.State == "" || x.Since == 0 {
				t.Errorf("%+v", x)
			}
		}
	})
}
