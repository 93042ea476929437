package verdict

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// A label is what a line of a verdict begins with.
type label uint8

const (
	noLabel label = iota
	labelDecision
	labelSummary
	labelConfidence
	labelScore
	labelFeedback
	labelAnalysis
	labelRecovery
	labelSeal
)

func (l label) String() string {
	switch l {
	case noLabel:
	case labelDecision:
		return "DECISION"
	case labelSummary:
		return "SUMMARY"
	case labelConfidence:
		return "CONFIDENCE"
	case labelScore:
		return "SCORE"
	case labelFeedback:
		return "FEEDBACK"
	case labelAnalysis:
		return "ANALYSIS"
	case labelRecovery:
		return "RECOVERY"
	case labelSeal:
		return "SEAL"
	}
	return ""
}

// maxPrefix bounds the Markdown before a label, in bytes.
const maxPrefix = 64

// splitLabel takes a line apart into the label it begins with and the rest of
// the line; noLabel when it begins with none.
func splitLabel(line string) (label, string) {
	if wording.Indent(line) > maxIndent {
		return noLabel, ""
	}
	rest, marks := skipMarkup(line)
	name, rest := cutName(rest)
	if name == noLabel {
		return noLabel, ""
	}
	value, closed, ok := cutColon(rest)
	if !ok {
		return noLabel, ""
	}
	if marks != "" && !closed {
		value = closeMarks(value, marks)
	}
	value = strings.TrimFunc(value, blank)
	if name == labelSeal && value != "" && sealOf(value) == "" {
		return noLabel, "" // a word of a sentence
	}
	return name, value
}

// skipMarkup skips list bullets, headings, emphasis, back-ticks and emoji. The
// emphasis that is open after them is marks.
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

// number returns the length of the bullet of a numbered list.
func number(s string) int {
	n := 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n < len(s) && (s[n] == '.' || s[n] == ')') && spaceAfter(s[n+1:]) {
		return n + 1
	}
	return 0
}

// decoration reports whether r is an emoji or the like. Box drawing is not: a
// bar on the left is how terminals show a quotation. Nor is U+FFFD, in whose
// place anything may have stood.
func decoration(r rune) bool {
	box := r >= 0x2500 && r <= 0x259f
	return r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sk) && !box && r != unicode.ReplacementChar
}

func cutName(s string) (label, string) {
	for l := labelDecision; l <= labelSeal; l++ {
		if name := l.String(); len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			return l, s[len(name):]
		}
	}
	return noLabel, s
}

// cutColon skips to behind the colon; closed is whether emphasis ended before
// it.
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

// closeMarks takes away the end of the emphasis that was opened before the
// label: behind the colon or at the end of the line.
func closeMarks(value, marks string) string {
	reversed := []byte(marks) // all ASCII
	slices.Reverse(reversed)
	ends := string(reversed)
	if rest, ok := strings.CutPrefix(value, ends); ok {
		return rest
	}
	return strings.TrimSuffix(strings.TrimRightFunc(value, blank), ends)
}
