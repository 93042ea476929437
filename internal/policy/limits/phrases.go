package limits

import (
	"fmt"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/wording"
)

// DenyPhrases forbids adding any of the phrases, as whole words, in any case and even across
// line breaks. An existing phrase may move, or stay in a changed line.
type DenyPhrases []string

// Inspect implements [policy.Inspector].
func (d DenyPhrases) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	if len(d) == 0 {
		return nil
	}
	more := make([]int, len(d)) // how many more times each phrase occurs than when the session began
	in := make([][]string, len(d))
	for _, f := range tamper.Files(c.Change) {
		for i, n := range d.added(f.Patch) {
			if more[i] += n; n > 0 {
				in[i] = append(in[i], f.Path)
			}
		}
	}
	var found []string
	for i, n := range more {
		if n > 0 {
			found = append(found, fmt.Sprintf("%s in %s", strconv.Quote(d[i]), listed(in[i])))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: "denied phrases were written: " + few(found),
		Feedback: fmt.Sprintf("These phrases may not be written, in upper or lower case: %s. Found: %s. Say it in another way, or leave it out.",
			listed(d), few(found)),
	}
}

// added counts the additions of each phrase in a patch, less the removals.
func (d DenyPhrases) added(patch string) []int {
	all := make([]int, len(d))
	for _, g := range groups(patch) {
		before, after := flat(strings.Join(g.before, "")), flat(strings.Join(g.after, ""))
		for i, phrase := range d {
			all[i] += strings.Count(after, flat(phrase)) - strings.Count(before, flat(phrase))
		}
	}
	return all
}

// token matches a word, or any other character but blanks.
var token = wording.Pattern(`[\pL\pN_]+|\S`)

// flat returns a text in lower case and with blanks around each token, so that a phrase is found as whole words only.
func flat(text string) string {
	return " " + strings.Join(token().FindAllString(strings.ToLower(text), -1), "  ") + " "
}
