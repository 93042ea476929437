package verdict_test

import (
	"testing"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// TestScored: a critique that has issues and a score and no decision is decided by the threshold, and
// does not approve what it finds something wrong with.
func TestScored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reply     string
		threshold float64
		want      string
	}{
		{`{"issues": [], "score": 0.93, "summary": "fine"}`, 0, "DONE: "},
		{"I looked at it.\n```json\n{\"issues\": [], \"score\": 0.9}\n```", 0, "DONE: "},
		{`{"issues": [], "score": 0.93, "summary": "nearly"}`, 0.95, "CONTINUE: nearly"},
		{`{"issues": [], "score": 0.6, "summary": "fine"}`, 0.5, "DONE: "},
		{`{"issues": ["no test"], "score": 0.93, "summary": "fine"}`, 0, "CONTINUE: - no test"},
		{`{"issues": ["no test", "no docs"], "score": 0.2, "summary": "no"}`, 0, "CONTINUE: - no test\n- no docs"},
		{"It prints:\n{\"issues\": [], \"score\": 1}\n\nDECISION: CONTINUE\nFEEDBACK: mend it", 0, "CONTINUE: mend it"},

		{`{"issues": [], "score": 0.93, "errors": []}`, 0, ""}, // something else
		{`{"score": 0.93, "summary": "fine"}`, 0, ""},
		{`{"issues": [], "score": 93, "summary": "fine"}`, 0, ""},
		{"> {\"issues\": [], \"score\": 0.93}", 0, ""},
	} {
		v, _, problem := verdict.Parser{Policy: loop.Policy{ApprovalThreshold: &c.threshold}}.Read(c.reply)
		got := ""
		if problem == "" {
			got = string(v.Decision) + ": " + v.Feedback
		}
		if got != c.want {
			t.Errorf("%s: %q (%s), want %q", c.reply, got, problem, c.want)
		}
	}
	low := 0.5
	must := verdict.Parser{Policy: loop.Policy{ApprovalThreshold: &low}}
	if v, _, problem := must.Read(`{"issues": [], "score": 0.6, "summary": "MUST: mend it"}`); problem == "" {
		t.Errorf("what names something open decides %s", v.Decision)
	}
	quoted := verdict.Parser{Quoted: func([]string) bool { return true }}
	if v, _, problem := quoted.Read(`{"issues": [], "score": 0.93}`); problem == "" {
		t.Errorf("what stands in the evidence decides %s", v.Decision)
	}
}
