package verdict

import (
	"cmp"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// The tags that may enclose a JSON object.
const (
	openTag  = "<decision>"
	closeTag = "</decision>"
)

var closing = wording.Pattern("(?i)" + closeTag)

func tagLine(text string) bool {
	text = strings.TrimSpace(text)
	return strings.EqualFold(text, openTag) || strings.EqualFold(text, closeTag)
}

// line reads the JSON object or the tag at the beginning of a line, if any, and continues
// after it.
func (r *reading) line(l line) error {
	if wording.Indent(l.text) > maxIndent {
		return nil
	}
	body := strings.TrimLeft(l.text, " \t")
	switch at := l.end - len(body); {
	case hasPrefixFold(body, openTag):
		return r.tagged(l, at+len(openTag))
	case hasPrefixFold(body, closeTag):
		r.push(l.start)
	case strings.HasPrefix(body, "{"):
		return r.bareObject(at)
	}
	return nil
}

// tagged reads the text between the tags, which may be a JSON object in a fence. Tags
// around anything else only end the value before them.
func (r *reading) tagged(l line, from int) error {
	r.push(l.start)
	if r.closeAt < from {
		r.closeAt = len(r.text)
		if at := closing().FindStringIndex(r.text[from:]); at != nil {
			r.closeAt = from + at[0]
		}
	}
	to := r.closeAt
	content := strings.TrimSpace(unfence(r.text[from:to]))
	if !strings.HasPrefix(content, "{") {
		return nil
	}
	c, ok, err := wholeObject(content, r.seal)
	if err != nil {
		return err
	}
	if !ok || r.boundary.In(content) {
		return problem("what stands in %s is no decision: %s", openTag, quote(content))
	}
	r.add(c, l.start, to)
	r.skipTo(to)
	return nil
}

// bareObject reads the JSON object at an offset.
func (r *reading) bareObject(at int) error {
	text := r.text[at:]
	if !strings.HasPrefix(strings.TrimLeft(text[1:], " \t\n"), `"`) {
		return nil
	}
	n := objectEnd(text)
	if n < 0 {
		return problem("a JSON object in the reply never ends: %s", quote(text))
	}
	src := text[:n]
	after, _, _ := strings.Cut(text[n:], "\n")
	after = strings.TrimSpace(after)
	c, ok, err := parseObject(src, r.seal)
	switch {
	case err != nil:
		return err
	case ok && r.boundary.In(src):
		return problem("a JSON object in the reply reaches into the evidence")
	case ok && after != "" && !strings.EqualFold(after, closeTag):
		return problem("a JSON object with a decision is followed by other text in its line: %s", quote(after))
	case ok:
		r.add(c, at, at+n)
	}
	r.skipTo(at + n)
	return nil
}

// add records the claim of an object between two offsets.
func (r *reading) add(c claim, at, end int) {
	c.at, c.tail, c.lead = at, r.text[end:], r.text[:at]
	r.objects = append(r.objects, c)
}

// wholeObject reads a text that is one JSON object and nothing else. It is an error if the
// text is something else and mentions a decision.
func wholeObject(text string, s Seal) (c claim, ok bool, err error) {
	n := objectEnd(text)
	if n < 0 || strings.TrimSpace(text[n:]) != "" {
		if !mentions(text) {
			return c, false, nil
		}
		return c, true, problem("the JSON of the reply cannot be read as one object: %s", quote(text))
	}
	return parseObject(text, s)
}

// merge fills the gaps of a verdict in text with what a JSON object says.
func merge(text, object loop.Verdict) loop.Verdict {
	v := object
	v.Summary = cmp.Or(text.Summary, v.Summary)
	v.Feedback = cmp.Or(text.Feedback, v.Feedback)
	v.Analysis = cmp.Or(text.Analysis, v.Analysis)
	v.Recovery = cmp.Or(text.Recovery, v.Recovery)
	v.Confidence = cmp.Or(text.Confidence, v.Confidence)
	v.Score = cmp.Or(text.Score, v.Score)
	v.Answers = settle(slices.Concat(text.Answers, v.Answers))
	return v
}

// unfence removes the fence around a text.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n")
	_, size, atStart := opening(first)
	if size == 0 || !atStart {
		return text
	}
	if i := strings.LastIndexByte(rest, '\n'); i >= 0 && strings.Trim(rest[i:], "`~ \t\n") == "" {
		return rest[:i]
	}
	return rest
}
