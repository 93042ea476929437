package verdict

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// Said returns what stands behind a label in the writer's own words: "0.8" of the line
// "**score:** 0.8". Quotations do not count, nor does what is said twice and differs.
func Said(reply, label string) (value string, ok bool) {
	lines := scanner{text: reply}
	for l, more := lines.next(); more; l, more = lines.next() {
		said, is := labelled(l.text, label)
		if !l.own || !is {
			continue
		}
		if ok && said != value {
			return "", false
		}
		value, ok = said, true
	}
	return value, ok
}

// labelled returns what stands behind a label and a colon, if a line begins with them.
func labelled(line, label string) (said string, ok bool) {
	rest, marks := skipMarkup(line)
	if !hasPrefixFold(rest, label) {
		return "", false
	}
	said, closed, ok := cutColon(rest[len(label):])
	if marks != "" && !closed {
		said = closeMarks(said, marks)
	}
	return strings.TrimFunc(said, blank), ok
}

// saidFirst is Said for what a writer's own words have to begin with. Further down, what looks like it
// may be of a file that the reply shows.
func saidFirst(reply, label string) (value string, ok bool) {
	lines := scanner{text: reply}
	for l, more := lines.next(); more; l, more = lines.next() {
		if !l.own || strings.TrimFunc(l.text, blank) == "" {
			continue
		}
		if _, ok := labelled(l.text, label); !ok {
			return "", false
		}
		return Said(reply, label)
	}
	return "", false
}

// Score returns the score that a reply begins with, from 0 to 1; ok is false where it does with
// none, or gives two.
func Score(reply string) (score float64, ok bool) {
	said, ok := saidFirst(reply, "score")
	if !ok {
		return 0, false
	}
	n := fraction(said)
	if n == nil {
		return 0, false
	}
	return *n, true
}

// One returns which of some names stands behind the label that a reply begins with, in any case;
// ok is false where it is none of them, or two.
func One(reply, label string, of ...string) (name string, ok bool) {
	said, _ := saidFirst(reply, label)
	said = strings.TrimRight(said, ".!*_`")
	i := slices.IndexFunc(of, func(name string) bool { return strings.EqualFold(name, said) })
	if i < 0 || said == "" {
		return "", false
	}
	return of[i], true
}

// Alone reports whether a reply ends with a phrase, in its writer's own words and alone in its
// line; bare is whether it says nothing else. Else the phrase may be of a file that it shows.
func Alone(reply, phrase string) (ends, bare bool) {
	last, said := "", 0
	lines := scanner{text: reply}
	for l, more := lines.next(); more; l, more = lines.next() {
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

// Own reads what an actor decides about its own work, by the rules of a critic's reply; ok is
// false where it decides nothing that can be read.
func Own(reply string) (v loop.Verdict, ok bool) {
	v, _, problem := Parser{}.Read(reply)
	return v, problem == ""
}
