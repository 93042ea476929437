package critic

import (
	"slices"
	"strings"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/loop"
	"codeloops/internal/plain"
	"codeloops/internal/template"
)

// fill writes the user's own template, in place of our words on how to judge.
// What stands in its places is the same evidence, within the same boundary and
// budget, as without one; how the actor's turn went follows in any case.
func (p *prompt) fill(t template.Template, matter loop.Case, budget Budget) {
	last := lastReview(matter.History)
	for _, piece := range t {
		if text := strings.TrimRight(strings.TrimLeft(plain.Text(piece.Text), "\n"), " \t\n"); text != "" {
			p.sayf("%s", text)
		}
		switch piece.Place {
		case template.Prompt:
			p.task(matter.Task)
		case template.Output:
			p.printed(matter.Attempt, budget)
		case template.Diff:
			p.change(matter.Change, budget)
		case template.Critique:
			p.said("the last review", last.Guidance(), budget)
		case template.Issues:
			p.said("issues of the last review", template.Bulleted(last), budget)
		}
	}
	p.turn(matter.Attempt, budget)
}

// said shows words of the last review.
func (p *prompt) said(title, words string, budget Budget) {
	words = strings.TrimSpace(plain.Text(words))
	if words == "" {
		p.sayf("There is nothing from an earlier review.")
		return
	}
	p.show(title, excerpt.Clip(words, budget.History, budget.History/2))
}

// lastReview is the last verdict that a critic has given.
func lastReview(history []loop.Round) loop.Verdict {
	for _, r := range slices.Backward(history) {
		if !r.Unjudged && r.Review.Problem == "" {
			return r.Verdict
		}
	}
	return loop.Verdict{}
}
