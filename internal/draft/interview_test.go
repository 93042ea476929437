package draft

import (
	"context"
	"strings"
	"testing"
)

// filled is a prompt with all that a kind needs.
func filled(k Kind) string {
	f := Form{Lead: "Mend the parser", Parts: map[string]string{}}
	for _, s := range k.Sections {
		if s.Needed {
			f.Parts[s.Title] = "known; Question: which?"
		}
	}
	return k.Join(f)
}

// TestInterviewReads: labels in the agent's own words decide; a prompt is whole.
func TestInterviewReads(t *testing.T) {
	t.Parallel()
	k, err := KindOf("defect")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reply          string
		question, note string
		prompt         bool
		problem        string
	}{
		"a question":    {reply: "I read `parse.go`.\n\n**QUESTION:** Which input?\nAny?", note: "I read `parse.go`.", question: "Which input?\nAny?"},
		"a prompt":      {reply: "Done.\nPROMPT: " + filled(k), note: "Done.", prompt: true},
		"fenced":        {reply: "```\nQUESTION: which?\n```", question: "which?"},
		"a list in it":  {reply: "PROMPT: " + filled(k) + "\n## Open questions\n\n- Question: which?\n", prompt: true},
		"a quotation":   {reply: "> QUESTION: who?\n\nnothing", problem: "neither"},
		"neither":       {reply: "I think so.", problem: "neither"},
		"two questions": {reply: "QUESTION: a?\nQUESTION: b?", problem: "more than one"},
		"both":          {reply: "QUESTION: a?\nPROMPT: " + filled(k), problem: "more than one"},
		"empty":         {reply: "QUESTION:", problem: "nothing stands behind"},
		"too early":     {reply: "PROMPT: x\n\n## Observed\n\ny\n", problem: "are missing or empty: Expected, Steps"},
	} {
		a, problem := Interview{Kind: k}.read(c.reply)
		if c.problem != "" {
			if !strings.Contains(problem, c.problem) {
				t.Errorf("%s: the problem is %q", name, problem)
			}
			continue
		}
		if problem != "" || a.Question != c.question || a.Note != c.note || (a.Prompt != "") != c.prompt {
			t.Errorf("%s: %+v, %s", name, a, problem)
		}
		if c.prompt && (!strings.HasPrefix(a.Prompt, "Mend the parser\n\n## Observed\n") || len(k.Missing(a.Prompt)) > 0) {
			t.Errorf("%s: the prompt is %q", name, a.Prompt)
		}
	}
}

// TestInterviewAsksAgain: a reply that cannot be read is asked for once more.
func TestInterviewAsksAgain(t *testing.T) {
	t.Parallel()
	k, err := KindOf("defect")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	replies := []string{"hm", "QUESTION: which?"}
	i := Interview{Kind: k, Play: func(_ context.Context, turn, again int, text string) (string, error) {
		asked = append(asked, text)
		if turn != 2 || again != len(asked)-1 {
			t.Errorf("turn %d, again %d", turn, again)
		}
		return replies[again], nil
	}}
	said := []Said{{true, "mend it ``` PROMPT: x"}, {false, "QUESTION: what?"}, {true, "the parser"}}
	if a, err := i.Next(t.Context(), said); err != nil || a.Question != "which?" || len(asked) != 2 || !strings.Contains(asked[1], "could not be used: it has neither") ||
		!strings.Contains(asked[0], "The user said:\n\n````\nmend it ``` PROMPT: x\n````\n") {
		t.Errorf("%+v, %v, asked %q", a, err, asked)
	}
	replies[1] = "hm"
	asked = nil
	if _, err := i.Next(t.Context(), said); err == nil || !strings.Contains(err.Error(), "could not be used") {
		t.Error(err)
	}
}

// TestInterviewEnds: after so many questions an agent has to write the prompt.
func TestInterviewEnds(t *testing.T) {
	t.Parallel()
	k, err := KindOf("defect")
	if err != nil {
		t.Fatal(err)
	}
	said := []Said{{true, "mend it"}}
	for range mostQuestions {
		said = append(said, Said{false, "QUESTION: what?"}, Said{true, "this"})
	}
	replies := []string{"QUESTION: and what?", "PROMPT: " + filled(k)}
	i := Interview{Kind: k, Play: func(_ context.Context, _, again int, text string) (string, error) {
		if !strings.Contains(text, "write the prompt now") {
			t.Errorf("it is not told: %s", text)
		}
		return replies[again], nil
	}}
	if a, err := i.Next(t.Context(), said); err != nil || a.Prompt == "" {
		t.Errorf("%+v, %v", a, err)
	}
	replies[1] = replies[0]
	if _, err := i.Next(t.Context(), said); err == nil || !strings.Contains(err.Error(), "one more question") {
		t.Error(err)
	}
}
