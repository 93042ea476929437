package critic

import (
	"fmt"
	"strings"

	"codeloops/internal/critic/excerpt"
	"codeloops/internal/critique"
	"codeloops/internal/loop"
)

// A ReplyError says why a reply holds no verdict, in a sentence for a person
// and for the critic when it is asked again.
type ReplyError struct{ Problem string }

func (e *ReplyError) Error() string { return e.Problem }

func problem(format string, args ...any) error {
	return &ReplyError{Problem: fmt.Sprintf(format, args...)}
}

// quote shows a piece of a reply inside a problem.
func quote(text string) string {
	const most = 80
	text = strings.Join(strings.Fields(text[:min(len(text), 8*most)]), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// A Parser reads the verdicts of replies to one prompt.
type Parser struct {
	// Boundary is the random name in that prompt. What a reply repeats from
	// within the boundary is a quotation. "" is none.
	Boundary string
	// Contract is what the verdicts must keep.
	Contract critique.Contract
}

// Read reads a verdict that keeps the contract. The problem is a sentence that
// says why there is none; what there is of a verdict does not count then.
func (p Parser) Read(reply string) (v loop.Verdict, problem string) {
	v, err := p.Parse(reply)
	if err != nil {
		return v, err.Error()
	}
	if broken := p.Contract.Check(v); broken != "" {
		return v, "the reply does not keep to the rules of this run: " + broken
	}
	return v, ""
}

// Parse reads a verdict by the grammar in the package comment. The error is
// always a [ReplyError].
func Parse(reply string) (loop.Verdict, error) { return Parser{}.Parse(reply) }

// Parse reads a verdict. It takes time and memory in proportion to the reply.
func (p Parser) Parse(reply string) (loop.Verdict, error) {
	text := clean(reply)
	if text == "" {
		return loop.Verdict{}, problem("the reply is empty")
	}
	r, err := read(text, boundary(p.Boundary))
	if err != nil {
		return loop.Verdict{}, err
	}
	v, at, err := r.verdict()
	if err != nil {
		return loop.Verdict{}, err
	}
	if p.Contract.Structured != nil && !r.structured {
		return loop.Verdict{}, problem("the reply holds no JSON object with a decision")
	}
	if v.Decision != loop.Done && v.Guidance() == "" {
		v.Feedback = remarks(text[:at])
	}
	return v, nil
}

// remarks is what stands above a decision that gives no reason of its own,
// bounded because all of an agent's talk may be there.
func remarks(text string) string {
	const most = 8 << 10
	return strings.TrimSpace(excerpt.Clip(strings.TrimSpace(text), most, 0))
}

// verdict weighs what the reading has found; at is where the verdict begins.
func (r *reading) verdict() (v loop.Verdict, at int, err error) {
	if err := r.damage(); err != nil {
		return v, 0, err
	}
	switch {
	case r.block != nil && !(r.block.heading && r.blocks == 1):
		at = r.block.at
		v, err = r.spoken()
	case r.claim.made:
		at, v = r.claim.at, r.claim.verdict
		r.structured = true
	default:
		return r.fenced()
	}
	if err == nil && v.Decision == loop.Done && r.takenBack() {
		err = problem("the reply says DONE and the block at its end does not")
	}
	return v, at, err
}

// damage says why nothing in the reply can be trusted.
func (r *reading) damage() error {
	switch {
	case r.torn:
		return problem("the reply repeats a part of the evidence without both of its boundary lines")
	case r.glued != "":
		return problem("a decision is glued to other text, as if several replies had run together: %s", quote(r.glued))
	case r.claim.clash:
		return problem("the reply holds JSON objects that contradict each other")
	}
	return nil
}

// spoken is the verdict of the last block, provided that nothing contradicts
// it.
func (r *reading) spoken() (loop.Verdict, error) {
	if err := r.doubt(); err != nil {
		return loop.Verdict{}, err
	}
	v := r.assemble()
	if !r.claim.made {
		return v, nil
	}
	r.structured = true
	if !agree(v, r.claim.verdict) {
		return loop.Verdict{}, problem("the DECISION line says %s and the JSON object says otherwise", v.Decision)
	}
	return merge(v, r.claim.verdict), nil
}

// doubt says what speaks against the last block.
func (r *reading) doubt() error {
	b := r.block
	if mark, ok := placeholder(r.fields(), r.text); ok {
		return problem("the last block is not filled in: it holds %s", quote(mark))
	}
	switch {
	case r.clash || b.mixed:
		return problem("the reply holds several decisions in a row that contradict each other")
	case b.word == "":
		return problem("the last DECISION line says %s, which is not exactly one of DONE, CONTINUE and ERROR", quote(b.said))
	case b.word != loop.Done:
		return nil
	case b.runsOn:
		return problem("the line DECISION: DONE stands within a sentence")
	case r.against() && !b.standsAlone():
		return problem("the reply asks for more work, and its DONE is not a block of its own")
	}
	return nil
}

// assemble makes a verdict of the last block. Text without a label goes where
// the decision's own text belongs.
func (r *reading) assemble() loop.Verdict {
	joined := func(name label) string { return strings.Join(r.values(name), "\n") }
	last := func(name label) (n *float64) {
		for _, v := range r.values(name) {
			n = fraction(v)
		}
		return n
	}
	v := loop.Verdict{
		Decision:   r.block.word,
		Summary:    joined(labelSummary),
		Confidence: last(labelConfidence),
		Score:      last(labelScore),
		Feedback:   joined(labelFeedback),
		Analysis:   joined(labelAnalysis),
		Recovery:   joined(labelRecovery),
	}
	own := &v.Feedback
	switch v.Decision {
	case loop.Done:
		own = &v.Summary
	case loop.Error:
		own = &v.Analysis
	case loop.Continue:
	}
	if *own == "" {
		*own = r.block.rest
	}
	return v
}

// fenced reads a fence at the end of a reply in which nothing else decides.
func (r *reading) fenced() (v loop.Verdict, at int, err error) {
	none := problem("no line of the reply begins with DECISION: outside of quotations, and it holds no JSON object with a decision")
	content, ok := r.finalFence()
	if !ok || r.labels > 0 {
		return v, 0, none
	}
	at, content = r.fence.at, clean(content)
	if strings.HasPrefix(content, "{") {
		v, ok, err := wholeObject(content)
		if !ok {
			err = none
		}
		r.structured = ok
		return v, at, err
	}
	inner, err := read(content, "")
	switch {
	case err != nil:
	case inner.first == noLabel || inner.block == nil:
		err = none
	default:
		if err = inner.damage(); err == nil {
			v, err = inner.spoken()
		}
	}
	return v, at, err
}

// takenBack reports whether a fence at the end says otherwise than the DONE
// before it: as a JSON object, or as labels behind a fence that is never closed
// and so may be no quotation.
func (r *reading) takenBack() bool {
	content, ok := r.finalFence()
	if !ok {
		return false
	}
	content = clean(content)
	if strings.HasPrefix(content, "{") {
		v, ok, err := wholeObject(content)
		return ok && (err != nil || v.Decision != loop.Done)
	}
	if !r.fence.open() {
		return false
	}
	inner, err := read(content, "")
	return err != nil || inner.block != nil && inner.block.word != loop.Done
}
