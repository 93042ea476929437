package verdict

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// The limits for the phrase of a required change, in characters.
const (
	MinPhrase = 3
	MaxPhrase = 160
)

// WordForWord tells an actor how a program looks for required changes.
const WordForWord = "The phrase of an ADD or MUST_INCLUDE has to stand, word for word, in one of the files that you change. The phrase of a REMOVE or MUST_REMOVE must stand in none of them."

// A RequiredChange is a change that a structured critique requires and that a program can verify:
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

var (
	// onePhrase matches a text with one phrase in quotation marks, and what stands before it. The first
	// quotation mark that is no apostrophe decides which kind delimits the phrase; others are part of it.
	onePhrase = wording.Pattern(`(?s)^((?:[^"'“]|[\pL\pN]')*)(?:"([^"]*)"[^"“”]*|“([^“”]*)”[^"“”]*|'([^']*)'[^'"“”]*)$`)
	// demand matches what a required change begins with, in capitals.
	demand = wording.Pattern(`MUST_(REMOVE|INCLUDE)|^(REMOVE|ADD)(?:[ :-]|$)`)
)

// ParseChange reads a required change. The error is a sentence for the critic.
func ParseChange(text string) (RequiredChange, error) {
	m := onePhrase().FindStringSubmatch(text)
	if m == nil {
		return RequiredChange{}, fmt.Errorf("the required change %.200q does not hold exactly one quoted phrase", text)
	}
	c := RequiredChange{Text: text, Phrase: oneLine(m[2] + m[3] + m[4])}
	if n := utf8.RuneCountInString(c.Phrase); n < MinPhrase || n > MaxPhrase || Normalize(c.Phrase) == "" {
		return RequiredChange{}, fmt.Errorf("the phrase of the required change %.200q has to have %d to %d characters", text, MinPhrase, MaxPhrase)
	}
	word := demand().FindStringSubmatch(strings.ToUpper(oneLine(m[1])))
	if word == nil {
		return RequiredChange{}, fmt.Errorf("the required change %.200q does not begin with ADD, REMOVE, MUST_INCLUDE or MUST_REMOVE", text)
	}
	c.Remove = word[1]+word[2] == "REMOVE"
	return c, nil
}

// ParseChanges reads the changes of a verdict, each phrase once.
func ParseChanges(texts []string) (all []RequiredChange, err error) {
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
	return all, nil
}

// endMarks is the punctuation that does not count at the end of a word.
const endMarks = ".,;:!?…"

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
