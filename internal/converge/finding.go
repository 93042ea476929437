package converge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// A finding is one with what it takes to know it again.
type finding struct {
	loop.Finding
	text  text
	check string // the command that fails, "" for what is no check
	// returns is how often it came up again, in the same words, after it was
	// settled: other numbers may be another place with the same fault.
	returns int
	back    bool // it did so in the last round
}

const (
	maxRaised = 50  // findings of one round; a critic that raises more says nothing
	maxKnown  = 500 // of a session
	// loosely is the part of the similarity from which on two points are one:
	// a critic words the same point anew each time.
	loosely = 0.75
)

// raise follows the findings through a round.
func (f *fold) raise(r loop.Round) {
	var fresh []*finding
	taken := map[*finding]bool{}
	for _, p := range points(r.Verdict) {
		now := &finding{Finding: loop.Finding{Text: p}, text: read(p), check: failing(r, p)}
		x := f.find(now, taken)
		if x == nil {
			fresh = append(fresh, now)
			continue
		}
		taken[x] = true
		x.again(now, f.Similarity)
	}
	for _, x := range f.known {
		if x.back = x.back && taken[x]; !taken[x] {
			x.State = loop.FindingClosed
		}
	}
	for _, x := range fresh {
		if len(f.known) == maxKnown {
			break
		}
		x.ID, x.State, x.Since = fmt.Sprintf("F%d", len(f.known)+1), loop.FindingNew, r.Iteration
		f.known = append(f.known, x)
	}
}

// again notes that a finding is raised once more.
func (x *finding) again(now *finding, similarity float64) {
	x.back = x.State == loop.FindingClosed && now.text.repeats(x.text, similarity)
	if x.back {
		x.returns++
	}
	if x.State == loop.FindingClosed {
		x.State = loop.FindingReopened
	} else {
		x.State = loop.FindingOpen
	}
	x.Text, x.text, x.check = now.Text, now.text, now.check
}

// failing returns the command of the check that a rule's point is about, "" for
// none. A check that fails is one finding, however it fails.
func failing(r loop.Round, p string) string {
	if r.Rule == "" {
		return "" // a critic may have more to say than one thing about a check
	}
	for _, c := range r.Checks {
		if !c.Passed() && strings.HasPrefix(p, line("`"+c.Command+"`")+" ") {
			return c.Command
		}
	}
	return ""
}

// find returns the finding that says most nearly the same, nil for none.
func (f *fold) find(now *finding, taken map[*finding]bool) *finding {
	var best *finding
	most := f.Similarity * loosely
	for _, x := range f.known {
		if s := now.likeness(x); !taken[x] && s >= most && (best == nil || s > most) {
			best, most = x, s
		}
	}
	return best
}

func (x *finding) likeness(other *finding) float64 {
	if x.check != "" && x.check == other.check {
		return 1
	}
	return x.text.likeness(other.text)
}

func (f *fold) open() (n int) {
	for _, x := range f.known {
		if x.State != loop.FindingClosed {
			n++
		}
	}
	return n
}

// findings returns all of them, those that are settled last.
func (f *fold) findings() []loop.Finding {
	var all []loop.Finding
	for _, x := range f.known {
		all = append(all, x.Finding)
	}
	slices.SortStableFunc(all, func(a, b loop.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

func rank(x loop.Finding) int {
	if x.State == loop.FindingClosed {
		return 1
	}
	return 0
}

// points returns what a verdict finds fault with, a line each and no line
// twice: its issues, or the items of its feedback, or all of it as one.
func points(v loop.Verdict) []string {
	if v.Decision != loop.Continue {
		return nil
	}
	all := slices.Concat(v.RequiredChanges, v.Issues)
	if len(all) == 0 {
		all = items(v.Feedback)
	}
	if len(all) == 0 {
		all = []string{v.Feedback}
	}
	var lines []string
	for _, p := range all {
		if p = line(p); p != "" && !slices.Contains(lines, p) && len(lines) < maxRaised {
			lines = append(lines, p)
		}
	}
	return lines
}

// items returns the items of the lists in a text.
func items(s string) []string {
	var all []string
	for l := range strings.Lines(s) {
		body := strings.TrimSpace(l)
		switch rest, is := item(body); {
		case is:
			all = append(all, rest)
		case body == "" || len(all) == 0:
		case strings.TrimLeft(l, " \t") != l: // goes on below its bullet
			all[len(all)-1] += " " + body
		}
	}
	return all
}

// item takes the bullet or the number off a line.
func item(l string) (rest string, is bool) {
	for _, bullet := range []string{"- ", "* ", "+ ", "• "} {
		if rest, is = strings.CutPrefix(l, bullet); is {
			return rest, true
		}
	}
	rest = strings.TrimLeft(l, "0123456789")
	if rest == l || len(rest) < 3 || rest[0] != '.' && rest[0] != ')' || rest[1] != ' ' {
		return l, false
	}
	return rest[2:], true
}

// line makes one line of a text, of bounded length.
func line(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
