package verdict

import (
	"slices"
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

// A Point is one point of a review: an item of a list, a point with a mark, or a paragraph.
type Point struct {
	Text   string // in one line, without the bullet; "" if it is nothing but quotations
	Weight Weight
	Item   bool // an item, or a point with a mark

	lines string // as they are written, with quotations
}

var bullet = wording.Pattern(`^(?:[-*+•]|[0-9]+[.)]) `)

// Points splits a text into its points: an item or a mark begins one, and so does a line that ends in a colon, or
// follows an empty one or a quotation, unless an item goes on in it, indented. Quotations, in a fence or after ">", are no
// part of a point's text.
func Points(text string) (all []Point) {
	s := scanner{text: text}
	lines := slices.Collect(s.lines())
	unclosed := s.fence.open() // it is no fence then
	var said [][]string        // the lines of each
	var starts []int
	open := false // the last point goes on
	for _, l := range lines {
		body := strings.TrimSpace(l.text)
		quoted := body == "" || !l.own && (!unclosed || l.start < s.fence.at || body[0] == '>')
		next := Point{}
		if !quoted {
			next = beginning(body)
		}
		if len(all) == 0 || !quoted && all[len(all)-1].ends(next, l.text, open) {
			all, said, starts = append(all, next), append(said, nil), append(starts, l.start)
			open = true
		}
		if open = open && !quoted; !quoted {
			said[len(all)-1] = append(said[len(all)-1], next.Text)
		}
	}
	starts = append(starts, len(text))
	for i := range all {
		all[i].Text, all[i].lines = strings.Join(said[i], " "), text[starts[i]:starts[i+1]]
	}
	return all
}

// ends reports whether a line that reads as next begins another point; open says whether this one goes on.
func (p Point) ends(next Point, line string, open bool) bool {
	body := strings.TrimLeft(line, " \t")
	indented := p.Item && p.Weight != May && body != line
	anew := !open || Leads(body) || p.Weight == May && skipMarkup(body) != body
	return next.Item || anew && !indented
}

// beginning reads a line as the beginning of a point.
func beginning(line string) Point {
	mark := bullet().FindString(line)
	p := Point{Text: line[len(mark):], Item: mark != ""}
	bare := skipMarkup(line)
	if p.Weight, _ = Mark(bare); p.Weight != Unmarked {
		p.Text, p.Item = bare, true
	}
	return p
}

// Leads reports whether a text announces what follows it.
func Leads(text string) bool { return strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") }

// Split splits feedback into what is binding for the actor and what is not. If nothing is marked as a
// must, all of it is binding: a critic that asks for more work means some of it.
func Split(feedback string) (musts, mays string) {
	if Required(feedback) == "" {
		return feedback, ""
	}
	return strings.TrimSpace(part(feedback, false)), strings.TrimSpace(part(feedback, true))
}

// Mays returns the points of a text that are marked as optional, without their marks.
func Mays(text string) (all []string) {
	for _, p := range Points(text) {
		if w, said := Mark(p.Text); w == May {
			all = append(all, said)
		}
	}
	return all
}

// part returns the lines of a text that belong to optional points, or the others.
func part(text string, optional bool) string {
	var b strings.Builder
	for _, p := range Points(text) {
		if (p.Weight == May) == optional {
			b.WriteString(p.lines)
		}
	}
	return b.String()
}

// Required returns the first line of the first point of a text that is marked as a must, "" for none.
func Required(text string) string {
	for _, p := range Points(text) {
		if p.Weight == Must {
			first, _ := cutLine(p.lines)
			return skipMarkup(first)
		}
	}
	return ""
}
