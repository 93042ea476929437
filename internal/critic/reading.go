package critic

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
)

// A reading is a reply taken apart: its decision lines with their labels, and
// its JSON objects. Of several blocks only the last two are kept.
type reading struct {
	scanner

	open    field // the label whose value goes on; noLabel for none
	before  []field
	block   *block // the last one
	former  *block // the one before, settled
	blocks  int
	clash   bool // bare decision lines in a row, the last of them block, that differ
	notDone bool // an earlier block did not say DONE
	labels  int  // lines with any label
	first   label
	started bool // a line that is not blank has been seen
	closeAt int  // of the next closing tag; see tagged

	claim      claim
	structured bool   // the verdict is that of a JSON object, or has one beside it
	glued      string // a line with a decision that is glued to other text
}

// read takes a clean text apart. The error is a [ReplyError].
func read(text string, b boundary) (*reading, error) {
	r := &reading{scanner: scanner{text: text, boundary: b}}
	blankAbove := true
	for {
		l, ok := r.next()
		if !ok {
			break
		}
		if l.text == "" {
			blankAbove = true
			continue
		}
		if l.own {
			if err := r.take(l, blankAbove); err != nil {
				return nil, err
			}
		}
		r.started, blankAbove = true, false
	}
	r.torn = r.torn || r.within
	r.push(len(text))
	r.settle()
	return r, nil
}

// maxLabels bounds what is kept of a reply beside its text.
const maxLabels = 10_000

// take reads a line of the critic's own words.
func (r *reading) take(l line, blankAbove bool) error {
	if r.glued == "" && glued(l.text) {
		r.glued = l.text
	}
	name, value := splitLabel(l.text)
	if name == noLabel {
		return r.object(l)
	}
	if r.labels > maxLabels {
		return problem("the reply holds more than %d lines with labels", maxLabels)
	}
	if !r.started {
		r.first = name
	}
	r.push(l.start)
	if name == labelDecision {
		r.settle()
		r.former = r.block
		r.block = &block{at: l.start, apart: blankAbove}
		r.blocks++
	} else {
		r.labels++
	}
	r.open = field{name: name, first: value, from: min(l.end+1, len(r.text))}
	return nil
}

// push ends the value that is open and files it.
func (r *reading) push(end int) {
	f := r.open
	f.to = max(f.from, end)
	r.open = field{}
	switch {
	case f.name == noLabel:
	case f.name == labelDecision:
		r.block.decision = f
	case r.block == nil:
		r.before = append(r.before, f)
	default:
		r.block.fields = append(r.block.fields, f)
	}
}

// settle reads the last block and compares it with the one before it.
func (r *reading) settle() {
	if r.block == nil {
		return
	}
	r.block.settle(r.text)
	if r.former == nil {
		return
	}
	r.notDone = r.notDone || r.former.word != loop.Done
	if !r.former.bare() {
		r.clash = false
	} else if r.former.word != r.block.word {
		r.clash = true
	}
}

// fields returns the labels that belong to the last block: those below it,
// then those above a decision that is the only one.
func (r *reading) fields() []field {
	if r.blocks > 1 {
		return r.block.fields
	}
	return slices.Concat(r.block.fields, r.before)
}

// values returns what the critic said under a label, one text per label, in the
// block or else above it.
func (r *reading) values(name label) (out []string) {
	for i, f := range r.fields() {
		if i == len(r.block.fields) && len(out) > 0 {
			break
		}
		if v := f.value(r.text); f.name == name && v != "" {
			out = append(out, v)
		}
	}
	return out
}

// against reports whether the reply says, before its last block, that the work
// is not done.
func (r *reading) against() bool {
	return r.notDone || slices.ContainsFunc(r.before, func(f field) bool {
		return f.name == labelFeedback || f.name == labelRecovery
	})
}

// glued reports whether a decision follows other text without a gap, as it does
// when a model's answer breaks off and begins anew: "SUMMADECISION: DONE". A
// decision that is merely mentioned has a blank or a quotation mark before it.
func glued(text string) bool {
	for _, word := range []string{"DECISION", "Decision"} {
		for at := 0; ; {
			i := strings.Index(text[at:], word)
			if i < 0 {
				break
			}
			i += at
			at = i + len(word)
			if _, _, ok := cutColon(text[at:]); !ok {
				continue
			}
			r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text[:i], "*`"))
			if i > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".,:;!?)…", r)) {
				return true
			}
		}
	}
	return false
}
