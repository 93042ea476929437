package verdict

import (
	"cmp"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// A field is a label with its value: the rest of the label's line, and the lines below it up
// to the next label. Without a name it only ends the field before it.
type field struct {
	name  string
	first string
	below string
	start int // the offset of the label's line
	from  int // the offset of below
}

func (f field) value() string { return strings.TrimSpace(f.first + "\n" + f.below) }

// prose reports whether the value is text of any length.
func (f field) prose() bool {
	return !slices.Contains([]string{labelConfidence, labelScore, labelSeal, labelDecision}, f.name)
}

// A block is a decision line with the fields below it, up to the next decision line.
type block struct {
	fields []field // of which the first is the decision
	members
}

// blocks returns the blocks of a reply. Fields above the only one belong to it.
func (r *reading) blocks() (all []block) {
	var above members
	for _, f := range r.fields {
		m := member{name: f.name, text: f.value()}
		switch {
		case f.name == "":
		case f.name == labelDecision:
			all = append(all, block{fields: []field{f}})
		case all == nil:
			m.above = true
			above = append(above, m)
		default:
			last := &all[len(all)-1]
			last.fields, last.members = append(last.fields, f), append(last.members, m)
		}
	}
	if len(all) == 1 {
		all[0].members = append(all[0].members, above...)
	}
	return all
}

// claim converts a block to a claim. ok is false if it is only a title above an object or a
// fence. Text without a label becomes the decision's main text.
func (r *reading) claim(b block) (c claim, ok bool) {
	decision, last := b.fields[0], b.fields[len(b.fields)-1]
	said, below := decision.first, decision.below
	if said == "" {
		if said, below = cutLine(below); titled(said) {
			return c, false
		}
	}
	word := decisionOf(said)
	if word == loop.Done && strings.ContainsAny(r.text[decision.start:decision.from], refusing) {
		word = ""
	}
	c = claim{at: decision.start, sealed: r.seal.on(b.seals())}
	found, rest := answers(below, r.boundary)
	for _, x := range b.members {
		more, _ := answers(x.text, r.boundary)
		found = append(found, more...)
	}
	v := b.verdict()
	v.Answers = settle(found)
	switch word {
	case loop.Done:
		_, v.Summary = answers(v.Summary, r.boundary)
	case loop.Escalate:
		v.Analysis = cmp.Or(v.Analysis, rest)
		rest = v.Analysis
	case loop.Continue, loop.Error:
	}
	c.verdict = withDecision(v, word, rest)
	for _, f := range b.fields {
		first, rest := cutLine(f.value())
		c.lines, c.tail = append(c.lines, f.name+" "+first), rest+"\n"+r.text[f.from+len(f.below):]
	}
	if len(b.fields) == 1 || last.prose() { // its value extends to the end
		c.tail = ""
	}
	mark, form := b.placeholder()
	c.form = form
	switch {
	case mark != "":
		c.problem = problem("a block is not filled in: it holds %s", quote(mark))
	case word == "":
		c.problem = problem("a DECISION line says %s, which is not exactly one of DONE, CONTINUE, ERROR and ESCALATE", quote(said))
	}
	return c, true
}

// lent returns the seal in the block's last line, if the next block begins right below it: it may have been written
// for that one.
func (b block) lent() []Seal {
	if last := b.fields[len(b.fields)-1]; last.name == labelSeal && last.below == "" {
		return []Seal{sealOf(last.first)}
	}
	return nil
}

// titled reports whether a line below an empty DECISION label begins a fence, an object or
// a tag, which is read separately.
func titled(line string) bool {
	mark, _ := opening(line)
	return mark != "" || strings.HasPrefix(line, "{") || hasPrefixFold(line, openTag)
}
