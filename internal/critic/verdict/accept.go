package verdict

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// accept says why a DONE does not count. Only its form and its place decide, never its words;
// other decisions always count.
func (p Parser) accept(c claim, other string) error {
	v := c.verdict
	low := v.Score != nil && *v.Score < p.Policy.Threshold()
	if v.Decision != loop.Done || low { // a low score sends the work back, whatever is open
		return nil
	}
	if c.open != "" {
		return problem("the reply says DONE and also names what is open: %s; say CONTINUE if anything is to be done, else DONE without it", quote(c.open))
	}
	if c.sealed == loop.SealRight {
		return nil
	}
	for _, text := range []string{v.Feedback, v.Recovery} { // no part of the form of a DONE
		if text != "" {
			return problem("the reply says DONE and also names what is open: %s; say CONTINUE if anything is to be done, else repeat the seal", quote(text))
		}
	}
	if other != "" {
		return problem("the reply says DONE and elsewhere %s; decide once, or repeat the seal in the block that counts", quote(other))
	}
	if _, remark := answers(part(behind(c.tail), false), ""); strings.Trim(remark, rules) != "" {
		return problem("the reply goes on after its DONE: %s; let the block be the last of it, or repeat the seal in it", quote(remark))
	}
	if p.Quoted != nil && p.Quoted(c.lines) {
		return problem("the DONE stands in the evidence word for word, so it may be a quotation; decide in your own words and with the seal")
	}
	return nil
}

// open returns what a decision, if it is DONE, itself says is still to be done, "" for nothing: an issue, a required
// change, a finding that it calls open, or a point that is marked as a must.
func open(c claim) string {
	v := c.verdict
	for _, text := range slices.Concat(v.Issues, v.RequiredChanges) {
		return text
	}
	for _, a := range v.Answers {
		if a.State == loop.FindingOpen {
			return "finding " + a.ID
		}
	}
	for _, text := range []string{v.Summary, v.Feedback, v.Analysis, v.Recovery} {
		if point := Required(text); point != "" {
			return point
		}
	}
	return ""
}

// rules are what Markdown's lines between sections consist of.
const rules = "-*_=~` \n"

// behind returns the text after a decision, without the end of its tag or fence.
func behind(tail string) string {
	tail = strings.TrimLeft(tail, "*_`~ \n")
	if hasPrefixFold(tail, closeTag) {
		tail = tail[len(closeTag):]
	}
	return strings.TrimSpace(tail)
}

// evidence returns what others wrote about a case, uncut and [spelled].
func evidence(matter loop.Case) []string {
	texts := []string{matter.Task, matter.Attempt.Stdout.Text, matter.Attempt.Stderr.Text, matter.Attempt.Reason, matter.Change.Patch()}
	for _, c := range matter.Checks {
		texts = append(texts, c.Command+"\n"+c.Output.Text)
	}
	for _, o := range matter.Opinions {
		texts = append(texts, o.Says)
	}
	return spelledAll(texts)
}

func spelledAll(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = spelled(wording.Clean(text))
	}
	return all
}

// stands reports whether a line is in one of the texts, which are [spelled]. Only letters
// and digits count, so that markers of quotations or added lines do not matter.
func stands(line string, texts []string) bool {
	said := spelled(line)
	return strings.TrimSpace(said) == "" || slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, said) })
}
