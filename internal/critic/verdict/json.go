package verdict

import (
	"strings"

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
func (r *reading) line(l line) {
	if wording.Indent(l.text) > maxIndent {
		return
	}
	body := strings.TrimLeft(l.text, " \t")
	switch at := l.end - len(body); {
	case hasPrefixFold(body, openTag):
		r.tagged(l, at+len(openTag))
	case hasPrefixFold(body, closeTag):
		r.push(l.start)
	case strings.HasPrefix(body, "{"):
		r.bareObject(at)
	}
}

// tagged reads the text between the tags, which may be a JSON object in a fence. Tags
// around anything else only end the value before them.
func (r *reading) tagged(l line, from int) {
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
		return
	}
	c, ok := wholeObject(content, r.seal)
	if !ok || r.boundary.In(content) {
		c.problem = problem("what stands in %s is no decision: %s", openTag, quote(content))
	}
	r.add(c, l.start, to)
	r.skipTo(to)
}

// bareObject reads the JSON object at an offset. One that never ends is a decision that cannot be
// read if it may be one.
func (r *reading) bareObject(at int) {
	text := r.text[at:]
	if r.endless || !strings.HasPrefix(strings.TrimLeft(text[1:], " \t\n"), `"`) {
		return
	}
	n := objectEnd(text)
	if n < 0 {
		if mentions(text) {
			r.add(claim{sealed: r.seal.within(text), problem: problem("a JSON object in the reply never ends: %s", quote(text))}, at, at)
		}
		r.endless = true // none below it is read: each would be searched to the end of the reply
		return
	}
	src := text[:n]
	after, _, _ := strings.Cut(text[n:], "\n")
	after = strings.TrimSpace(after)
	if c, ok := parseObject(src, r.seal); ok {
		switch {
		case r.boundary.In(src):
			c.problem = problem("a JSON object in the reply reaches into the evidence")
		case after != "" && !strings.EqualFold(after, closeTag):
			c.problem = problem("a JSON object with a decision is followed by other text in its line: %s", quote(after))
		}
		r.add(c, at, at+n)
	}
	r.skipTo(at + n)
}

// add records the claim of an object between two offsets.
func (r *reading) add(c claim, at, end int) {
	c.at, c.tail = at, r.text[end:]
	r.objects = append(r.objects, c)
}

// wholeObject reads a text that is one JSON object and nothing else. Anything else that mentions a
// decision is one that cannot be read.
func wholeObject(text string, s Seal) (c claim, ok bool) {
	n := objectEnd(text)
	if n < 0 || strings.TrimSpace(text[n:]) != "" {
		c.problem = problem("the JSON of the reply cannot be read as one object: %s", quote(text))
		return c, mentions(text)
	}
	return parseObject(text, s)
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
