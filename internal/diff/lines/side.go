package lines

import "bytes"

// A side is one of the two contents, cut into lines that keep their newline.
type side struct {
	content []byte
	starts  []int  // where each line starts, then the content's length
	changed []bool // per line, then one that stays false
}

const (
	few  = 256     // most contents have fewer lines
	many = 1 << 16 // the memory for more is not kept for the next content
)

// split cuts another content, in the memory of the one before.
func (s *side) split(content []byte) {
	starts := bytes.Count(content, []byte{'\n'}) + 2
	if starts > cap(s.starts) {
		s.starts, s.changed = make([]int, 0, max(starts, few)), make([]bool, max(starts, few))
	}
	s.content, s.starts = content, append(s.starts[:0], 0)
	for at := 0; at < len(content); {
		length := bytes.IndexByte(content[at:], '\n') + 1
		if length == 0 {
			length = len(content) - at
		}
		at += length
		s.starts = append(s.starts, at)
	}
	s.changed = s.changed[:len(s.starts)]
	clear(s.changed)
}

// forget lets go of the content.
func (s *side) forget() {
	s.content = nil
	if cap(s.starts) > many {
		*s = side{}
	}
}

func (s *side) count() int { return len(s.starts) - 1 }

func (s *side) line(i int) []byte { return s.content[s.starts[i]:s.starts[i+1]] }

// size returns the number of bytes in some lines.
func (s *side) size(lines span) int { return s.starts[lines.end] - s.starts[lines.start] }

func (s *side) same(i, j int) bool { return bytes.Equal(s.line(i), s.line(j)) }

// commonEnds counts the equal lines at the start, then those at the end of
// what is left.
func commonEnds(a, b *side) (prefix, suffix int) {
	shorter := min(a.count(), b.count())
	for prefix < shorter && bytes.Equal(a.line(prefix), b.line(prefix)) {
		prefix++
	}
	lastA, lastB := a.count()-1, b.count()-1
	for suffix < shorter-prefix && bytes.Equal(a.line(lastA-suffix), b.line(lastB-suffix)) {
		suffix++
	}
	return prefix, suffix
}

// A window is the part of a side between the common ends: lines from lo up to,
// not including, hi.
type window struct {
	*side
	lo, hi int
}

func (w window) empty() bool { return w.lo == w.hi }

func (w window) markAll() {
	for i := w.lo; i < w.hi; i++ {
		w.changed[i] = true
	}
}
