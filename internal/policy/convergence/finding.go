package convergence

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A finding is a finding with what is needed to recognize it.
type finding struct {
	loop.Finding
	first  string // its first wording
	last   string // its last
	rounds int    // how often in a row it was raised
}

const (
	maxRaised = 50       // findings of a round
	maxKnown  = 500      // findings of a session
	checks    = "checks" // policy.RuleChecks
	later     = " Later: "
)

// adopt takes the findings as a round has recorded them, so that they keep their names however they
// were told apart.
func (f *fold) adopt(all []loop.Finding) {
	all = slices.Clone(all)
	number := func(x loop.Finding) int { n, _ := strconv.Atoi(strings.TrimPrefix(x.ID, "F")); return n }
	slices.SortFunc(all, func(a, b loop.Finding) int { return cmp.Compare(number(a), number(b)) })
	for _, now := range all {
		i := f.index(now.ID)
		if i < 0 {
			i = len(f.known)
			f.known = append(f.known, &finding{Finding: now})
		}
		x := f.known[i]
		x.Finding = now
		x.first, x.last, _ = strings.Cut(now.Text, later)
	}
}

// raise updates the findings for a round.
func (f *fold) raise(r loop.Round) {
	if len(r.Findings) > 0 {
		f.adopt(r.Findings)
		return
	}
	answers := f.answered(r.Verdict.Answers)
	fresh, taken := f.recognize(r, answers)
	for _, x := range f.known {
		if !taken[x] {
			x.State = x.passedOver(r, answers[x.ID])
		}
	}
	for _, x := range fresh[:min(len(fresh), maxKnown-len(f.known))] {
		x.ID, x.State, x.Since = fmt.Sprintf("F%d", len(f.known)+1), loop.FindingNew, r.Iteration
		x.Late = f.judged && seenBefore(r, x.Text)
		f.known = append(f.known, x)
	}
}

// recognize returns the findings of a round that are not known yet, and which of the known are
// raised again. A finding that the critic answers as over is not.
func (f *fold) recognize(r loop.Round, answers map[string]loop.FindingState) (fresh []*finding, taken map[*finding]bool) {
	taken = map[*finding]bool{}
	all := points(r)
	binding := r.Verdict.Decision != loop.Done && !slices.ContainsFunc(all, func(p string) bool { w, _ := verdict.Mark(p); return w == verdict.Must })
	for _, p := range all {
		weight, p := verdict.Mark(p)
		may := weight == verdict.May && !binding
		if x, words := f.named(p); x != nil {
			if !taken[x] && !answers[x.ID].Over() {
				taken[x] = true
				x.again(words, may)
			}
			continue
		}
		now := &finding{Finding: loop.Finding{Text: p, Check: failing(r, p), May: may}, first: p, last: p}
		x := f.find(now, taken, answers)
		if x == nil {
			fresh = append(fresh, now)
			continue
		}
		taken[x] = true
		x.again(p, may)
	}
	return fresh, taken
}

// answered returns the states that a critic gives to findings, by name. A range means those
// that exist. Contradicting answers are ignored.
func (f *fold) answered(answers []loop.Answer) map[string]loop.FindingState {
	states := map[string]loop.FindingState{}
	for _, a := range answers {
		first, last, several := strings.Cut(a.ID, "-")
		from := f.index(first)
		to := from
		if several {
			n, _ := strconv.Atoi(strings.TrimPrefix(last, "F")) // IDs are numbered from 1 without gaps
			to = min(n, len(f.known)) - 1
		}
		if from < 0 || to < from {
			continue
		}
		for _, x := range f.known[from : to+1] {
			if before, twice := states[x.ID]; twice && before != a.State {
				states[x.ID] = ""
			} else {
				states[x.ID] = a.State
			}
		}
	}
	return states
}

// index returns the index of the finding with a name, -1 for none.
func (f *fold) index(name string) int {
	return slices.IndexFunc(f.known, func(x *finding) bool { return x.ID == name })
}

// again records that a finding is raised once more, in these words; "" are its own. Its first wording
// stays part of it.
func (x *finding) again(words string, may bool) {
	x.May = x.May && may // a binding finding stays binding
	if !x.Raised() {
		x.State = loop.FindingReopened
	} else {
		x.State = loop.FindingOpen
	}
	if words == "" || words == x.first {
		return
	}
	x.Text, x.last = words, words
	if x.Check == "" {
		first := []rune(x.first)
		x.Text = line(string(first[:min(len(first), maxLine/2)]) + later + words)
	}
}

// passedOver returns the state of a finding that a review does not raise.
func (x *finding) passedOver(r loop.Round, answer loop.FindingState) loop.FindingState {
	made := func(q loop.Requirement) bool { return q.Enforced && line(q.Text) == x.first }
	switch {
	case x.Check != "", slices.ContainsFunc(r.Inspection.Audit.Required, made): // the check no longer fails, the change was made
		return loop.FindingClosed
	case answer != "":
		return answer
	case x.Due():
		return loop.FindingUnmentioned
	}
	return x.State
}

// byName matches a finding's name at the beginning of a point.
var byName = wording.Pattern(`^[*_` + "`" + `\[(]*([Ff]\d+)[*_` + "`" + `\])]*(?:,[^:]*)?\s*[:–—-]\s*`)

// named returns the finding that a point names, nil for none, and what the point says about
// it.
func (f *fold) named(p string) (x *finding, words string) {
	m := byName().FindStringSubmatch(p)
	if m == nil {
		return nil, ""
	}
	if i := f.index(strings.ToUpper(m[1])); i >= 0 {
		x = f.known[i]
	}
	return x, strings.TrimSpace(p[len(m[0]):])
}

// failing returns the command of the check that a rule's point is about, "" for none. A
// failing check is one finding, however it fails.
func failing(r loop.Round, p string) string {
	if r.Rule != checks {
		return "" // a critic may make several points about a check
	}
	for _, c := range r.Checks {
		if !c.Passed() && strings.HasPrefix(p, line("`"+c.Command+"`")+" ") {
			return c.Command
		}
	}
	return ""
}

// find returns the finding that says the same, word for word, or is about the same check; nil for none.
// It skips those that the critic calls settled in the same review.
func (f *fold) find(now *finding, taken map[*finding]bool, answers map[string]loop.FindingState) *finding {
	for _, x := range f.known {
		same := x.first == now.first || x.last == now.first
		if now.Check != "" || x.Check != "" {
			same = x.Check == now.Check
		}
		if same && !taken[x] && !answers[x.ID].Over() {
			return x
		}
	}
	return nil
}

// open counts the binding findings that the last review raised.
func (f *fold) open() (n int) {
	for _, x := range f.known {
		if x.Raised() && !x.May {
			n++
		}
	}
	return n
}

// findings returns all findings, the settled ones last.
func (f *fold) findings() (all []loop.Finding) {
	for _, over := range []bool{false, true} {
		for _, x := range f.known {
			if x.State.Over() == over {
				all = append(all, x.Finding)
			}
		}
	}
	return all
}
