package policy_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// TestLate: late findings alone prolong a run once, or never; a failing check, another finding or a required
// change prolongs it as before.
func TestLate(t *testing.T) {
	t.Parallel()
	late := loop.Finding{ID: "F2", Text: "print.go:3 prints too much", State: loop.FindingNew, Since: 2, Late: true}
	settled := loop.Finding{ID: "F1", Text: "no test", State: loop.FindingClosed, Since: 1}
	due := loop.Finding{ID: "F1", Text: "no test", State: loop.FindingUnmentioned, Since: 1}
	round := func(n int, text string, found ...loop.Finding) loop.Round {
		v := loop.Verdict{Decision: loop.Continue, Feedback: "- " + text}
		return loop.Round{Iteration: n, Review: loop.Review{Verdict: v}, Ruling: loop.Ruling{Verdict: v, Findings: found}}
	}
	first := round(1, "no test", loop.Finding{ID: "F1", Text: "no test", State: loop.FindingNew, Since: 1})
	once := []loop.Round{first, round(2, late.Text, settled, late)}
	once[1].Verdict.Answers, once[1].Review.Verdict.Answers = []loop.Answer{{ID: "F1", State: loop.FindingClosed}}, []loop.Answer{{ID: "F1", State: loop.FindingClosed}}
	for name, c := range map[string]struct {
		prolong  string
		history  []loop.Round
		says     string
		failing  bool
		answered bool
		done     bool
	}{
		"in the first review":        {"never", nil, "print.go:3 prints too much", false, false, false},
		"for the first time":         {"once", []loop.Round{first}, late.Text, false, true, false},
		"with strict":                {"never", []loop.Round{first}, late.Text, false, true, true},
		"as before the rule":         {"", once, "print.go:4 prints nothing", false, false, false},
		"again":                      {"once", once, "print.go:4 prints nothing", false, false, true},
		"the same one":               {"once", once, "F2: still", false, false, true},
		"on new lines":               {"once", once, "parse.go:3 is wrong", false, false, false},
		"beside another":             {"never", []loop.Round{first}, late.Text, false, false, false},
		"while a check fails":        {"never", []loop.Round{first}, late.Text, true, true, false},
		"with one that is no longer": {"once", []loop.Round{first, round(2, late.Text, due, late)}, "print.go:4 prints nothing", false, true, false},
	} {
		v := loop.Verdict{Decision: loop.Continue, Feedback: "- " + c.says}
		if c.answered {
			v.Answers = []loop.Answer{{ID: "F1", State: loop.FindingClosed}}
		}
		delta := loop.Change{Files: []loop.FileChange{{Path: "parse.go", Status: loop.FileAdded, Patch: "@@ -0,0 +1,3 @@\n+a\n+b\n+c\n"}}}
		matter := loop.Case{Iteration: len(c.history) + 1, History: c.history, Delta: delta, Checks: []loop.CheckResult{{Command: "make", Ending: loop.EndCompleted}}}
		if c.failing {
			matter.Checks[0].ExitCode = 1
		}
		so := policy.Late{Prolong: c.prolong}.Rule(matter, loop.Review{Verdict: v}, loop.Ruling{Verdict: v})
		if done := so.Verdict.Decision == loop.Done; done != c.done {
			t.Errorf("%s: done %t, %+v", name, done, so)
		} else if done && (so.Rule != policy.RuleLate || !strings.Contains(so.Verdict.Summary, "F2")) {
			t.Errorf("%s: %+v", name, so)
		}
	}
}
