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
	text  text
	first string // its first wording
	// returns counts how often it came up again, in the same words, after a review
	// without it. Different numbers may mean another place with the same fault.
	returns int
	back    bool // it did so in the last round
}

const (
	maxRaised = 50  // findings of a round
	maxKnown  = 500 // findings of a session
	// loosely is the factor on the similarity at which two points are the same, as
	// critics reword their points each time. The setting can only raise the result, so
	// that different findings are not confused.
	loosely = 0.75
	checks  = "checks" // policy.RuleChecks
)

// raise updates the findings for a round.
func (f *fold) raise(r loop.Round) {
	answers := f.answered(r.Verdict.Answers)
	var fresh []*finding
	taken := map[*finding]bool{}
	all := points(r)
	binding := r.Verdict.Decision != loop.Done && !slices.ContainsFunc(all, func(p string) bool { w, _ := verdict.Mark(p); return w == verdict.Must })
	for _, p := range all {
		weight, p := verdict.Mark(p)
		may := weight == verdict.May && !binding
		if x, words := f.named(p); x != nil {
			if !taken[x] && !over(answers[x.ID]) {
				taken[x] = true
				x.again(r, words, f.similarity, may)
			}
			continue
		}
		now := &finding{Finding: loop.Finding{Text: p, Check: failing(r, p), May: may}, text: read(p), first: p}
		x := f.find(now, taken, answers)
		if x == nil {
			fresh = append(fresh, now)
			continue
		}
		taken[x] = true
		x.again(r, p, f.similarity, may)
	}
	for _, x := range f.known {
		if x.back = x.back && taken[x]; !taken[x] {
			x.State = x.passedOver(r, answers[x.ID])
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

// again records that a finding is raised once more, in these words. Its first wording stays
// part of it unless the new one says the same, because two similar points may still be
// different ones.
func (x *finding) again(r loop.Round, words string, similarity float64, may bool) {
	gone, now := !x.raised(), read(words)
	kept := x.looked(r) != nil // a program searches for this text
	if words == "" {
		now, kept = x.text, true
	}
	if x.back = !x.May && gone && now.repeats(x.text, similarity); x.back {
		x.returns++
	}
	x.May = x.May && may // a binding finding stays binding
	if x.State = loop.FindingOpen; gone {
		x.State = loop.FindingReopened
	}
	if kept {
		return
	}
	x.Text, x.text = words, now
	if x.Check == "" && !now.repeats(read(x.first), defaultSimilarity) {
		first := []rune(x.first)
		x.Text = line(string(first[:min(len(first), maxLine/2)]) + " Later: " + words)
	}
}

// raised reports whether the last review raised the finding.
func (x *finding) raised() bool {
	return x.State == loop.FindingNew || x.State == loop.FindingOpen || x.State == loop.FindingReopened
}

// passedOver returns the state of a finding that a review does not raise. A required change
// is settled when the program finds it, whatever the critic says; only a review that
// continues the work may withdraw it.
func (x *finding) passedOver(r loop.Round, answer loop.FindingState) loop.FindingState {
	goesOn := r.Review.Verdict.Decision == loop.Continue && r.Verdict.Decision == loop.Continue
	change := x.looked(r)
	switch {
	case x.Check != "": // the check no longer fails
		return loop.FindingClosed
	case change != nil && change.Enforced:
		return loop.FindingClosed
	case change != nil && (!goesOn || answer != loop.FindingWithdrawn):
		return loop.FindingOpen
	case answer != "":
		return answer
	case x.Due():
		return loop.FindingUnmentioned
	}
	return x.State
}

// byName matches a finding's name at the beginning of a point.
var byName = wording.Pattern(`^[*_` + "`" + `\[(]*([Ff]\d+)[*_` + "`" + `\])]*(?:,[^:]*)?\s*(?:[:–—-]|\bis\b)\s*`)

// named returns the finding that a point names, nil for none, and what the point says about
// it, "" for almost nothing.
func (f *fold) named(p string) (x *finding, words string) {
	m := byName().FindStringSubmatch(p)
	if m == nil {
		return nil, ""
	}
	if i := f.index(strings.ToUpper(m[1])); i >= 0 {
		x = f.known[i]
	}
	if words = strings.TrimSpace(p[len(m[0]):]); !read(words).tells() {
		words = ""
	}
	return x, words
}

// looked returns the result of a program's search for the change that the finding requires,
// nil if there was none.
func (x *finding) looked(r loop.Round) *loop.Requirement {
	for i, q := range r.Inspection.Audit.Required {
		if line(q.Text) == x.Text {
			return &r.Inspection.Audit.Required[i]
		}
	}
	return nil
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

// find returns the most similar finding, nil for none. It skips those that the critic calls
// settled in the same review.
func (f *fold) find(now *finding, taken map[*finding]bool, answers map[string]loop.FindingState) *finding {
	var best *finding
	most := max(f.similarity, defaultSimilarity) * loosely
	for _, x := range f.known {
		if taken[x] || over(answers[x.ID]) || (x.Check == "") != (now.Check == "") {
			continue
		}
		if s := now.likeness(x, most); s >= most && (best == nil || s > most) {
			best, most = x, s
		}
	}
	return best
}

// likeness returns how alike two findings are, or anything below least.
func (x *finding) likeness(other *finding, least float64) float64 {
	a, b := x.text.size, other.text.size
	switch {
	case x.Check != "" && x.Check == other.Check:
		return 1
	case float64(2*min(a, b)) < least*float64(a+b): // the lengths rule it out
		return 0
	}
	return x.text.likeness(other.text)
}

// open counts the binding findings that the last review raised.
func (f *fold) open() (n int) {
	for _, x := range f.known {
		if x.raised() && !x.May {
			n++
		}
	}
	return n
}

// findings returns all findings, the settled ones last.
func (f *fold) findings() []loop.Finding {
	var all []loop.Finding
	for _, x := range f.known {
		all = append(all, x.Finding)
	}
	settled := func(x loop.Finding) int {
		if over(x.State) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b loop.Finding) int { return cmp.Compare(settled(a), settled(b)) })
	return all
}

// over reports whether a finding needs no more work.
func over(s loop.FindingState) bool {
	return s == loop.FindingClosed || s == loop.FindingWithdrawn
}
