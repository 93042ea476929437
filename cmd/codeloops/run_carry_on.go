package main

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// carryOn is the command that carries the session on, to be typed where this one
// was; "" where there is nothing to carry on. With it the session goes on as it was
// going.
func (r *runCommand) carryOn(out loop.Outcome) string {
	flags, ok := r.plan.CarryOn(out)
	if !ok || r.opts.demo {
		return ""
	}
	words := slices.Concat([]string{"codeloops", "resume"}, run.Spelled(flags), []string{r.plan.ID()})
	for i, word := range words {
		words[i] = wording.Shell(word)
	}
	line := strings.Join(words, " ")
	if term.Line(line) != line || r.app.Secrets.String(line) != line {
		return "" // it cannot be shown as it has to be typed
	}
	return line
}
