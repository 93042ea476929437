package limits

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// DenyPhrases forbids adding any of the phrases, as whole words, in any case and even across
// line breaks. An existing phrase may move, or stay in a changed line.
type DenyPhrases []string

// Inspect implements [policy.Inspector].
func (d DenyPhrases) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	if len(d) == 0 {
		return nil
	}
	var found []string
	for i, more := range d.more(c.Change) {
		if more.n > 0 {
			found = append(found, fmt.Sprintf("%s in %s", strconv.Quote(d[i]), listed(more.in)))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: "denied phrases were written: " + few(found),
		Feedback: fmt.Sprintf("These phrases may not be written, in upper or lower case: %s. Found: %s. Say it in another way, or leave it out.",
			listed(d), few(found)),
	}
}

// A written is how many more times a phrase occurs than when the session began, and the files
// where it was added.
type written struct {
	n  int
	in []string
}

// more counts the additions of each phrase, less the removals.
func (d DenyPhrases) more(c loop.Change) []written {
	phrases := make([]string, len(d))
	for i, p := range d {
		phrases[i] = flat(p)
	}
	all := make([]written, len(d))
	for path, text := range texts(c) {
		here := make([]int, len(d))
		for _, g := range groups(text) {
			before, after := flat(strings.Join(g.before, "")), flat(strings.Join(g.after, ""))
			for i, p := range phrases {
				here[i] += times(after, p) - times(before, p)
			}
		}
		for i, n := range here {
			all[i].n += n
			if n > 0 {
				all[i].in = append(all[i].in, path)
			}
		}
	}
	return all
}

// flat returns a text in lower case with single blanks, for comparisons.
func flat(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// times counts how often a phrase occurs in a text as whole words.
func times(text, phrase string) (n int) {
	for at := 0; phrase != ""; {
		i := strings.Index(text[at:], phrase)
		if i < 0 {
			break
		}
		i += at
		end := i + len(phrase)
		if parted(text[:i], text[i:]) && parted(text[:end], text[end:]) {
			n++
		}
		_, width := utf8.DecodeRuneInString(text[i:])
		at = i + width
	}
	return n
}

// parted reports whether no word spans the end of one text and the beginning of the next.
func parted(left, right string) bool {
	last, _ := utf8.DecodeLastRuneInString(left)
	first, _ := utf8.DecodeRuneInString(right)
	return !inWord(last) || !inWord(first)
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
