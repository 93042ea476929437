package verdict

import (
	"cmp"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// A reading is a parsed reply: its decision lines with their labels, and its JSON objects.
type reading struct {
	scanner
	seal Seal

	open    field   // the label whose value continues
	before  []field // above the first decision
	blocks  []*block
	labels  int // lines with a label other than DECISION
	closeAt int // the offset of the next closing tag; see tagged
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
	given   numbers

	lines []string // its lines, without paragraphs below its last label; or the members of the object
	core  string   // its text, with everything below it
	tail  string   // what follows it and is no value of it

	open    string // what it calls open itself, see [open]
	problem error  // a [ReplyError]: it cannot be read
}

// numbers are the values of the labels that take a number; nil is an invalid one.
type numbers map[string][]*float64

// read parses a clean text. The error is a [ReplyError].
func read(text string, b prompt.Boundary, s Seal) (*reading, error) {
	r := &reading{scanner: scanner{text: text, boundary: b}, seal: s}
	for l := range r.lines() {
		if l.own && l.text != "" {
			if err := r.take(l); err != nil {
				return nil, err
			}
		}
	}
	r.torn = r.torn || r.within
	r.push(len(text))
	if len(r.blocks) == 1 {
		r.blocks[0].above = r.before
	}
	return r, nil
}

// otherDecision matches a decision other than DONE with its label, also within a line, where two replies ran together.
var otherDecision = wording.Pattern(`(?i)decision[^\pL\pN]{1,24}(?:continue|error|escalate|revise)\b`)

// maxLabels bounds what is kept of a reply besides its text.
const maxLabels = 10_000

// take reads a line of the critic's own words.
func (r *reading) take(l line) error {
	name, value := splitLabel(l.text)
	if name == labelDecision {
		r.other = cmp.Or(otherDecision().FindString(value), r.other)
	} else {
		r.other = cmp.Or(otherDecision().FindString(l.text), r.other)
	}
	if name == "" {
		r.line(l)
		return nil
	}
	if r.labels+len(r.blocks) > maxLabels {
		return problem("the reply holds more than %d lines with labels; answer with one block", maxLabels)
	}
	r.push(l.start)
	if name == labelDecision {
		value = sad(l.text) + value
		r.blocks = append(r.blocks, &block{at: l.start})
	} else {
		r.labels++
	}
	r.open = field{name: name, first: value, from: min(l.end+1, len(r.text))}
	return nil
}

// push ends the open value and stores it.
func (r *reading) push(end int) {
	f := r.open
	f.below = r.text[f.from:max(f.from, end)]
	r.open = field{}
	switch {
	case f.name == "":
	case len(r.blocks) == 0:
		r.before = append(r.before, f)
	case f.name == labelDecision:
		r.blocks[len(r.blocks)-1].settle(f)
	default:
		b := r.blocks[len(r.blocks)-1]
		b.fields = append(b.fields, f)
	}
}

// claims returns the decisions of a reply, in order. A block with nothing but the
// placeholders of the instructions is skipped, unless it is the last.
func (r *reading) claims() (all []claim) {
	all = slices.Clone(r.objects)
	for i, b := range r.blocks {
		mark, form := b.placeholder()
		if b.heading || form && i < len(r.blocks)-1 {
			continue
		}
		c := r.spoken(b)
		if i > 0 && c.sealed == loop.SealNone {
			c.sealed = r.seal.on(r.blocks[i-1].lent())
		}
		switch {
		case mark != "":
			c.problem = problem("a block is not filled in: it holds %s", quote(mark))
		case b.word == "":
			c.problem = problem("a DECISION line says %s, which is not exactly one of DONE, CONTINUE, ERROR and ESCALATE", quote(b.said))
		}
		all = append(all, c)
	}
	if slices.ContainsFunc(all, func(c claim) bool { return !c.scored }) { // those count only by themselves
		all = slices.DeleteFunc(all, func(c claim) bool { return c.scored })
	}
	slices.SortFunc(all, func(a, b claim) int { return cmp.Compare(a.at, b.at) })
	return all
}

// spoken returns the claim of a block.
func (r *reading) spoken(b *block) claim {
	end := b.end()
	c := claim{
		at: b.at, verdict: b.verdict(r.boundary), sealed: r.seal.on(b.seals()), given: b.given(),
		lines: strings.Split(r.text[b.at:end], "\n"), core: r.text[b.at:],
	}
	if n := len(b.fields); n > 0 && !b.fields[n-1].prose() { // any other value extends to the end
		c.tail = r.text[end:]
	}
	return c
}
