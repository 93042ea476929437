package verdict

import (
	"iter"
	"strings"

	"codeloops/internal/wording"
)

// A Weight says whether a point of a critic is binding for the actor.
type Weight uint8

// The weights. A point without a mark is binding.
const (
	Unmarked Weight = iota
	Must            // the task is not done without it
	May             // an optional improvement
)

// marked matches the mark of a point, as in "MUST: ..." or "**MAY:** ...".
var marked = wording.Pattern("^[*_`\\[(]*(?i:(must|may))[*_`\\])]*\\s*[:：][*_`]*\\s*")

// Mark splits a point into its mark and the rest.
func Mark(point string) (Weight, string) {
	m := marked().FindStringSubmatch(point)
	switch {
	case m == nil:
		return Unmarked, point
	case strings.EqualFold(m[1], "may"):
		return May, point[len(m[0]):]
	}
	return Must, point[len(m[0]):]
}

// Split splits feedback into what is binding for the actor and what is not. A point extends
// to the next one, or to a blank line. If nothing is marked as a must, all of it is binding:
// a critic that asks for more work means some of it.
func Split(feedback string) (musts, mays string) {
	if Required(feedback) == "" {
		return feedback, ""
	}
	return strings.TrimSpace(binding(feedback)), strings.TrimSpace(part(feedback, true))
}

// Mays returns the points of a text that are marked as optional, without their marks.
func Mays(text string) (all []string) {
	for line, w := range weighed(text) {
		point, _ := skipMarkup(strings.TrimSpace(line))
		if of, said := Mark(point); of == May {
			all = append(all, said)
		} else if w == May && len(all) > 0 {
			all[len(all)-1] += " " + strings.TrimSpace(line)
		}
	}
	return all
}

// binding returns a text without its optional points.
func binding(text string) string { return part(text, false) }

// part returns the lines of a text that belong to optional points, or the others.
func part(text string, optional bool) string {
	var b strings.Builder
	for line, w := range weighed(text) {
		if (w == May) == optional {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Required returns the first point of a text that is marked as a must, "" for none.
func Required(text string) string {
	for line, w := range weighed(text) {
		if point, _ := skipMarkup(strings.TrimSpace(line)); w == Must {
			return point
		}
	}
	return ""
}

// weighed yields the lines of a text with the weight of their point. Quotations, in a fence
// or after ">", have the weight of the text before them.
func weighed(text string) iter.Seq2[string, Weight] {
	return func(yield func(string, Weight) bool) {
		now, fenced := Unmarked, false
		for line := range strings.Lines(text) {
			bare := strings.TrimSpace(line)
			switch point, _ := skipMarkup(bare); {
			case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
				fenced = !fenced
			case fenced || strings.HasPrefix(bare, ">"):
			case bare == "":
				now = Unmarked
			default:
				of, _ := Mark(point)
				if of != Unmarked || point != bare { // a point of its own
					now = of
				}
			}
			if !yield(line, now) {
				return
			}
		}
	}
}
