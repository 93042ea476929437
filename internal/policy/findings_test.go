package policy_test

import (
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// found returns the history of a session with one review, with this feedback.
func found(feedback string, states ...loop.FindingState) []loop.Round {
	r := judged(loop.Verdict{Decision: loop.Continue, Feedback: feedback})
	r.Review.Verdict = r.Verdict
	so := policy.Findings{}.Rule(loop.Case{Iteration: 1}, r.Review, r.Ruling)
	for i, s := range states {
		so.Findings[i].State = s
	}
	r.Iteration, r.Ruling = 1, so
	return []loop.Round{r}
}

func answers(all ...string) (list []loop.Answer) {
	for _, a := range all {
		id, state, _ := strings.Cut(a, " ")
		list = append(list, loop.Answer{ID: id, State: loop.FindingState(state), Why: "seen"})
	}
	return list
}

const two = "- test_neg was removed\n- the README lacks --neg"

// TestOpenFindings: a DONE that does not answer every finding is asked about the others, or refused if the policy
// says so.
func TestOpenFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode    string
		verdict loop.Verdict
		checks  []loop.CheckResult
		asked   []string
		rule    string
		states  string
	}{
		"nothing said":          {policy.AskFindings, loop.Verdict{Decision: loop.Done}, nil, []string{"F1", "F2"}, "", "F1 unmentioned, F2 unmentioned"},
		"nothing said, refused": {policy.RefuseFindings, loop.Verdict{Decision: loop.Done}, nil, []string{"F1", "F2"}, "open_findings", "F1 open, F2 open"},
		"one":                   {policy.RefuseFindings, loop.Verdict{Decision: loop.Done, Answers: answers("F2 closed")}, nil, []string{"F1"}, "open_findings", "F1 open, F2 closed"},
		"all":                   {policy.RefuseFindings, loop.Verdict{Decision: loop.Done, Answers: answers("F2 closed", "F1 withdrawn")}, nil, nil, "", "F1 withdrawn, F2 closed"},
		"others":                {policy.AskFindings, loop.Verdict{Decision: loop.Done, Answers: answers("F3 closed")}, nil, []string{"F1", "F2"}, "", "F1 unmentioned, F2 unmentioned"},
		"not done":              {policy.RefuseFindings, loop.Verdict{Decision: loop.Continue, Feedback: "more"}, nil, nil, "", "F1 unmentioned, F2 unmentioned, F3 new"},
		"under no rule":         {"", loop.Verdict{Decision: loop.Done}, nil, nil, "", "F1 unmentioned, F2 unmentioned"},
		"not done for a check":  {policy.AskFindings, loop.Verdict{Decision: loop.Done}, []loop.CheckResult{{Command: "make", ExitCode: 1}}, nil, "checks", "F1 unmentioned, F2 unmentioned, F3 new"},
		"lifted by no score":    {policy.AskFindings, loop.Verdict{Decision: loop.Continue, Rating: loop.Rating{Score: new(0.95)}, Feedback: "more"}, nil, nil, "", "F1 unmentioned, F2 unmentioned, F3 new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := loop.Policy{OpenFindings: c.mode}
			if c.verdict.Score != nil {
				p.ApprovalThreshold = new(0.9)
			}
			gate := policy.Gate{Rulers: policy.Rulers(p)}
			matter := loop.Case{Iteration: 2, History: found(two), Checks: c.checks}
			review := loop.Review{Verdict: c.verdict}
			done, asked := gate.Ends(matter, review)
			so := gate.Rule(matter, review)
			if done != (so.Verdict.Decision == loop.Done) || !reflect.DeepEqual(asked, c.asked) || so.Rule != c.rule {
				t.Errorf("done %v, asked about %q, ruled %+v", done, asked, so)
			}
			var states []string
			for _, f := range so.Findings {
				states = append(states, f.ID+" "+string(f.State))
			}
			if got := strings.Join(states, ", "); got != c.states {
				t.Errorf("left %s, want %s", got, c.states)
			}
			for _, id := range asked {
				if told := strings.Contains(so.Verdict.Feedback, "\n- "+id+": "); told != (c.rule == "open_findings") {
					t.Errorf("told of %s: %v, in %q", id, told, so.Verdict.Feedback)
				}
			}
		})
	}
}

// TestChange: where a change is required, DONE without one becomes CONTINUE.
func TestChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		required bool
		change   loop.Change
		decision loop.Decision
		rule     string
	}{
		"nothing":         {true, loop.Change{State: "x"}, loop.Done, "require_change"},
		"something":       {true, changed(loop.FileModified, "a.txt"), loop.Done, ""},
		"not required":    {false, loop.Change{State: "x"}, loop.Done, ""},
		"not done anyway": {true, loop.Change{State: "x"}, loop.Continue, ""},
	} {
		gate := policy.Gate{Rulers: []policy.Ruler{policy.RequireChange{Required: c.required}}}
		checks := []loop.CheckResult{{Command: "true", Ending: loop.EndCompleted}}
		so := gate.Rule(loop.Case{Change: c.change, Checks: checks}, loop.Review{Verdict: loop.Verdict{Decision: c.decision}})
		if so.Rule != c.rule || c.rule != "" && (so.Verdict.Decision != loop.Continue || !strings.Contains(so.Verdict.Feedback, "nothing in the work tree has changed")) {
			t.Errorf("%s: %+v", name, so)
		}
	}
}
