package prompt_test

import (
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// TestQuestion: a user's template takes the place of our words, never that of the form.
func TestQuestion(t *testing.T) {
	t.Parallel()
	call := loop.Call{Prompt: "Choose.\n\n- a: writes", Form: "NEXT: <name>", Workers: "- a: writes", Task: "do ``` it"}
	of := func(text string) prompt.Template {
		asked, err := prompt.ForRole(text, true)
		if err != nil {
			t.Fatal(err)
		}
		return asked
	}
	for want, b := range map[string]prompt.Brief{
		"Choose.\n\n- a: writes\n\nNEXT: <name>":                                            {},
		"Choose.\n\n- a: writes\n\nBe quick.\n\nNEXT: <name>":                               {Instructions: "Be quick.\n"},
		"Who?\n\n- a: writes\n\nFor:\n\n````\ndo ``` it\n````\n\nBe quick.\n\nNEXT: <name>": {"Be quick.", of("Who?\n{worker_descriptions}\nFor: {prompt}\n")},
	} {
		if got := b.Question(call); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (prompt.Brief{Template: of("{worker_descriptions}")}).Question(loop.Call{Form: "vote: <name>"}); got != "vote: <name>" {
		t.Errorf("another question of the role: %q", got)
	}
}
