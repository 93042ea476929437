package prompt

import (
	"strings"

	"codeloops/internal/loop"
)

// A Brief is what the user tells a role.
type Brief struct {
	Instructions string   // in addition to our words
	Template     Template // in place of our words; nil: none
}

// Question is what a role is asked: our words or the user's, the user's instructions, and the form
// of the reply, which no user can replace.
func (b Brief) Question(c loop.Call) string {
	var parts []string
	add := func(text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			parts = append(parts, text)
		}
	}
	if b.Template == nil || c.Prompt == "" {
		add(c.Prompt)
	} else {
		for _, piece := range b.Template {
			add(piece.Words())
			add(map[Place]string{Prompt: Fenced(c.Task), Workers: c.Workers}[piece.Place])
		}
	}
	add(b.Instructions)
	add(c.Form)
	return strings.Join(parts, "\n\n")
}
