package verdict

import (
	"strings"

	"codeloops/internal/wording"
)

// A Weight says whether a point that a critic makes binds the actor.
type Weight uint8

// The weights. A point without a mark binds.
const (
	Unmarked Weight = iota
	Must            // the task is not done without it
	May             // it only could be better
)

// marked matches the mark of a point, as in "MUST: ..." or "**MAY:** ...".
var marked = wording.Pattern("^[*_`\\[(]*(?i:(must|may))[*_`\\])]*\\s*[:：][*_`]*\\s*")

// Mark takes the mark off a point.
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

// Split takes feedback apart into what binds the actor and what does not. A point goes on to
// the next one, or to a blank line. Where nothing is marked as a must, all of it binds: a
// critic that asks for more work means some of it.
func Split(feedback string) (musts, mays string) {
	var binds, free strings.Builder
	must := false
	for line, w := range weighed(feedback) {
		must = must || w == Must
		if w == May {
			free.WriteString(line)
		} else {
			binds.WriteString(line)
		}
	}
	if !must {
		return feedback, ""
	}
	return strings.TrimSpace(binds.String()), strings.TrimSpace(free.String())
}

// Mays are the points of a text that are marked as such, without their marks.
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

// required returns a point of a text that is marked as a must, "" for none.
func required(text string) string {
	for line, w := range weighed(text) {
		if point, _ := skipMarkup(strings.TrimSpace(line)); w == Must {
			return point
		}
	}
	return ""
}

// weighed yields the lines of a text with the weight of the point that they belong to. What
// is quoted, in a fence or behind ">", has that of the words before it.
func weighed(text string) func(yield func(string, Weight) bool) {
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
