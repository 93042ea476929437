package verdict

import (
	"bytes"
	"regexp"
	"strings"
)

// endMarks is the punctuation that does not count at the end of a word.
const endMarks = ".,;:!?…"

// Apply makes the changes in a text mechanically: it cuts out the phrases to remove, and
// appends the missing ones as sentences of their own. Text that is not next to a phrase
// stays as it is. The result may not read well.
func Apply(text string, changes []RequiredChange) string {
	body := strings.TrimRight(text, " \t\r\n")
	tail := text[len(body):]
	for _, c := range changes {
		if c.Remove {
			body = cut(body, c.Phrase)
		}
	}
	for _, c := range changes {
		if !c.Remove && !Holds(Normalize(body), c.Phrase) {
			body = attach(body, c.Phrase)
		}
	}
	return strings.TrimRight(body, " \t\r\n") + tail
}

// cut removes every occurrence of a phrase, and tidies the text around it.
func cut(text, phrase string) string {
	find := pattern(phrase)
	var out []byte
	for {
		at := find.FindStringIndex(text)
		if at == nil {
			return string(append(out, text...))
		}
		out, text = seam(append(out, text[:at[0]]...), text[at[1]:])
	}
}

// pattern matches a phrase as [Holds] finds it.
func pattern(phrase string) *regexp.Regexp {
	words := strings.Fields(Normalize(phrase))
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	expr := `(?i)` + strings.Join(words, `[`+endMarks+`]*\s+`)
	if strings.TrimRight(phrase, endMarks) != phrase {
		expr += `[` + endMarks + `]*`
	}
	return regexp.MustCompile(expr)
}

// seam joins the texts before and after a removed phrase, without leaving a blank before a
// full stop, two blanks in a row or an empty line.
func seam(left []byte, right string) ([]byte, string) {
	bare := bytes.TrimRight(left, " \t")
	rest := strings.TrimLeft(right, " \t")
	lineEnds := rest == "" || strings.ContainsAny(rest[:1], "\r\n")
	switch {
	case strings.HasPrefix(rest, "."):
		return stopped(bytes.TrimRight(left, " \t\r\n"), rest)
	case lineEnds && (len(bare) == 0 || bare[len(bare)-1] == '\n'):
		return bare, strings.TrimPrefix(strings.TrimPrefix(rest, "\r"), "\n")
	case lineEnds:
		return bare, rest
	case len(bare) < len(left) || len(left) == 0 || left[len(left)-1] == '\n':
		return left, rest
	}
	return left, right
}

// stopped joins two texts at a full stop, which is removed if the left text has one already
// or is empty.
func stopped(left []byte, right string) ([]byte, string) {
	if len(left) > 0 && !bytes.ContainsAny(left[len(left)-1:], ".!?") {
		return left, right
	}
	right = strings.TrimLeft(right[1:], " \t")
	if len(left) > 0 && right != "" && !strings.ContainsAny(right[:1], "\r\n") {
		left = append(left, ' ')
	}
	return left, right
}

// attach appends a phrase to a text, as a paragraph if the text has several.
func attach(text, phrase string) string {
	if text == "" {
		return phrase
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	for _, gap := range []string{"\r\n\r\n", "\n\n"} {
		if strings.Contains(text, gap) {
			return text + gap + phrase
		}
	}
	return text + " " + phrase
}
