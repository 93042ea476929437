package critic

import (
	"strings"

	"codeloops/internal/loop"
)

// The tags that may enclose a JSON object.
const (
	openTag  = "<decision>"
	closeTag = "</decision>"
)

func tagLine(text string) bool {
	text = strings.TrimSpace(text)
	return strings.EqualFold(text, openTag) || strings.EqualFold(text, closeTag)
}

// A claim is what the JSON objects in the critic's own words say together.
type claim struct {
	made    bool
	at      int // of the first
	verdict loop.Verdict
	clash   bool // they differ
}

func (c *claim) add(v loop.Verdict, at int) {
	if !c.made {
		c.made, c.at = true, at
	} else if !agree(c.verdict, v) {
		c.clash = true
	}
	c.verdict = v
}

func agree(a, b loop.Verdict) bool {
	return a.Decision == b.Decision && (a.Escalation == "") == (b.Escalation == "")
}

// object reads the JSON object or the tag that a line begins with, if it does,
// and goes on behind it.
func (r *reading) object(l line) error {
	if indent(l.text) > maxIndent {
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

// tagged reads what stands between the tags, which may be a JSON object in a
// fence. Tags around anything else only end the value before them.
func (r *reading) tagged(l line, from int) error {
	r.push(l.start)
	if r.closeAt < from {
		r.closeAt = indexFold(r.text, from, closeTag)
	}
	to := r.closeAt
	content := strings.TrimSpace(unfence(r.text[from:to]))
	if !strings.HasPrefix(content, "{") {
		return nil
	}
	v, ok, err := wholeObject(content)
	if err != nil {
		return err
	}
	if !ok || r.boundary.in(content) {
		return problem("what stands in %s is no decision: %s", openTag, quote(content))
	}
	r.claim.add(v, l.start)
	r.skipTo(to)
	return nil
}

// bareObject reads the JSON object that begins at the offset.
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
	if !mentions(src) {
		r.skipTo(at + n)
		return nil
	}
	v, ok, err := parseObject(src)
	switch {
	case err != nil:
		return err
	case ok && r.boundary.in(src):
		return problem("a JSON object in the reply reaches into the evidence")
	case ok && after != "" && !strings.EqualFold(after, closeTag):
		return problem("a JSON object with a decision is followed by other text in its line: %s", quote(after))
	case ok:
		r.claim.add(v, at)
	}
	r.skipTo(at + n)
	return nil
}

// wholeObject reads a text that is one JSON object and nothing else. A torn
// one that would decide is an error.
func wholeObject(text string) (v loop.Verdict, ok bool, err error) {
	n := objectEnd(text)
	if n < 0 || strings.TrimSpace(text[n:]) != "" {
		if !mentions(text) {
			return v, false, nil
		}
		return v, true, problem("the JSON of the reply cannot be read as one object: %s", quote(text))
	}
	return parseObject(text)
}

// merge fills what text leaves empty with what the object says.
func merge(text, object loop.Verdict) loop.Verdict {
	pick := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	number := func(a, b *float64) *float64 {
		if a != nil {
			return a
		}
		return b
	}
	v := object
	v.Summary = pick(text.Summary, v.Summary)
	v.Feedback = pick(text.Feedback, v.Feedback)
	v.Analysis = pick(text.Analysis, v.Analysis)
	v.Recovery = pick(text.Recovery, v.Recovery)
	v.Confidence = number(text.Confidence, v.Confidence)
	v.Score = number(text.Score, v.Score)
	return v
}

// unfence takes the fence off a text that stands in one.
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

// indexFold returns the offset of an ASCII word at or after from, or the
// length of the text.
func indexFold(text string, from int, word string) int {
	for i := from; ; i++ {
		n := strings.IndexByte(text[i:], word[0])
		if n < 0 {
			return len(text)
		}
		if i += n; hasPrefixFold(text[i:], word) {
			return i
		}
	}
}
