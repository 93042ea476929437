package verdict

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
)

// decisionOf reads a line as a decision, perhaps followed by a remark. It accepts a DONE only
// without any doubt.
func decisionOf(line string) (d loop.Decision, remark string) {
	if d, ok := decisionWord(line); ok {
		return d, ""
	}
	core, _ := trim(line)
	for _, d := range []loop.Decision{loop.Continue, loop.Error, escalate} {
		if remark, ok := cutRemark(core, d); ok {
			return d, remark
		}
	}
	return "", ""
}

// decisionWord reads a text that is one of the decisions.
func decisionWord(text string) (loop.Decision, bool) {
	core, symbols := trim(text)
	for _, d := range decisions() {
		if strings.EqualFold(core, string(d)) {
			return d, d != loop.Done || glad(symbols)
		}
	}
	return "", false
}

// escalate is a decision only in replies: in a verdict it is an ERROR with a reason for a person.
const escalate loop.Decision = loop.Escalate

func decisions() []loop.Decision {
	return []loop.Decision{loop.Done, loop.Continue, loop.Error, escalate}
}

// withDecision sets the decision of a verdict. The reason is its main text if it has none.
func withDecision(v loop.Verdict, word loop.Decision, reason string) loop.Verdict {
	v.Decision = word
	switch word {
	case loop.Done:
		v.Summary = cmp.Or(v.Summary, reason)
	case loop.Continue:
		v.Feedback = cmp.Or(v.Feedback, reason)
	case loop.Error:
		v.Analysis = cmp.Or(v.Analysis, reason)
	case escalate:
		v.Decision = loop.Error
		v.Escalation = cmp.Or(reason, v.Guidance(), NoReason)
	}
	return v
}

// trim removes what may surround a decision: blanks, emphasis, quotation marks, emoji and
// one full stop. It returns the emoji that it removed.
func trim(line string) (core string, symbols []rune) {
	around := func(r rune) bool {
		if decoration(r) {
			symbols = append(symbols, r)
			return true
		}
		return blank(r) || strings.ContainsRune("*_`\"'“”‘’«»„", r)
	}
	core = strings.TrimFunc(line, around)
	for _, stop := range []string{".", "!", "。", "！"} {
		if s, ok := strings.CutSuffix(core, stop); ok {
			return strings.TrimRightFunc(s, around), symbols
		}
	}
	return core, symbols
}

// refusing are the emoji that say the opposite of a DONE beside them, such as a cross or an empty box.
const refusing = "❌✗✘✖☐☒⬜❎⛔🚫🛑🔴🟡👎⏳🚧❓⚠"

// glad reports whether no emoji beside a DONE refuses it.
func glad(symbols []rune) bool {
	return !slices.ContainsFunc(symbols, func(r rune) bool { return strings.ContainsRune(refusing, r) })
}

// sad returns an emoji before the first letter of a line that negates it, such as a cross
// or an empty box, "" for none.
func sad(line string) string {
	for _, r := range line {
		switch {
		case unicode.IsLetter(r):
			return ""
		case strings.ContainsRune(refusing, r):
			return string(r)
		}
	}
	return ""
}

// cutRemark returns the remark after a decision, as in "CONTINUE - the tests fail". A
// remark that names a decision is ambiguous, so there is none then.
func cutRemark(core string, d loop.Decision) (remark string, ok bool) {
	if !hasPrefixFold(core, string(d)) {
		return "", false
	}
	rest := strings.TrimLeft(core[len(d):], "*_` \t\u00a0")
	if r, _ := utf8.DecodeRuneInString(rest); !strings.ContainsRune("-–—:,;(.", r) {
		return "", false
	}
	for _, other := range decisions() {
		if strings.Contains(rest, string(other)) {
			return "", false
		}
	}
	return strings.Trim(rest, "-–—:,;. \t\u00a0"), true
}
