package loop

import (
	"fmt"
	"strings"
)

// A Concern is one kind of thing that a rule points out in the work, with every place where it
// was found.
type Concern struct {
	Rule string `json:"rule"`          // as the policy spells it
	Kind string `json:"kind,omitzero"` // in the rule's own terms; "" if it has only one kind
	// Text is a sentence of the rule. It contains no names from the repository.
	Text string `json:"text"`
	// Places are ordered by importance. They are untrusted data: names in them come from the
	// repository and are quoted if unusual.
	Places []Place `json:"places,omitempty"`
}

// A Place is where something was found, and what it is.
type Place struct {
	At   string `json:"at"`            // a path with line numbers
	What string `json:"what,omitzero"` // "" if the concern says it all
}

// String returns the place in one line.
func (p Place) String() string { return spot([]string{p.At}, p.What) }

func spot(at []string, what string) string {
	text := strings.Join(at, ", ")
	if what == "" {
		return text
	}
	return text + ": " + what
}

// Summary returns the concern in one line: its text, as many places as fit into about most bytes,
// and the number of the others.
func (c Concern) Summary(most int) string {
	if len(c.Places) == 0 {
		return c.Text
	}
	lines, _ := c.lines(most)
	return c.Text + ": " + strings.Join(lines, "; ")
}

// lines lists the places in about most bytes, the same things in one line. It counts the places
// that it leaves out; cut reports whether there are any.
func (c Concern) lines(most int) (lines []string, cut bool) {
	things, at := c.things()
	sizes, all := make([]int, len(things)), 0
	for i, what := range things {
		sizes[i] = len(spot(at[what], what))
		all += sizes[i]
	}
	const least = 60 // minimum bytes per thing
	shown := len(things)
	if all > most {
		shown = min(shown, max(1, most/least))
	}
	for i, size := range fair(sizes[:shown], most) {
		line, whole := shortened(at[things[i]], things[i], size)
		lines, cut = append(lines, line), cut || !whole
	}
	rest := 0
	for _, what := range things[shown:] {
		rest += len(at[what])
	}
	if rest > 0 {
		lines = append(lines, "and "+counted(rest, "more place"))
	}
	return lines, cut || rest > 0
}

// things groups the places by what they say, in order.
func (c Concern) things() (things []string, at map[string][]string) {
	at = map[string][]string{}
	for _, p := range c.Places {
		if at[p.What] == nil {
			things = append(things, p.What)
		}
		at[p.What] = append(at[p.What], p.At)
	}
	return things, at
}

// shortened names as many places as fit into about size bytes, at least one, and counts the
// others.
func shortened(at []string, what string, size int) (line string, whole bool) {
	n, room := 0, size-len(what)
	for _, s := range at {
		if room -= len(s) + len(", "); room < 0 && n > 0 {
			break
		}
		n++
	}
	if n == len(at) {
		return spot(at, what), true
	}
	names := strings.Join(at[:n], ", ") + fmt.Sprintf(" and %d more", len(at)-n)
	return spot([]string{names}, what), false
}

// fair divides a budget among needs: each gets what it needs up to an equal share, and the rest
// goes to the first ones.
func fair(needs []int, budget int) []int {
	shares := make([]int, len(needs))
	left := budget
	for i, need := range needs {
		shares[i] = min(need, budget/len(needs))
		left -= shares[i]
	}
	for i, need := range needs {
		more := min(need-shares[i], left)
		shares[i] += more
		left -= more
	}
	return shares
}

// Outline lists concerns in about most bytes, one line per thing. Every concern gets its share,
// however many places another has. cut reports whether places were left out; the text counts
// them.
func Outline(concerns []Concern, most int) (text string, cut bool) {
	sizes := make([]int, len(concerns))
	for i, c := range concerns {
		sizes[i] = len(c.Text)
		for _, p := range c.Places {
			sizes[i] += len(p.String()) + len("\n- ")
		}
	}
	var b strings.Builder
	for i, size := range fair(sizes, most) {
		c := concerns[i]
		if len(c.Places) == 0 {
			fmt.Fprintf(&b, "%s\n", c.Text)
			continue
		}
		lines, short := c.lines(size - len(c.Text))
		cut = cut || short
		fmt.Fprintf(&b, "%s (%s):\n", c.Text, counted(len(c.Places), "place"))
		for _, line := range lines {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	return b.String(), cut
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Listing lists every place on a line of its own.
func Listing(concerns []Concern) string {
	var b strings.Builder
	for _, c := range concerns {
		fmt.Fprintf(&b, "%s (%s)\n", c.Text, counted(len(c.Places), "place"))
		for _, p := range c.Places {
			fmt.Fprintf(&b, "- %s\n", p)
		}
	}
	return b.String()
}
