package verdict

import (
	"slices"
	"strings"

	"codeloops/internal/wording"
)

// The labels that begin the lines of a verdict. The members of an object have the same names.
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

// maxIndent is how far a line may be indented and still be a paragraph in Markdown.
const maxIndent = 3

// splitLabel splits a line into its label and the rest; "" if it begins with none.
func splitLabel(line string) (name, value string) {
	if name, value = labelled(line, labels()...); name == labelSeal && value != "" && sealOf(value) == "" {
		return "", "" // SEAL is a word of a sentence
	}
	return name, value
}

// colon matches what follows a label: a colon, and before it the end of the label's emphasis.
var colon = wording.Pattern("^[\\s\\p{Z}\\p{Cf}]*([*_`]*)[\\s\\p{Z}\\p{Cf}]*[:：]")

// labelled splits a line that begins with one of the labels and a colon; the name is "" if it does not.
func labelled(line string, of ...string) (name, said string) {
	if wording.Indent(line) > maxIndent {
		return "", ""
	}
	rest := skipMarkup(line)
	i := slices.IndexFunc(of, func(label string) bool { return hasPrefixFold(rest, label) })
	if i < 0 {
		return "", ""
	}
	after := rest[len(of[i]):]
	at := colon().FindStringSubmatchIndex(after)
	if at == nil {
		return "", ""
	}
	said = after[at[1]:]
	if at[2] == at[3] { // the emphasis before the label goes on
		said = closeMarks(said, line[:len(line)-len(rest)])
	}
	return of[i], strings.TrimFunc(said, blank)
}

// What may stand around a label or a value: blanks, emphasis, and emoji or the like. Box drawing may not, because
// terminals mark quotations with a bar on the left, nor may U+FFFD, which may replace anything.
const (
	blanks = `\s\p{Z}\p{Cf}\x{FE00}-\x{FE0F}`
	emoji  = `|[^\P{So}\x{2500}-\x{259F}\x{FFFD}]|[^\P{Sk}\x00-\x7F]`
	around = `(?:[` + blanks + "*_`" + `"'“”‘’«»„]` + emoji + `)*`
)

var (
	// markup matches what may stand before a label: also bullets, numbers and the marks of headings.
	markup = wording.Pattern(`^(?:[-+*•–][\s\p{Z}]|[0-9]{1,3}[.)][\s\p{Z}]|[` + blanks + "#*_`]" + emoji + `)*`)
	// valued matches a value with what surrounds it, and one full stop.
	valued = wording.Pattern(`^` + around + `(.*?)` + around + `[.!。！]?` + around + `$`)
)

// skipMarkup returns a line without bullets, numbers, headings, emphasis and emoji.
func skipMarkup(line string) string { return line[len(markup().FindString(line)):] }

// trim removes what may surround a value.
func trim(line string) string {
	if m := valued().FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return line
}

// closeMarks removes the end of the emphasis that began right before the label, after the colon or at
// the end of the line.
func closeMarks(value, markup string) string {
	marks := []byte(markup[len(strings.TrimRight(markup, "*_`")):])
	slices.Reverse(marks)
	if rest, ok := strings.CutPrefix(value, string(marks)); ok {
		return rest
	}
	return strings.TrimSuffix(strings.TrimRightFunc(value, blank), string(marks))
}
