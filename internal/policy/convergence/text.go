package convergence

import (
	"strings"
	"unicode"
)

// A text is one as it is compared: its words, whatever their order.
type text struct {
	words map[string]int // how often each one occurs
	size  int
	names map[string]bool // those that look like code: paths, identifiers
	exact map[string]bool // names, and words with digits
}

// maxText is how much of a text is compared, in bytes.
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

// apart reports whether r stands between words.
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

// filler reports whether a word tells two texts apart as little as it makes
// them alike.
func filler(w string) bool {
	switch w {
	case "a", "an", "the", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "there", "to", "of", "in", "on", "at",
		"for", "and", "or", "with", "as", "by", "still", "also", "please", "must", "should", "needs", "need", "you", "your":
		return true
	}
	return false
}

// tells reports whether a text says enough to be the same as another one:
// "go on" and "more, please" are said of any work.
func (t text) tells() bool { return t.size >= 4 }

// repeats reports whether a text says the same as another one: nearly the same
// words, and the same numbers and names.
func (t text) repeats(other text, similarity float64) bool {
	if len(t.exact) != len(other.exact) {
		return false
	}
	for name := range t.exact {
		if !other.exact[name] {
			return false
		}
	}
	return t.dice(other) >= similarity
}

// likeness is how alike two texts are, 0 to 1; those that name different things
// are not.
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

// Likeness is how alike two texts are, 0 to 1: the Sørensen–Dice coefficient of their words,
// in whatever order, without those that any text has.
func Likeness(a, b string) float64 { return read(a).dice(read(b)) }

// dice is the Sørensen–Dice coefficient of the words.
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
