package verdict

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/prompt"
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

// evidence returns what others wrote about a case, uncut and [spelled].
func evidence(matter loop.Case) []string {
	texts := []string{matter.Task, matter.Attempt.Stdout.Text, matter.Attempt.Stderr.Text, matter.Attempt.Reason, matter.Change.Patch()}
	for _, c := range matter.Checks {
		texts = append(texts, c.Command+"\n"+c.Output.Text)
	}
	for _, o := range matter.Opinions {
		texts = append(texts, o.Says)
	}
	for i, text := range texts {
		texts[i] = spelled(wording.Clean(text))
	}
	return texts
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
	if err == nil {
		err = p.doubt(r, c)
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

// decide returns the claim that decides: the last sealed one, or the last one if none is
// sealed. All others must agree with it. A fence at the end of the reply counts if it is
// sealed, or if nothing else decides.
func (r *reading) decide(structured bool) (claim, error) {
	if r.torn {
		return claim{}, problem("the reply repeats a part of the evidence without both of its boundary lines; quote less of it")
	}
	all, err := r.claims()
	if err != nil {
		return claim{}, err
	}
	fenced, ok, err := r.fenced(structured)
	switch {
	case ok && err == nil && (len(all) == 0 || fenced.sealed == loop.SealRight):
		all = append(all, fenced)
	case ok && len(all) == 0:
		return claim{}, err
	case len(all) == 0:
		return claim{}, problem("no line of the reply begins with DECISION: outside of quotations, and it holds no JSON object with a decision")
	}
	c, ok := chosen(all, structured)
	if !ok {
		return claim{}, problem("the reply holds no JSON object with a decision")
	}
	return unanimous(c, all)
}

// chosen returns the claim that decides if no other contradicts it.
func chosen(all []claim, structured bool) (c claim, ok bool) {
	for _, next := range all {
		if structured && !next.object || c.sealed == loop.SealRight && next.sealed != loop.SealRight {
			continue
		}
		c, ok = next, true
	}
	return c, ok
}

// unanimous requires that all claims agree. A block and a JSON object that are sealed alike
// fill each other's gaps.
func unanimous(c claim, all []claim) (claim, error) {
	given := numbers{}
	gaps := c.verdict
	for _, other := range all {
		if !agree(c.verdict, other.verdict) {
			return claim{}, problem("the reply decides %s and also %s; decide once, and repeat no other decision", c.verdict.Word(), other.verdict.Word())
		}
		if other.object != c.object && other.sealed == c.sealed {
			gaps = other.verdict
		}
		for name, numbers := range other.given {
			given[name] = append(given[name], numbers...)
		}
	}
	for _, name := range []string{labelConfidence, labelScore} {
		if differ(given[name]) {
			return claim{}, problem("the reply gives its %s more than once, and not the same; give it once", strings.ToLower(name))
		}
	}
	if c.sealed != loop.SealRight {
		c.tail = all[len(all)-1].tail
	}
	if c.object {
		c.verdict = merge(gaps, c.verdict)
	} else {
		c.verdict = merge(c.verdict, gaps)
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
func (r *reading) fenced(structured bool) (c claim, ok bool, err error) {
	content, ok := r.finalFence()
	if !ok || len(r.blocks) == 0 && r.labels > 0 {
		return c, false, nil
	}
	if content = clean(content); strings.HasPrefix(content, "{") {
		c, ok, err = wholeObject(content, r.seal)
	} else {
		first, _, _ := strings.Cut(content, "\n")
		name, _ := splitLabel(first)
		var inner *reading
		switch inner, err = read(content, "", r.seal); {
		case err != nil:
		case name == "" || len(inner.blocks) == 0:
			return c, false, nil
		default:
			c, err = inner.decide(structured)
		}
	}
	c.at, c.lead = r.fence.at, r.text[:r.fence.at]
	return c, ok, err
}
