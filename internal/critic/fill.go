package critic

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// fill writes the user's template in place of our own instructions. Its placeholders show
// the same evidence, with the same boundary and budget, as without a template. How the
// actor's turn went always follows.
func (d *draft) fill(t prompt.Template, matter loop.Case) {
	last := lastReview(matter.History)
	for _, piece := range t {
		if text := piece.Words(); text != "" {
			d.sayf("%s", text)
		}
		switch piece.Place {
		case prompt.Prompt:
			d.task(matter.Task)
		case prompt.Output:
			d.printed(matter.Attempt)
		case prompt.Diff:
			d.change(matter.Change)
		case prompt.Critique:
			d.said("the last review", last.Guidance())
		case prompt.Workers: // no template of this kind has it
		case prompt.Issues:
			d.said("issues of the last review", prompt.Bulleted(last))
		}
	}
	d.turn(matter.Attempt)
}

// said shows text of the last review.
func (d *draft) said(title, words string) {
	words = strings.TrimSpace(wording.Clean(words))
	if words == "" {
		d.sayf("There is nothing from an earlier review.")
		return
	}
	d.show(title, prompt.Clip(words, d.budget.History, d.budget.History/2))
}

// lastReview returns the last verdict of a critic.
func lastReview(history []loop.Round) loop.Verdict {
	for _, r := range slices.Backward(history) {
		if !r.Unjudged && r.Review.Problem == "" {
			return r.Verdict
		}
	}
	return loop.Verdict{}
}
