package accept

import (
	"bytes"
	"context"
	"strings"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// merge applies what changed from base to theirs to ours. It reports false where both changed the same lines, or added
// some at the same place. With touching, changes may be side by side: each line of base belongs to one of them, so
// their order is known.
func merge(ctx context.Context, base, ours, theirs []byte, touching bool) (merged []byte, ok bool, err error) {
	hunks, err := patch.Hunks(ctx, "", 0, patch.Texts{Before: base, After: ours}, patch.Texts{Before: base, After: theirs})
	if err != nil {
		return nil, false, err
	}
	mine, other := edits(hunks[0], 0), edits(hunks[1], 1)
	m := merger{base: bytes.SplitAfter(base, []byte("\n")), touching: touching}
	for len(mine) > 0 || len(other) > 0 {
		next := &mine
		if len(mine) == 0 || len(other) > 0 && other[0].before(mine[0]) {
			next = &other
		}
		if !m.apply((*next)[0]) {
			return nil, false, nil
		}
		*next = (*next)[1:]
	}
	return m.out, m.copyTo(len(m.base)), nil
}

// An edit replaces lines of base, from start to end, by a text.
type edit struct {
	start, end int
	text       string
	by         int // whose it is
}

// edits returns the edits that hunks without lines around them make.
func edits(hunks string, by int) (all []edit) {
	last := byte(0)
	for l := range loop.PatchLines(hunks) {
		if l.Op == '@' {
			all = append(all, edit{start: l.Old - 1, end: l.Old - 1, by: by})
		}
		e := &all[len(all)-1]
		switch {
		case l.Op == '-':
			e.end++
		case l.Op == '+':
			e.text += l.Text
		case l.Op == '\\' && last == '+':
			e.text = strings.TrimSuffix(e.text, "\n")
		}
		last = l.Op
	}
	return all
}

// before orders edits that do not overlap: at the same place, lines are added before others go.
func (e edit) before(other edit) bool {
	if e.start != other.start {
		return e.start < other.start
	}
	return e.end < other.end
}

// A merger writes base with edits applied in order.
type merger struct {
	base     [][]byte
	touching bool
	out      []byte
	at       int   // the lines of base that are done
	last     *edit // applied; nil before the first
}

// apply applies the next edit. It reports false if the one before changed the same lines or added some at the same
// place, unless both do the same.
func (m *merger) apply(e edit) bool {
	if was := m.last; was != nil {
		place := was.start == e.start && was.end == e.end
		switch {
		case place && was.text == e.text:
			return true
		case e.start < m.at, place, !m.touching && e.start == m.at && was.by != e.by:
			return false
		}
	}
	if !m.copyTo(e.start) || !m.put([]byte(e.text)) {
		return false
	}
	m.at, m.last = e.end, &e
	return true
}

// copyTo keeps the lines of base up to one.
func (m *merger) copyTo(line int) bool {
	for ; m.at < line; m.at++ {
		if !m.put(m.base[m.at]) {
			return false
		}
	}
	return true
}

// put reports false if a line without an end would be continued.
func (m *merger) put(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if len(m.out) > 0 && m.out[len(m.out)-1] != '\n' {
		return false
	}
	m.out = append(m.out, text...)
	return true
}
