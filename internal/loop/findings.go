package loop

import (
	"regexp"
	"slices"
	"strings"
)

// Named puts the names of findings that a review raises before their points in its text, unless they are there.
func Named(text string, findings []Finding) string {
	for _, f := range findings {
		if f.Raised() {
			text = f.name(text)
		}
	}
	return text
}

// name puts the name of the finding before its point in a text.
func (f Finding) name(text string) string {
	words := strings.Fields(strings.TrimSuffix(f.Text, "…"))
	if len(words) == 0 {
		return text
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	at := regexp.MustCompile(strings.Join(words, `\s+(?:>\s*)?`)).FindStringIndex(text)
	if at == nil { // it has been reworded
		return text
	}
	line := strings.LastIndexByte(text[:at[0]], '\n') + 1
	before := strings.TrimRight(text[line:at[0]], " *_`:.)-–")
	if strings.HasSuffix(before, f.ID) {
		return text
	}
	return text[:at[0]] + f.ID + ": " + text[at[0]:]
}

// Settled returns the findings that a review closes or withdraws.
func Settled(before, after []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(after), func(f Finding) bool {
		return !f.State.Over() || slices.ContainsFunc(before, func(b Finding) bool { return b.ID == f.ID && b.State.Over() })
	})
}
