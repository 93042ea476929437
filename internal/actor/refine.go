package actor

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// Limits for what a template shows of the last turn, in bytes.
const (
	maxOutput = 24 << 10
	maxDiff   = 120 << 10
	maxFiles  = 16 << 10
)

// refine fills in the user's template. Each place begins on a new line; the output of
// agents and programs is in fences, with the same limits as without a template.
func refine(p *strings.Builder, t prompt.Template, b loop.Brief) {
	for _, piece := range t {
		if text := piece.Words(); text != "" {
			fmt.Fprintf(p, "\n%s\n", text)
		}
		switch piece.Place {
		case prompt.Prompt:
			fmt.Fprintf(p, "\n%s\n", strings.Trim(b.Task, "\n"))
		case prompt.Output:
			output(p, b.Previous.Attempt.Stdout)
		case prompt.Diff:
			difference(p, b.Previous.Change)
		case prompt.Critique:
			lead, words := heard(*b.Previous)
			said(p, lead, words)
		case prompt.Workers: // no template of this kind has it
		case prompt.Issues:
			lead, words := heard(*b.Previous)
			if words != "" {
				words = prompt.Bulleted(b.Previous.Verdict)
			}
			if t.Holds(prompt.Critique) {
				lead = "" // it is there
			}
			said(p, lead, words)
		}
	}
}

func said(p *strings.Builder, lead, words string) {
	if lead != "" {
		fmt.Fprintf(p, "\n%s\n", lead)
	}
	quoted(p, words)
}

// output shows what the actor printed in its last turn.
func output(p *strings.Builder, o loop.Output) {
	text := strings.TrimSpace(wording.Clean(o.Text))
	if text == "" {
		p.WriteString("\nYour last turn printed nothing.\n")
		return
	}
	p.WriteString("\n")
	p.WriteString(prompt.Fenced(prompt.Clip(text, maxOutput, maxOutput/3)))
}

// difference shows what has changed since the loop began.
func difference(p *strings.Builder, c loop.Change) {
	if c.Empty() {
		p.WriteString("\nNothing in the repository has changed since the loop began.\n")
		return
	}
	x := prompt.ExcerptOf(c, maxDiff, maxFiles)
	p.WriteString("\n")
	p.WriteString(prompt.Fenced(strings.TrimRight(wording.Clean(x.Files), "\n") + "\n\n" + wording.Clean(x.Diff)))
}
