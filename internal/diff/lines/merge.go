package lines

import "bytes"

// Merge applies what changed from base to theirs to ours. It reports false where both changed the same lines, or
// added some at the same place. With touching, changes may be side by side: each line of base belongs to one of them, so
// their order is known.
func Merge(base, ours, theirs []byte, touching bool) (merged []byte, ok bool) {
	m := merger{base: split(base), touching: touching}
	mine, other := m.edits(ours), m.edits(theirs)
	for len(mine) > 0 || len(other) > 0 {
		next := &mine
		if len(mine) == 0 || len(other) > 0 && other[0].before(mine[0]) {
			next = &other
		}
		if !m.apply((*next)[0]) {
			return nil, false
		}
		*next = (*next)[1:]
	}
	if !m.copyTo(m.base.count()) {
		return nil, false
	}
	return m.out, true
}

// A change is an edit of base with the new lines.
type change struct {
	edit
	new *side
}

// before orders changes that do not overlap: at the same place, lines are added before others go.
func (c change) before(d change) bool {
	if c.a.start != d.a.start {
		return c.a.start < d.a.start
	}
	return c.a.end < d.a.end
}

// A merger writes base with changes applied in order.
type merger struct {
	base     *side
	touching bool
	out      []byte
	at       int    // the lines of base that are done
	last     change // applied; new is nil before the first
}

// edits returns the changes that lead from base to another content.
func (m *merger) edits(content []byte) (all []change) {
	a, b := split(m.base.content), split(content)
	mark(a, b)
	compact(a, b)
	compact(b, a)
	before, after := firstRun(a), firstRun(b)
	for more := true; more; more = before.next() && after.next() {
		if e := (edit{before.span, after.span}); e.a.size()+e.b.size() > 0 {
			all = append(all, change{e, b})
		}
	}
	return all
}

// apply applies the next change. It reports false if the one before changed the same lines or added some at the same
// place, unless both do the same.
func (m *merger) apply(c change) bool {
	text := c.text()
	if m.last.new != nil {
		was := m.last
		if was.a == c.a && bytes.Equal(was.text(), text) {
			return true
		}
		if c.a.start < m.at || was.a == c.a || !m.touching && c.a.start == m.at && was.new != c.new {
			return false
		}
	}
	if !m.copyTo(c.a.start) || !m.put(text) {
		return false
	}
	m.at, m.last = c.a.end, c
	return true
}

func (c change) text() []byte { return c.new.content[c.new.starts[c.b.start]:c.new.starts[c.b.end]] }

// copyTo keeps the lines of base up to one.
func (m *merger) copyTo(line int) bool {
	text := m.base.content[m.base.starts[m.at]:m.base.starts[max(line, m.at)]]
	m.at = max(line, m.at)
	return m.put(text)
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
