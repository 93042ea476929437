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
func Read(r *loop.Review, matter loop.Case, p loop.Policy) {
	readBy(r, p, func(lines []string) bool {
		shown := evidence(matter)
		r.Quoted = !slices.ContainsFunc(lines, func(line string) bool { return !stands(line, shown) })
		return r.Quoted
	})
}

// Reread is [Read] for a reply from a log, which does not have the evidence.
func Reread(r *loop.Review, p loop.Policy) {
	readBy(r, p, func([]string) bool { return r.Quoted })
}

func readBy(r *loop.Review, p loop.Policy, quoted func([]string) bool) {
	parser := Parser{Boundary: r.Boundary, Seal: r.Seal, SealOnly: r.SealOnly, Policy: p, Quoted: quoted}
	r.Verdict, r.Sealed, r.Broken, r.Problem = parser.read(r.Reply)
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
	// Policy is what the verdicts must satisfy; the zero value requires nothing.
	Policy loop.Policy
}

// read reads a verdict that satisfies the policy, and how it is sealed. The problem is a sentence that says why there is
// none; if it is not "", the verdict must not be used. term is the one of the policy that it breaks, if that is the problem.
func (p Parser) read(reply string) (v loop.Verdict, sealed loop.Sealed, term, problem string) {
	c, err := p.parse(reply)
	v, sealed = c.verdict, c.sealed
	if err != nil {
		return v, sealed, "", err.Error()
	}
	if (p.Policy.Profile == loop.ProfileStrict || p.SealOnly && v.Decision == loop.Done) && p.Seal != "" && sealed != loop.SealRight {
		return v, sealed, "", unsealed(sealed)
	}
	if term, problem = Check(p.Policy, v); term != "" {
		problem = "the reply does not keep to the rules of this run: " + problem
	}
	return v, sealed, term, problem
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
	c, err := r.decide(p.Policy.Critique != nil)
	if err == nil && c.scored && *c.verdict.Score < cmp.Or(p.Policy.Threshold(), usualThreshold) {
		c.verdict.Decision = loop.Continue
		c.verdict.Feedback = cmp.Or(c.verdict.Feedback, c.verdict.Summary)
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

// usualThreshold is the score that approves where only a score decides and the run sets none.
const usualThreshold = 0.9

// remarks returns the text above a decision that gives no reason, cut because it may be a
// long session of an agent.
func remarks(text string) string {
	const most = 8 << 10
	return strings.TrimSpace(prompt.Clip(strings.TrimSpace(text), most, 0))
}

// A reading is a parsed reply: its labels, and its JSON objects.
type reading struct {
	scanner
	flat string // the text
	seal Seal

	fields  []field
	objects []claim
	other   string // a decision other than DONE, with its label, anywhere in the critic's own words
	endless bool   // a JSON object began and did not end
}

// A claim is one decision that a reply makes in the critic's own words.
type claim struct {
	at      int // its offset
	verdict loop.Verdict
	sealed  loop.Sealed
	object  bool
	scored  bool // it has no decision: its score decides
	form    bool // it has nothing but the placeholders of the instructions

	lines []string // the first of each value of a block; or the members of the object
	tail  string   // what follows it and is no value of it

	open    string // what it calls open itself, see [open]
	problem error  // a [ReplyError]: it cannot be read
}

// maxLabels bounds what is kept of a reply besides its text.
const maxLabels = 10_000

// read parses a clean text. The error is a [ReplyError].
func read(text string, b prompt.Boundary, s Seal) (*reading, error) {
	r := &reading{scanner: scanner{text: text, boundary: b}, flat: flat(text), seal: s}
	for l := range r.lines() {
		if l.own && l.text != "" {
			r.take(l)
		}
		if len(r.fields) > maxLabels {
			return nil, problem("the reply holds more than %d lines with labels; answer with one block", maxLabels)
		}
	}
	r.torn = r.torn || r.within
	for end, i := len(text), len(r.fields)-1; i >= 0; i-- {
		f := &r.fields[i]
		f.below, end = text[f.from:max(f.from, end)], f.start
	}
	return r, nil
}

// otherDecision matches a decision other than DONE with its label, also within a line, where two replies ran together.
var otherDecision = wording.Pattern(`(?i)decision[^\pL\pN]{1,24}(?:continue|error|escalate|revise)\b`)

// take reads a line of the critic's own words.
func (r *reading) take(l line) {
	name, value := splitLabel(l.text)
	said := l.text
	if name == labelDecision {
		said = value
	}
	r.other = cmp.Or(r.other, otherDecision().FindString(said))
	body := strings.TrimLeft(l.text, " \t")
	opens := hasPrefixFold(body, openTag)
	if name != "" || opens || hasPrefixFold(body, closeTag) {
		r.fields = append(r.fields, field{name: name, first: value, start: l.start, from: min(l.end+1, len(r.text))})
	}
	if opens {
		body = strings.TrimLeft(body[len(openTag):], " \t")
	}
	if name == "" && strings.HasPrefix(body, "{") && wording.Indent(l.text) <= maxIndent {
		r.object(l.end - len(body))
	}
}

// claims returns the decisions of a reply, in order. A block with nothing but the
// placeholders of the instructions is skipped, unless it is the last.
func (r *reading) claims() (all []claim) {
	all = slices.Clone(r.objects)
	blocks := r.blocks()
	for i, b := range blocks {
		c, ok := r.claim(b)
		if !ok || c.form && i < len(blocks)-1 {
			continue
		}
		if i > 0 && c.sealed == loop.SealNone {
			c.sealed = r.seal.on(blocks[i-1].lent())
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b claim) int { return cmp.Compare(a.at, b.at) })
	return all
}

// decide returns the claim that decides: one with the right seal, whatever else the reply says,
// or else the only claim in it. A fence at the end of the reply is read if it is sealed, or if
// nothing else decides. A structured critique is an object.
func (r *reading) decide(structured bool) (c claim, err error) {
	all := r.claims()
	if slices.ContainsFunc(all, func(c claim) bool { return !c.scored }) { // a score decides where nothing else does
		all = slices.DeleteFunc(all, func(c claim) bool { return c.scored })
	}
	if fenced, other, ok := r.fenced(); ok && (len(all) == 0 && !r.torn || fenced.sealed == loop.SealRight) {
		all, r.other = append(all, fenced), cmp.Or(r.other, other)
	}
	sealed := slices.DeleteFunc(slices.Clone(all), func(c claim) bool { return c.sealed != loop.SealRight })
	switch {
	case len(sealed) > 0:
		c, err = r.agreed(sealed)
	case r.torn:
		return c, problem("the reply repeats a part of the evidence without both of its boundary lines; quote less of it")
	case len(all) == 0:
		return c, problem("no line of the reply begins with DECISION: outside of quotations, and it holds no JSON object with a decision")
	default:
		if c, err = r.agreed(all); err == nil && len(all) > 1 {
			return claim{}, problem("the reply decides %d times; decide once, with the seal", len(all))
		}
	}
	if err == nil && structured && !c.object {
		return claim{}, problem("the reply holds no JSON object with a decision")
	}
	return c, err
}

// agreed returns the last of the claims, which must agree. Numbers that differ are none, and what
// any of them calls open is open, and so is a MUST below the last of them.
func (r *reading) agreed(all []claim) (c claim, err error) {
	left := ""
	for i, next := range all {
		first := all[0].verdict.Word()
		switch {
		case next.problem != nil:
			return claim{}, next.problem
		case next.verdict.Word() != first:
			return claim{}, problem("the reply decides %s and also %s; decide once, and repeat no other decision", first, next.verdict.Word())
		}
		left = cmp.Or(left, next.open, open(next))
		if i > 0 {
			next.verdict.Confidence = same(c.verdict.Confidence, next.verdict.Confidence)
			next.verdict.Score = same(c.verdict.Score, next.verdict.Score)
		}
		c = next
	}
	c.open = cmp.Or(left, Required(r.text[c.at:]))
	return c, nil
}

// same returns a number that was given twice, nil if it differs.
func same(a, b *float64) *float64 {
	if a == nil || b == nil || *a != *b {
		return nil
	}
	return a
}

// fenced reads a fence at the end of a reply, and what other decision it names; ok is set if it
// holds a decision.
func (r *reading) fenced() (c claim, other string, ok bool) {
	content, ok := r.finalFence()
	content = clean(content)
	first, _, _ := strings.Cut(content, "\n")
	name, _ := splitLabel(first)
	if !ok || name == "" && !strings.HasPrefix(content, "{") || len(r.blocks()) == 0 && slices.ContainsFunc(r.fields, func(f field) bool { return f.name != "" }) {
		return c, "", false // or it belongs to a label without a decision
	}
	inner, err := read(content, "", r.seal)
	if err == nil {
		if all := inner.claims(); len(all) == 0 || name == "" && all[0].at > 0 { // it begins with another object
			return c, "", false
		}
		c, err = inner.decide(false)
		other = inner.other
	}
	if err != nil {
		c = claim{problem: err}
	}
	c.at = r.fence.at
	return c, other, true
}
