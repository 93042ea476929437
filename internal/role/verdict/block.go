package verdict

import (
	"cmp"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/prompt"
)

// A field is a label with its value: the rest of the label's line and the
// lines up to the next label.
type field struct {
	name     label
	first    string
	from, to int // of the lines that follow
}

func (f field) value(text string) string {
	return strings.TrimSpace(f.first + "\n" + text[f.from:f.to])
}

// prose reports whether the value is text of any length.
func (f field) prose() bool {
	return f.name != labelConfidence && f.name != labelScore && f.name != labelSeal && f.name != labelDecision
}

// A block is one decision line with what follows it, up to the next one.
type block struct {
	at       int // of the decision line
	decision field
	fields   []field

	// What settle finds.
	word     loop.Decision // "" when the line holds none
	said     string        // the text that should be a decision
	rest     string        // the remark, and text up to the first label
	heading  bool          // no decision, only a title above a JSON object or a fence
	unfilled bool          // the form of the instructions
}

// settle reads the block's decision once all of it is known.
func (b *block) settle(text string) {
	below := text[b.decision.from:b.decision.to]
	b.said = b.decision.first
	if b.said == "" {
		b.said, below = cutLine(below)
		b.heading = titled(b.said)
	}
	word, remark, _ := decide(b.said)
	b.word = word
	b.rest = strings.TrimSpace(remark + "\n" + strings.TrimSpace(below))
}

// verdict makes a verdict of the block. Text without a label goes where the
// decision's own text belongs.
func (b *block) verdict(text string, fields []field, outer prompt.Boundary) loop.Verdict {
	joined := func(name label) string { return strings.Join(values(fields, name, len(b.fields), text), "\n") }
	last := func(name label) (n *float64) {
		for _, v := range values(fields, name, len(b.fields), text) {
			n = fraction(v)
		}
		return n
	}
	v := loop.Verdict{
		Decision: b.word,
		Summary:  joined(labelSummary),
		Rating:   loop.Rating{Confidence: last(labelConfidence), Score: last(labelScore)},
		Feedback: joined(labelFeedback),
		Analysis: joined(labelAnalysis),
		Recovery: joined(labelRecovery),
	}
	found, rest := answers(b.rest, outer)
	for _, f := range fields {
		more, _ := answers(f.value(text), outer)
		found = append(found, more...)
	}
	v.Answers = settle(found)
	own := &v.Feedback
	switch v.Decision {
	case loop.Done:
		own = &v.Summary
		_, v.Summary = answers(v.Summary, outer)
	case loop.Error, escalate:
		own = &v.Analysis
	case loop.Continue:
	}
	if *own == "" {
		*own = rest
	}
	if v.Decision == escalate {
		v.Decision = loop.Error
		v.Escalation = cmp.Or(v.Analysis, v.Guidance(), NoReason)
	}
	return v
}

// values returns what stands under a label, one text per label: below the
// decision, where the first own of the fields stand, or else above it.
func values(fields []field, name label, own int, text string) (out []string) {
	for i, f := range fields {
		if i == own && len(out) > 0 {
			break
		}
		if v := f.value(text); f.name == name && v != "" {
			out = append(out, v)
		}
	}
	return out
}

// end returns where the block is over: behind its last line, or the first
// paragraph of a text that is its last value.
func (b *block) end(text string) int {
	last := b.decision
	if n := len(b.fields); n > 0 {
		last = b.fields[n-1]
	}
	value := text[last.from:last.to]
	switch {
	case last.first != "" && !last.prose():
		return last.from
	case last.first != "":
		return last.from + paragraph(value)
	}
	skipped := len(value) - len(strings.TrimLeft(value, "\n"))
	if !last.prose() {
		first, _, _ := strings.Cut(value[skipped:], "\n")
		return last.from + skipped + len(first)
	}
	return last.from + skipped + paragraph(value[skipped:])
}

// paragraph returns the length of a text up to its first blank line.
func paragraph(text string) int {
	if strings.HasPrefix(text, "\n") {
		return 0
	}
	if i := strings.Index(text, "\n\n"); i >= 0 {
		return i
	}
	return len(text)
}

// cutLine cuts the first line that is not blank off a text.
func cutLine(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	return strings.TrimSpace(first), rest
}

// titled reports whether a line below an empty DECISION label begins something
// that is read by itself.
func titled(line string) bool {
	_, size, _ := opening(line)
	return size > 0 || strings.HasPrefix(line, "{") || hasPrefixFold(line, openTag)
}

// placeholder returns a value that is still what the instructions have in its
// place; form is whether all of them are.
func placeholder(fields []field, text string) (mark string, form bool) {
	form = true
	for _, f := range fields {
		first, _ := cutLine(f.value(text))
		switch {
		case f.name == labelSeal:
		case isPlaceholder(first):
			mark = cmp.Or(mark, first)
		default:
			form = false
		}
	}
	return mark, form && mark != ""
}

// isPlaceholder reports whether a value is "<something>" or an ellipsis.
func isPlaceholder(value string) bool {
	value = strings.Trim(value, "*_`\" \t")
	inner, opened := strings.CutPrefix(value, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	return value == "…" || value == "..." || opened && closed && !strings.ContainsAny(inner, "<>")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
