package verdict

import (
	"cmp"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// A field is a label with its value: the rest of the label's line, and the lines below it up
// to the next label.
type field struct {
	name  string
	first string
	below string
	from  int // the offset of below
}

func (f field) value() string { return strings.TrimSpace(f.first + "\n" + f.below) }

// prose reports whether the value is text of any length.
func (f field) prose() bool {
	return f.name != labelConfidence && f.name != labelScore && f.name != labelSeal && f.name != labelDecision
}

// A block is a decision line with what follows it, up to the next decision line.
type block struct {
	at       int // the offset of the decision line
	decision field
	fields   []field
	above    []field // above the decision line, if there is no other block

	// Set by settle:
	word    loop.Decision // "" for none
	said    string        // the text that should be a decision
	rest    string        // the remark, and the text up to the first label
	heading bool          // only a title above a JSON object or a fence
}

// settle reads the decision of a complete decision line.
func (b *block) settle(line field) {
	b.decision = line
	below := line.below
	b.said = line.first
	if b.said == "" {
		b.said, below = cutLine(below)
		b.heading = titled(b.said)
	}
	word, remark := decisionOf(b.said)
	b.word = word
	b.rest = strings.TrimSpace(remark + "\n" + strings.TrimSpace(below))
}

// verdict converts the block to a verdict. Text without a label becomes the decision's
// main text.
func (b *block) verdict(outer prompt.Boundary) loop.Verdict {
	joined := func(name string) string { return strings.Join(b.values(name), "\n") }
	last := func(name string) (n *float64) {
		for _, v := range b.values(name) {
			n = fraction(v)
		}
		return n
	}
	v := loop.Verdict{
		Summary:  joined(labelSummary),
		Rating:   loop.Rating{Confidence: last(labelConfidence), Score: last(labelScore)},
		Feedback: joined(labelFeedback),
		Analysis: joined(labelAnalysis),
		Recovery: joined(labelRecovery),
	}
	found, rest := answers(b.rest, outer)
	for _, f := range b.all() {
		more, _ := answers(f.value(), outer)
		found = append(found, more...)
	}
	v.Answers = settle(found)
	switch b.word {
	case loop.Done:
		_, v.Summary = answers(v.Summary, outer)
	case escalate:
		v.Analysis = cmp.Or(v.Analysis, rest)
		rest = v.Analysis
	case loop.Continue, loop.Error:
	}
	return withDecision(v, b.word, rest)
}

// all returns the labels below and above the decision line.
func (b *block) all() []field { return slices.Concat(b.fields, b.above) }

// values returns the texts of a label: those below the decision line, or else those above.
func (b *block) values(name string) (out []string) {
	for _, fields := range [][]field{b.fields, b.above} {
		for _, f := range fields {
			if v := f.value(); f.name == name && v != "" {
				out = append(out, v)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// seals returns the seals in the block.
func (b *block) seals() (all []Seal) {
	for _, f := range b.all() {
		if f.name == labelSeal {
			first, _ := cutLine(f.value())
			all = append(all, sealOf(first))
		}
	}
	return all
}

// lent returns the seal in the block's last line, if the next block begins right below it: it may have been written
// for that one.
func (b *block) lent() []Seal {
	if n := len(b.fields); n > 0 && b.fields[n-1].name == labelSeal && b.fields[n-1].below == "" {
		return []Seal{sealOf(b.fields[n-1].first)}
	}
	return nil
}

// given returns the numbers in the block.
func (b *block) given() numbers {
	n := numbers{}
	for _, f := range b.all() {
		if f.name == labelScore || f.name == labelConfidence {
			n[f.name] = append(n[f.name], fraction(f.value()))
		}
	}
	return n
}

// end returns the offset of the end of the block: after its last line, or after the first
// paragraph of its last value.
func (b *block) end() int {
	last := b.decision
	if n := len(b.fields); n > 0 {
		last = b.fields[n-1]
	}
	value := last.below
	if last.first == "" {
		value = strings.TrimLeft(value, "\n")
	}
	at := last.from + len(last.below) - len(value)
	switch {
	case last.prose():
		return at + paragraph(value)
	case last.first == "":
		first, _, _ := strings.Cut(value, "\n")
		return at + len(first)
	}
	return at
}

// paragraph returns the length of a text up to its first blank line.
func paragraph(text string) int {
	if strings.HasPrefix(text, "\n") {
		return 0
	}
	first, _, _ := strings.Cut(text, "\n\n")
	return len(first)
}

// cutLine splits a text after its first line that is not blank.
func cutLine(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	return strings.TrimSpace(first), rest
}

// titled reports whether a line below an empty DECISION label begins a fence, an object or
// a tag, which is read separately.
func titled(line string) bool {
	_, size, _ := opening(line)
	return size > 0 || strings.HasPrefix(line, "{") || hasPrefixFold(line, openTag)
}

// placeholder returns a value that is still a placeholder of the instructions; form is set
// if all values are.
func (b *block) placeholder() (mark string, form bool) {
	form = true
	for _, f := range b.all() {
		first, _ := cutLine(f.value())
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
