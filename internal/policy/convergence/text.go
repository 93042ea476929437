package convergence

import (
	"maps"
	"strings"
	"unicode"
)

// A text is a text as it is compared: its words, in any order.
type text struct {
	words map[string]int  // how often each word occurs
	size  int             // the number of words
	names map[string]bool // words that look like code: paths, identifiers
	exact map[string]bool // names, and words with digits
}

// maxText limits how much of a text is compared, in bytes.
const maxText = 16 << 10

func read(s string) text {
	t := text{words: map[string]int{}, names: map[string]bool{}, exact: map[string]bool{}}
	s = s[:min(len(s), maxText)]
	for _, w := range strings.FieldsFunc(s, apart) {
		if w = strings.Trim(w, "._-/"); w == "" {
			continue
		}
		lower := strings.ToLower(w)
		digits := strings.ContainsFunc(w, unicode.IsDigit)
		if coded(w) {
			t.names[lower] = true
		}
		if digits || coded(w) {
			t.exact[lower] = true
		}
		if filler(lower) {
			continue
		}
		t.words[lower]++
		t.size++
	}
	return t
}

// apart reports whether r separates words.
func apart(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r)
}

// coded reports whether a word looks like code rather than prose.
func coded(w string) bool {
	if strings.ContainsAny(w, "_./") {
		return strings.ContainsFunc(w, unicode.IsLetter)
	}
	lower := false
	for _, r := range w {
		if unicode.IsUpper(r) && lower {
			return true
		}
		lower = lower || unicode.IsLower(r)
	}
	return false
}

// filler reports whether a word is so common that comparisons leave it out.
func filler(w string) bool {
	switch w {
	case "a", "an", "the", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "there", "to", "of", "in", "on", "at",
		"for", "and", "or", "with", "as", "by", "still", "also", "please", "must", "should", "needs", "need", "you", "your":
		return true
	}
	return false
}

// tells reports whether a text says enough to be compared: "go on" and "more, please" fit
// any work.
func (t text) tells() bool { return t.size >= 4 }

// repeats reports whether a text says the same as another: nearly the same words, with the
// same numbers and names.
func (t text) repeats(other text, similarity float64) bool {
	return maps.Equal(t.exact, other.exact) && t.dice(other) >= similarity
}

// likeness returns how alike two texts are, from 0 to 1; it is 0 if they name different
// things.
func (t text) likeness(other text) float64 {
	if len(t.names) > 0 && len(other.names) > 0 {
		shared := false
		for name := range t.names {
			shared = shared || other.names[name]
		}
		if !shared {
			return 0
		}
	}
	return t.dice(other)
}

// Likeness returns how alike two texts are, from 0 to 1: the Sørensen–Dice coefficient of
// their words, without very common ones.
func Likeness(a, b string) float64 { return read(a).dice(read(b)) }

// dice returns the Sørensen–Dice coefficient of the words.
func (t text) dice(other text) float64 {
	if t.size+other.size == 0 {
		return 1
	}
	n := 0
	for w, times := range t.words {
		n += min(times, other.words[w])
	}
	return 2 * float64(n) / float64(t.size+other.size)
}
