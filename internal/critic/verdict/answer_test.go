package verdict_test

import (
	"strings"
	"testing"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// told formats answers as "F1 closed (why)".
func told(answers []loop.Answer) string {
	var all []string
	for _, a := range answers {
		text := a.ID + " " + string(a.State)
		if a.Why != "" {
			text += " (" + a.Why + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestAnswers: answers to findings are read from the lines below the decision.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SUMMARY: fine\nF1: settled":                   "F1 closed",
		"SUMMARY: fine\nF1: settled, the test is back": "F1 closed (the test is back)",
		"SUMMARY: F1: settled":                         "F1 closed",
		"SUMMARY: fine\nCONFIDENCE: 0.9\nF1: settled":  "F1 closed",
		"F1: settled\nSUMMARY: fine":                   "F1 closed",
		"SUMMARY: fine\n- **F1**: settled\n- `F2` — withdrawn, because the task forbids it": "F1 closed, F2 withdrawn (because the task forbids it)",
		"SUMMARY: fine\n1. F1 (test_neg was removed): fixed":                                "F1 closed",
		"SUMMARY: fine\n| F1 | settled |\n| F2 | withdrawn | not asked for |":               "F1 closed, F2 withdrawn (not asked for)",
		"SUMMARY: fine\nF1 is settled; it works":                                            "F1 closed (it works)",
		"SUMMARY: fine\nF1, F2 and F4: settled":                                             "F1 closed, F2 closed, F4 closed",
		"SUMMARY: fine\nF1-F3: settled":                                                     "F1-F3 closed",
		"SUMMARY: fine\nF1 to 3, F7 are settled":                                            "F1-F3 closed, F7 closed",
		"SUMMARY: fine\n✅ F1: settled (seen in pytest)":                                     "F1 closed (seen in pytest)",
		"SUMMARY: fine\nF1: ✅ settled":                                                      "F1 closed",
		"SUMMARY: fine\nFindings:\nF1: settled":                                             "F1 closed",
		"SUMMARY: fine\nSEAL: abcdefgh\nF1: settled\nF2: withdrawn, it is not asked for":    "F1 closed, F2 withdrawn (it is not asked for)",
		// No answers.
		"SUMMARY: all findings are settled":                  "",
		"SUMMARY: everything is settled, F1 too":             "",
		"SUMMARY: fine\nF1: withdrawn":                       "",
		"SUMMARY: fine\nF1: withdrawn.":                      "",
		"SUMMARY: fine\nF1: nearly settled":                  "",
		"SUMMARY: fine\nF1: to be settled":                   "",
		"SUMMARY: fine\nF1: wrong":                           "",
		"SUMMARY: fine\nF1: wrong output is printed":         "",
		"SUMMARY: fine\nF1: <settled, or withdrawn and why>": "",
		"SUMMARY: fine\n> F1: settled":                       "",
		"SUMMARY: fine\n```\nF1: settled\n```":               "",
		"SUMMARY: fine\nthe actor says that F1: settled":     "",
	} {
		v, err := verdict.Parse("I looked. F1: settled\n\nDECISION: DONE\n" + text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := told(v.Answers); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestAnswersLeaveTheSummary: answers are not part of the summary.
func TestAnswersLeaveTheSummary(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"DECISION: DONE\nSUMMARY: It greets.\nF1: settled\nAnd it ends.",
		"DECISION: DONE\nIt greets.\nF1: settled\nAnd it ends.",
	} {
		v, err := verdict.Parse(reply)
		if err != nil || v.Summary != "It greets.\nAnd it ends." || told(v.Answers) != "F1 closed" {
			t.Errorf("%q: %+v, %v", reply, v, err)
		}
	}
}

// TestAnswersInObjects: answers are read from JSON objects as well.
func TestAnswersInObjects(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`[{"id": "F1", "state": "settled"}]`:                           "F1 closed",
		`[{"id": "F1", "state": "settled", "why": "seen"}]`:            "F1 closed (seen)",
		`[{"id": "F1", "state": "withdrawn", "why": "not asked for"}]`: "F1 withdrawn (not asked for)",
		`[{"id": "F1-F3", "state": "Settled"}]`:                        "F1-F3 closed",
		`["F1: settled", "F2: withdrawn, not asked for"]`:              "F1 closed, F2 withdrawn (not asked for)",
		`[{"id": "F1", "state": "withdrawn"}]`:                         "",
		`[{"id": "F1"}]`:                                               "",
		`[{"state": "settled"}]`:                                       "",
		`"all settled"`:                                                "",
		`true`:                                                         "",
		`[1, null, [], {}]`:                                            "",
	} {
		v, err := verdict.Parse(`{"decision": "done", "summary": "fine", "findings": ` + object + `}`)
		if err != nil {
			t.Errorf("%s: %v", object, err)
		} else if got := told(v.Answers); got != want {
			t.Errorf("%s: got %q, want %q", object, got, want)
		}
	}
}

// TestDoneOverWhatItCallsOpen: a DONE that calls a finding open is refused.
func TestDoneOverWhatItCallsOpen(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"DECISION: DONE\nSUMMARY: fine\nF2: settled\nF1: open",
		"DECISION: DONE\nSUMMARY: fine\nF1: not settled",
		"DECISION: DONE\nSUMMARY: fine\nF1: partly settled",
		"DECISION: DONE\nSUMMARY: fine\nF1: settled\nF1: still missing",
		"DECISION: DONE\nSUMMARY: fine\nF1: settled\nF1: withdrawn, it was not asked for",
		`{"decision": "approve", "findings": [{"id": "F1", "state": "open"}]}`,
	} {
		if v, err := verdict.Parse(reply); err == nil || !strings.Contains(err.Error(), `names what is open: "finding F1"`) {
			t.Errorf("%q: %+v, %v", reply, v, err)
		}
	}
	v, err := verdict.Parse("DECISION: CONTINUE\nFEEDBACK: more\nF1: open\nF2: settled")
	if err != nil || told(v.Answers) != "F1 open, F2 closed" || v.Feedback != "more\nF1: open\nF2: settled" {
		t.Errorf("%+v, %v", v, err)
	}
}
