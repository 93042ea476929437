package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// A ReplyError says why a reply has no verdict, in a sentence for people and for the critic
// that is asked again.
type ReplyError struct{ Problem string }

func (e *ReplyError) Error() string { return e.Problem }

func problem(format string, args ...any) error {
	return &ReplyError{Problem: fmt.Sprintf(format, args...)}
}

// quote quotes a part of a reply in a problem.
func quote(text string) string { return wording.Quote(text, 80) }

// Read reads the verdict, or the problem, from the reply of a review.
func Read(r *loop.Review, matter loop.Case, c Contract) {
	readBy(r, c, func(lines []string) bool {
		shown := evidence(matter)
		r.Quoted = !slices.ContainsFunc(lines, func(line string) bool { return !stands(line, shown) })
		return r.Quoted
	})
}

// Reread is [Read] for a reply from a log, which does not have the evidence.
func Reread(r *loop.Review, c Contract) {
	readBy(r, c, func([]string) bool { return r.Quoted })
}

func readBy(r *loop.Review, c Contract, quoted func([]string) bool) {
	p := Parser{Boundary: r.Boundary, Seal: r.Seal, SealOnly: r.SealOnly, Contract: c, Quoted: quoted}
	r.Verdict, r.Sealed, r.Problem = p.Read(r.Reply)
}

// A Parser reads the verdicts of replies to one prompt.
type Parser struct {
	// Boundary is the random name in that prompt, "" for none. What a reply repeats
	// from within the boundary is a quotation.
	Boundary string
	// Seal is the random word that a decision should repeat, "" for none.
	Seal string
	// SealOnly requires the seal of a DONE.
	SealOnly bool
	// Quoted reports whether all the lines are in the evidence; nil: there is none.
	Quoted func(lines []string) bool
	// Contract is what the verdicts must satisfy.
	Contract Contract
}

// Read reads a verdict that satisfies the contract, and how it is sealed. The problem is a
// sentence that says why there is none; if it is not "", the verdict must not be used.
func (p Parser) Read(reply string) (v loop.Verdict, sealed loop.Sealed, problem string) {
	c, err := p.parse(reply)
	v, sealed = c.verdict, c.sealed
	if err != nil {
		return v, sealed, err.Error()
	}
	if (p.Contract.Sealed || p.SealOnly && v.Decision == loop.Done) && p.Seal != "" && sealed != loop.SealRight {
		return v, sealed, unsealed(sealed)
	}
	if broken := p.Contract.Check(v); broken != "" {
		return v, sealed, "the reply does not keep to the rules of this run: " + broken
	}
	return v, sealed, ""
}

func unsealed(s loop.Sealed) string {
	if s == loop.SealWrong {
		return "the decision repeats another seal than the one it was given; write the block with the seal that stands in it"
	}
	return "the decision lacks the seal, which this run asks for; write the block with its seal"
}

func (p Parser) parse(reply string) (claim, error) {
	text := clean(reply)
	if text == "" {
		return claim{}, problem("the reply is empty")
	}
	r, err := read(text, prompt.Boundary(p.Boundary), Seal(p.Seal))
	if err != nil {
		return claim{}, err
	}
	c, err := r.decide(p.Contract.Structured != nil)
	if err == nil && c.scored && c.verdict.Score != nil {
		c.verdict.Decision = byScore(c.verdict, cmp.Or(p.Contract.Threshold, defaultThreshold))
		if c.verdict.Decision == loop.Continue {
			c.verdict.Feedback = cmp.Or(bullets(c.verdict.Issues), c.verdict.Summary)
		}
	}
	if err == nil {
		err = p.accept(c, r.other)
	}
	if err != nil {
		return claim{}, err
	}
	if c.verdict.Decision != loop.Done && c.verdict.Guidance() == "" {
		c.verdict.Feedback = remarks(text[:c.at])
	}
	return c, nil
}

// remarks returns the text above a decision that gives no reason, cut because it may be a
// long session of an agent.
func remarks(text string) string {
	const most = 8 << 10
	return strings.TrimSpace(prompt.Clip(strings.TrimSpace(text), most, 0))
}

// decide returns the claim that decides: one with the right seal, whatever else the reply says,
// or else the only claim in it. A fence at the end of the reply is read if it is sealed, or if
// nothing else decides.
func (r *reading) decide(structured bool) (claim, error) {
	all := r.claims()
	fenced, inFence := r.fenced(structured)
	if sealed := ofSeal(append(slices.Clone(all), fenced)); len(sealed) > 0 {
		return agreed(sealed, structured)
	}
	switch {
	case r.torn:
		return claim{}, problem("the reply repeats a part of the evidence without both of its boundary lines; quote less of it")
	case len(all) == 0 && inFence:
		all = []claim{fenced}
	case len(all) == 0:
		return claim{}, problem("no line of the reply begins with DECISION: outside of quotations, and it holds no JSON object with a decision")
	}
	c, err := agreed(all, structured)
	counts := slices.DeleteFunc(all, func(c claim) bool { return structured && !c.object })
	if err == nil && len(counts) > 1 {
		return claim{}, problem("the reply decides %d times; decide once, with the seal", len(counts))
	}
	return c, err
}

func ofSeal(all []claim) []claim {
	return slices.DeleteFunc(all, func(c claim) bool { return c.sealed != loop.SealRight })
}

// agreed returns the last of the claims, which must agree. Numbers that differ are none.
func agreed(all []claim, structured bool) (c claim, err error) {
	left := "" // what any of them calls open
	given := numbers{}
	found := false
	for _, next := range all {
		switch {
		case next.problem != nil:
			return claim{}, next.problem
		case !agree(all[0].verdict, next.verdict):
			return claim{}, problem("the reply decides %s and also %s; decide once, and repeat no other decision", all[0].verdict.Word(), next.verdict.Word())
		}
		left = cmp.Or(left, open(next))
		if structured && !next.object {
			continue
		}
		for name, numbers := range next.given {
			given[name] = append(given[name], numbers...)
		}
		c, found = next, true
	}
	c.open = left
	if !found {
		return claim{}, problem("the reply holds no JSON object with a decision")
	}
	if differ(given[labelConfidence]) {
		c.verdict.Confidence = nil
	}
	if differ(given[labelScore]) {
		c.verdict.Score = nil
	}
	return c, nil
}

func agree(a, b loop.Verdict) bool {
	return a.Decision == b.Decision && (a.Escalation == "") == (b.Escalation == "")
}

// differ reports whether not all of the numbers are the same.
func differ(numbers []*float64) bool {
	return slices.ContainsFunc(numbers, func(n *float64) bool {
		first := numbers[0]
		return (n == nil) != (first == nil) || n != nil && *n != *first
	})
}

// fenced reads a fence at the end of a reply; ok is set if it holds a decision.
func (r *reading) fenced(structured bool) (c claim, ok bool) {
	content, ok := r.finalFence()
	if !ok || len(r.blocks) == 0 && r.labels > 0 {
		return c, false
	}
	if content = clean(content); strings.HasPrefix(content, "{") {
		c, ok = wholeObject(content, r.seal)
	} else {
		first, _, _ := strings.Cut(content, "\n")
		name, _ := splitLabel(first)
		inner, err := read(content, "", r.seal)
		switch {
		case err != nil:
			c.problem = err
		case name == "" || len(inner.blocks) == 0:
			return c, false
		default:
			if c, err = inner.decide(structured); err != nil {
				c = claim{problem: err}
			}
			r.other = cmp.Or(r.other, inner.other)
		}
	}
	c.at = r.fence.at
	return c, ok
}
