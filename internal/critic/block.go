package critic

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
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

// A block is one decision line with what follows it, up to the next one.
type block struct {
	at       int  // of the decision line
	apart    bool // it has a blank line, or nothing, before it
	decision field
	fields   []field

	// What settle finds.
	word    loop.Decision // "" when the line holds none
	said    string        // the text that should be a decision
	rest    string        // the remark, and text up to the first label
	heading bool          // no decision, only a title above a JSON object or a fence
	mixed   bool          // another decision stands right below
	runsOn  bool          // the next line goes on with a sentence
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
	next, _, _ := strings.Cut(below, "\n")
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(next, blank))
	b.runsOn = unicode.IsLower(r)

	below = strings.TrimSpace(below)
	first, _ := cutLine(below)
	if other, more, ok := decide(first); ok && other != word && (more == "" || word == loop.Done) {
		b.mixed = true
	}
	b.rest = strings.TrimSpace(remark + "\n" + below)
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

// bare reports whether the block is nothing but its decision.
func (b *block) bare() bool { return len(b.fields) == 0 && b.rest == "" }

// standsAlone reports whether the block shows by its form that it is a verdict
// and not a line of somebody's text: it goes on with what belongs to a DONE,
// or stands apart at the end of the reply.
func (b *block) standsAlone() bool {
	if b.rest != "" {
		return false
	}
	if len(b.fields) == 0 {
		return b.apart
	}
	companions := []label{labelSummary, labelConfidence, labelScore}
	return slices.Contains(companions, b.fields[0].name)
}

// placeholder returns a value that is still what the instructions have in its
// place.
func placeholder(fields []field, text string) (string, bool) {
	for _, f := range fields {
		if first, _ := cutLine(f.value(text)); isPlaceholder(first) {
			return first, true
		}
	}
	return "", false
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
