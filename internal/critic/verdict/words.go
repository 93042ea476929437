package verdict

import (
	"strings"
	"unicode"

	"codeloops/internal/loop"
)

// Said returns the value of a label in the writer's own words: "0.8" from the line
// "**score:** 0.8". Quotations do not count, nor do two values that differ. With first, the
// writer's own words must begin with the label: further down, it may be from a file that the
// reply shows.
func Said(reply, label string, first bool) (value string, ok bool) {
	s := scanner{text: reply}
	for l := range s.lines() {
		if !l.own || strings.TrimFunc(l.text, blank) == "" {
			continue
		}
		said, is := labelled(l.text, label)
		switch {
		case first && !ok && !is, is && ok && said != value:
			return "", false
		case is:
			value, ok = said, true
		}
	}
	return value, ok
}

// Score returns the score from 0 to 1 that a reply begins with; ok is false if there is none,
// or if there are two.
func Score(reply string) (score float64, ok bool) {
	said, _ := Said(reply, "score", true)
	n := fraction(said)
	if n == nil || strings.ContainsFunc(said, unicode.IsLetter) { // words may be a condition
		return 0, false
	}
	return *n, true
}

// Choice returns which of the names follows the label that a reply begins with, in any case; ok
// is false if it is none of them, or if there are two.
func Choice(reply, label string, of ...string) (name string, ok bool) {
	said, _ := Said(reply, label, true)
	name = among(said, of)
	return name, name != ""
}

// EndsWithPhrase reports whether a reply ends with a phrase, in the writer's own words and alone in
// its line, and whether it says nothing else.
func EndsWithPhrase(reply, phrase string) (ends, bare bool) {
	last, said := "", 0
	s := scanner{text: reply}
	for l := range s.lines() {
		if strings.TrimFunc(l.text, blank) == "" {
			continue
		}
		said++
		if last = ""; l.own {
			last, _ = skipMarkup(l.text)
		}
	}
	last = strings.TrimRight(strings.TrimFunc(last, blank), ".!*_`")
	ends = phrase != "" && strings.EqualFold(last, phrase)
	return ends, ends && said == 1
}

// ReadActor reads an actor's decision about its own work, by the rules for a critic's reply; ok is
// false if there is none.
func ReadActor(reply string) (v loop.Verdict, ok bool) {
	v, _, problem := Parser{}.Read(reply)
	return v, problem == ""
}
