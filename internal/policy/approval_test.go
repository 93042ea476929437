package policy_test

import (
	"reflect"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

func TestApproval(t *testing.T) {
	t.Parallel()
	says := func(d loop.Decision, score float64, more ...string) loop.Verdict {
		v := loop.Verdict{Decision: d, Feedback: "more", Issues: more}
		if score >= 0 {
			v.Score = &score
		}
		return v
	}
	const none = -1
	required := says(loop.Continue, 1)
	required.RequiredChanges = []string{`ADD "phrase"`}
	summary := loop.Verdict{Decision: loop.Done, Summary: "fine", Rating: loop.Rating{Score: new(float64)}}
	escalated := loop.Verdict{Decision: loop.Error, Escalation: "a licence question", Rating: loop.Rating{Score: new(1.0)}}
	threshold := policy.Approval{Threshold: 0.9}

	for name, c := range map[string]struct {
		rule     policy.Approval
		verdict  loop.Verdict
		decision loop.Decision
		feedback string
		summary  string
		decides  bool
	}{
		"off":                  {policy.Approval{}, says(loop.Done, 0), loop.Done, "more", "", false},
		"off, high":            {policy.Approval{}, says(loop.Continue, 1), loop.Continue, "more", "", false},
		"done and high":        {threshold, says(loop.Done, 0.95), loop.Done, "more", "", false},
		"done, just":           {threshold, says(loop.Done, 0.9), loop.Done, "more", "", false},
		"done and low":         {threshold, says(loop.Done, 0.8), loop.Continue, "The reviewer approved the work, but gave a score of 0.8; 0.9 approves. It says:\nmore", "", true},
		"done, low, issues":    {threshold, says(loop.Done, 0.8, "a", "b"), loop.Continue, "The reviewer approved the work, but gave a score of 0.8; 0.9 approves. What it found:\n- a\n- b", "", true},
		"done, low, a summary": {threshold, summary, loop.Continue, "The reviewer approved the work, but gave a score of 0; 0.9 approves. It says:\nfine", "fine", true},
		"done without a score": {threshold, says(loop.Done, none), loop.Continue, "The reviewer approved the work, but gave no score; 0.9 approves. It says:\nmore", "", true},
		"continue and high":    {threshold, says(loop.Continue, 0.95), loop.Continue, "more", "", false},
		"continue and low":     {threshold, says(loop.Continue, 0.5), loop.Continue, "more", "", false},
		"continue, no score":   {threshold, says(loop.Continue, none), loop.Continue, "more", "", false},
		"something required":   {threshold, required, loop.Continue, "more", "", false},
		"an error":             {threshold, says(loop.Error, 1), loop.Error, "more", "", false},
		"an escalation":        {threshold, escalated, loop.Error, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := policy.Gate{Rulers: []policy.Ruler{c.rule}}
			got := gate.Rule(loop.Case{}, loop.Review{Verdict: c.verdict})
			want := loop.Ruling{Verdict: c.verdict}
			want.Verdict.Decision, want.Verdict.Feedback, want.Verdict.Summary = c.decision, c.feedback, c.summary
			if c.decides {
				want.Rule = policy.RuleApproval
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// An unreadable reply counts as a score of 0, and the loop goes on with its text as feedback.
func TestApprovalOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	threshold := policy.Approval{Threshold: 0.9}
	unread := loop.Review{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}, Reply: " Nice work! \n", Problem: "no decision"}
	with := func(change func(*loop.Review)) loop.Review {
		r := unread
		change(&r)
		return r
	}
	const words = "The review breaks the rules on its form, so it approves nothing. It says:\nNice work!"
	goesOn := loop.Ruling{Rule: policy.RuleApproval, Verdict: loop.Verdict{
		Decision: loop.Continue, Rating: loop.Rating{Score: new(float64)}, Issues: []string{"Nice work!"}, Feedback: words,
	}}
	failed := loop.Ruling{Verdict: loop.Verdict{Decision: loop.Error, Analysis: "The review gave no verdict: no decision"}}
	for name, c := range map[string]struct {
		rule   policy.Approval
		review loop.Review
		want   loop.Ruling
	}{
		"a reply":       {threshold, unread, goesOn},
		"no threshold":  {policy.Approval{}, unread, failed},
		"strict":        {policy.Approval{Threshold: 0.9, Strict: true}, unread, failed},
		"no reply":      {threshold, with(func(r *loop.Review) { r.Reply = "\n" }), failed},
		"stale":         {threshold, with(func(r *loop.Review) { r.Stale = []string{"a.txt"} }), failed},
		"timed out":     {threshold, with(func(r *loop.Review) { r.Ending = loop.EndTimedOut }), failed},
		"a failed turn": {threshold, with(func(r *loop.Review) { r.ExitCode = 1 }), failed},
	} {
		gate := policy.Gate{Rulers: []policy.Ruler{c.rule}}
		if got := gate.Rule(loop.Case{}, c.review); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got  %+v\nwant %+v", name, got, c.want)
		}
	}
}

// With auto_revise = false, a run ends when the work is neither done nor escalated.
func TestNoAutoRevise(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{Rulers: policy.Rulers(loop.Policy{NoAutoRevise: true})}
	const ends = "policy_violation:auto_revise"
	for name, c := range map[string]struct {
		review loop.Review
		stop   loop.StopReason
		why    string
	}{
		"done":       {loop.Review{Verdict: loop.Verdict{Decision: loop.Done}}, "", ""},
		"escalated":  {loop.Review{Verdict: loop.Verdict{Decision: loop.Error, Escalation: "see to it"}}, "", ""},
		"continue":   {loop.Review{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "a test"}}, ends, "the work is not done (CONTINUE), and auto_revise = false keeps the actor from working on it again: a test"},
		"error":      {loop.Review{Verdict: loop.Verdict{Decision: loop.Error}}, ends, "the work is not done (ERROR), and auto_revise = false keeps the actor from working on it again"},
		"stale":      {loop.Review{Verdict: loop.Verdict{Decision: loop.Done}, Problem: "a.txt has changed", Stale: []string{"a.txt"}}, "", ""},
		"no verdict": {loop.Review{Problem: "lost"}, ends, "the work is not done (ERROR), and auto_revise = false keeps the actor from working on it again: The review gave no verdict: lost"},
	} {
		if got := gate.Rule(loop.Case{}, c.review); got.Stop != c.stop || got.Why != c.why {
			t.Errorf("%s: %q, %q", name, got.Stop, got.Why)
		}
	}
}

// Rulers apply in a fixed order, so that a failing check outweighs a high score.
func TestOrderOfRulers(t *testing.T) {
	t.Parallel()
	got := policy.Rulers(loop.Policy{})
	want := []policy.Ruler{policy.Approval{}, policy.Late{}, policy.Checks{}, policy.RequireChange{}, policy.Findings{}, policy.AutoRevise{}, policy.Convergence{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	failing := []loop.CheckResult{{Command: "make", Ending: loop.EndFailed, ExitCode: 2}}
	high := loop.Review{Verdict: loop.Verdict{Decision: loop.Done, Rating: loop.Rating{Score: new(1.0)}}}
	gate := policy.Gate{Rulers: policy.Rulers(loop.Policy{ApprovalThreshold: new(0.9)})}
	if got := gate.Rule(loop.Case{Checks: failing}, high); got.Verdict.Decision != loop.Continue || got.Rule != policy.RuleChecks {
		t.Errorf("a failing check does not prevent DONE: %+v", got)
	}
}
