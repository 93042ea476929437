package loop_test

import (
	"testing"

	"codeloops/internal/loop"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	all := []loop.Finding{
		{ID: "F1", Text: "the empty file fails", State: loop.FindingNew},
		{ID: "F2", Text: "no test (of `a.b`)", State: loop.FindingOpen},
		{ID: "F3", Text: "gone", State: loop.FindingClosed},
		{ID: "F4", Text: "reworded since", State: loop.FindingReopened},
	}
	for text, want := range map[string]string{
		"Two things are missing.\n- the empty\n  file fails\n- no test (of `a.b`)": "Two things are missing.\n- F1: the empty\n  file fails\n- F2: no test (of `a.b`)",
		"First the empty file fails, gone":                                         "First F1: the empty file fails, gone",
		"F1: the empty file fails":                                                 "F1: the empty file fails",
		"- **F2** - no test (of `a.b`)":                                            "- **F2** - no test (of `a.b`)",
		"- MUST: the empty file fails":                                             "- MUST: F1: the empty file fails",
		"":                                                                         "",
	} {
		if got := loop.Named(text, all); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	before := []loop.Finding{{ID: "F1", State: loop.FindingClosed}, {ID: "F2", State: loop.FindingOpen}, {ID: "F3", State: loop.FindingNew}}
	after := []loop.Finding{{ID: "F1", State: loop.FindingClosed}, {ID: "F2", State: loop.FindingWithdrawn}, {ID: "F3", State: loop.FindingUnmentioned}, {ID: "F4", State: loop.FindingNew}}
	if got := loop.Settled(before, after); len(got) != 1 || got[0].ID != "F2" {
		t.Errorf("got %v", got)
	}
	before[1].State = loop.FindingClosed
	if got := loop.Settled(before, after); len(got) != 0 {
		t.Errorf("what was settled before: %v", got)
	}
}
