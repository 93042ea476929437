package verdict

import (
	"strconv"
	"strings"
	"unicode"

	"codeloops/internal/wording"
)

// clean returns the reply as the parser reads it: without control sequences, trailing
// blanks and common indentation.
func clean(reply string) string {
	lines := strings.Split(wording.Clean(reply), "\n")
	least := len(reply)
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\u00a0")
		if body := strings.TrimLeft(lines[i], " \t"); body != "" {
			least = min(least, len(lines[i])-len(body))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(least, len(line)):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// invisible reports whether r is a zero-width character, a byte order mark or a variation
// selector.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector)
}

func blank(r rune) bool { return unicode.IsSpace(r) || invisible(r) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cutLine splits a text after its first line that is not blank.
func cutLine(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	return strings.TrimSpace(first), rest
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func bullets(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "- " + strings.Join(items, "\n- ")
}

// number matches a number, perhaps in percent, and words behind it without another number, so that
// "9/10" and "0.8 - 0.9" are none.
var number = wording.Pattern(`^` + around + `([0-9.,]*[0-9])[.,]?` + around + `(%?)[^0-9%/\n]*(?:\n|$)`)

// fraction reads a number from 0 to 1, such as 0.95, 0,95, 95% or 95 %; nil: it is none.
func fraction(text string) *float64 {
	m := number().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	n, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
	if m[2] != "" {
		n /= 100
	}
	if err != nil || n > 1 {
		return nil
	}
	return &n
}

// spelled returns the letters and digits of a text, with one blank between words and at both ends. An escaped line break
// such as \n separates words, too.
func spelled(text string) string {
	text = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ").Replace(text)
	text = strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	return " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
}
