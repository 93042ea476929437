package lines

import "bytes"

// A side is one of the two contents, cut into lines that keep their newline.
type side struct {
	content []byte
	starts  []int  // where each line starts, then the content's length
	changed []bool // per line, then one that stays false
}

func split(content []byte) *side {
	newlines := bytes.Count(content, []byte{'\n'})
	s := &side{content: content, starts: make([]int, 1, newlines+2)}
	for at := 0; at < len(content); {
		length := bytes.IndexByte(content[at:], '\n') + 1
		if length == 0 {
			length = len(content) - at
		}
		at += length
		s.starts = append(s.starts, at)
	}
	s.changed = make([]bool, len(s.starts))
	return s
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
