package verdict

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// The labels that begin the lines of a verdict.
const (
	labelDecision   = "DECISION"
	labelSummary    = "SUMMARY"
	labelConfidence = "CONFIDENCE"
	labelScore      = "SCORE"
	labelFeedback   = "FEEDBACK"
	labelAnalysis   = "ANALYSIS"
	labelRecovery   = "RECOVERY"
	labelSeal       = "SEAL"
)

func labels() []string {
	return []string{labelDecision, labelSummary, labelConfidence, labelScore, labelFeedback, labelAnalysis, labelRecovery, labelSeal}
}

// maxPrefix bounds the Markdown before a label, in bytes.
const maxPrefix = 64

// splitLabel splits a line into its label and the rest; "" if it begins with none.
func splitLabel(line string) (name, value string) {
	if wording.Indent(line) > maxIndent {
		return "", ""
	}
	for _, name := range labels() {
		value, ok := labelled(line, name)
		if ok && (name != labelSeal || value == "" || sealOf(value) != "") { // else SEAL is a word of a sentence
			return name, value
		}
	}
	return "", ""
}

// labelled returns the text after a label and a colon, if a line begins with them.
func labelled(line, label string) (said string, ok bool) {
	rest, marks := skipMarkup(line)
	if !hasPrefixFold(rest, label) {
		return "", false
	}
	said, closed, ok := cutColon(rest[len(label):])
	if marks != "" && !closed {
		said = closeMarks(said, marks)
	}
	return strings.TrimFunc(said, blank), ok
}

// skipMarkup skips list bullets, headings, emphasis, back-ticks and emoji. marks is the
// emphasis that is still open after them.
func skipMarkup(line string) (rest, marks string) {
	rest = line
	for len(line)-len(rest) < maxPrefix {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case n == 0:
			return rest, marks
		case strings.ContainsRune("*-+•–", r) && spaceAfter(rest[n:]):
		case r == '#', blank(r), decoration(r):
		case strings.ContainsRune("*_`", r):
			marks += rest[:n]
		case r >= '0' && r <= '9':
			n = number(rest)
			if n == 0 {
				return rest, marks
			}
		default:
			return rest, marks
		}
		rest = rest[n:]
	}
	return "", ""
}

func spaceAfter(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && unicode.IsSpace(r)
}

var listNumber = wording.Pattern(`^[0-9]{1,3}[.)]`)

// number returns the length of a list number such as "1.", 0 for none.
func number(s string) int {
	if n := len(listNumber().FindString(s)); spaceAfter(s[n:]) {
		return n
	}
	return 0
}

// decoration reports whether r is an emoji or the like. Box drawing is not, because
// terminals mark quotations with a bar on the left. Nor is U+FFFD, which may replace
// anything.
func decoration(r rune) bool {
	box := r >= 0x2500 && r <= 0x259f
	return r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sk) && !box && r != unicode.ReplacementChar
}

// cutColon returns the text after a colon; closed is set if emphasis ends before the colon.
func cutColon(s string) (value string, closed, ok bool) {
	s = strings.TrimLeftFunc(s, blank)
	inner := strings.TrimLeft(s, "*_`")
	closed = inner != s
	inner = strings.TrimLeftFunc(inner, blank)
	for _, colon := range []string{":", "："} {
		if value, ok := strings.CutPrefix(inner, colon); ok {
			return value, closed, true
		}
	}
	return "", false, false
}

// closeMarks removes the end of the emphasis that began before the label, after the colon
// or at the end of the line.
func closeMarks(value, marks string) string {
	reversed := []byte(marks) // all ASCII
	slices.Reverse(reversed)
	ends := string(reversed)
	if rest, ok := strings.CutPrefix(value, ends); ok {
		return rest
	}
	return strings.TrimSuffix(strings.TrimRightFunc(value, blank), ends)
}
