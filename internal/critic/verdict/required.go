package verdict

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits for the phrase of a required change, in characters.
const (
	MinPhrase = 3
	MaxPhrase = 160
)

// WordForWord tells an actor how a program looks for required changes.
const WordForWord = "The phrase of an ADD or MUST_INCLUDE has to stand, word for word, in one of the files that you change. The phrase of a REMOVE or MUST_REMOVE must stand in none of them."

// A RequiredChange is a change that a critic requires and that a program can verify:
//
//	ADD "phrase"       MUST_INCLUDE "phrase"
//	REMOVE "phrase"    MUST_REMOVE "phrase"
//
// with exactly one quoted phrase, in which any white space counts as one blank. ADD and
// REMOVE come first; the MUST_ words may be anywhere before the phrase.
type RequiredChange struct {
	Text   string // as the critic wrote it
	Phrase string
	Remove bool // the phrase must be gone; otherwise it must be present
}

// ParseChange reads a required change. The error is a sentence for the critic.
func ParseChange(text string) (RequiredChange, error) {
	before, phrase, ok := quoted(text)
	if !ok {
		return RequiredChange{}, fmt.Errorf("the required change %.200q does not hold exactly one quoted phrase", text)
	}
	c := RequiredChange{Text: text, Phrase: oneLine(phrase)}
	if n := utf8.RuneCountInString(c.Phrase); n < MinPhrase || n > MaxPhrase || Normalize(c.Phrase) == "" {
		return RequiredChange{}, fmt.Errorf("the phrase of the required change %.200q has to have %d to %d characters", text, MinPhrase, MaxPhrase)
	}
	marker := strings.ToUpper(oneLine(before))
	begins := func(word string) bool {
		rest, ok := strings.CutPrefix(marker, word)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], " :-"))
	}
	switch {
	case strings.Contains(marker, "MUST_REMOVE"), begins("REMOVE"):
		c.Remove = true
	case strings.Contains(marker, "MUST_INCLUDE"), begins("ADD"):
	default:
		return RequiredChange{}, fmt.Errorf("the required change %.200q does not begin with ADD, REMOVE, MUST_INCLUDE or MUST_REMOVE", text)
	}
	return c, nil
}

// Demand reads a required change from a point of a free-text critique. Since words such as
// "add" may mean anything there, it needs a MUST_ word, or nothing but ADD or REMOVE before
// the phrase.
func Demand(text string) (RequiredChange, bool) {
	weight, text := Mark(text)
	c, err := ParseChange(text)
	if err != nil || weight == May {
		return c, false
	}
	before, _, _ := quoted(text)
	before = oneLine(strings.Trim(oneLine(before), "`*_:-"))
	return c, before == "ADD" || before == "REMOVE" || strings.Contains(before, "MUST_INCLUDE") || strings.Contains(before, "MUST_REMOVE")
}

// Against reports whether two changes contradict each other.
func (c RequiredChange) Against(o RequiredChange) bool {
	return !c.Remove && o.Remove && Holds(Normalize(c.Phrase), o.Phrase) ||
		c.Remove && !o.Remove && Holds(Normalize(o.Phrase), c.Phrase)
}

// ParseChanges reads the changes of a verdict, each phrase once. Changes that contradict each
// other are an error.
func ParseChanges(texts []string) ([]RequiredChange, error) {
	var all []RequiredChange
	known := map[RequiredChange]bool{}
	for _, text := range texts {
		c, err := ParseChange(text)
		if err != nil {
			return nil, err
		}
		same := RequiredChange{Phrase: Normalize(c.Phrase), Remove: c.Remove}
		if !known[same] {
			all = append(all, c)
		}
		known[same] = true
	}
	for i, c := range all {
		for _, o := range all[i+1:] {
			if c.Against(o) {
				return nil, fmt.Errorf("the required changes %.200q and %.200q contradict each other", c.Text, o.Text)
			}
		}
	}
	return all, nil
}

// quoted returns the one phrase in quotation marks, and the text before it. The first
// quotation mark decides which kind delimits the phrase; others are part of it.
func quoted(text string) (before, phrase string, ok bool) {
	closing := map[rune]string{'"': `"`, '\'': `'`, '“': `”`}
	last := ' '
	for i, r := range text {
		end, opens := closing[r]
		if !opens || r == '\'' && (unicode.IsLetter(last) || unicode.IsDigit(last)) { // an apostrophe
			last = r
			continue
		}
		rest := text[i+utf8.RuneLen(r):]
		j := strings.LastIndex(rest, end)
		if j < 0 || strings.ContainsAny(rest[:j], string(r)+end) || strings.ContainsAny(rest[j+len(end):], `"“”`) {
			return "", "", false
		}
		return text[:i], rest[:j], true
	}
	return "", "", false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Normalize prepares a text for comparison: in lower case, with single blanks, and without
// punctuation at the ends of words.
func Normalize(text string) string {
	words := strings.Fields(strings.ToLower(text))
	kept := words[:0]
	for _, w := range words {
		if w = strings.TrimRight(w, endMarks); w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// Holds reports whether a normalized text contains a phrase.
func Holds(normalized, phrase string) bool {
	return strings.Contains(normalized, Normalize(phrase))
}
