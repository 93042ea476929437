package lines

import "bytes"

// A side is one of the two contents, cut into lines that keep their newline.
type side struct {
	content []byte
	starts  []int  // where each line starts, then the content's length
	changed []bool // per line, then one that stays false
}

func split(content []byte) *side {
	s := &side{content: content, starts: make([]int, 1, bytes.Count(content, []byte{'\n'})+2)}
	for line := range bytes.Lines(content) {
		s.starts = append(s.starts, s.starts[len(s.starts)-1]+len(line))
	}
	s.changed = make([]bool, len(s.starts))
	return s
}

func (s *side) count() int { return len(s.starts) - 1 }

func (s *side) line(i int) []byte { return s.content[s.starts[i]:s.starts[i+1]] }

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

// classes numbers the lines of two windows so that equal lines have equal
// numbers. Lines that occur only outside of the windows have no number.
type classes struct {
	windows [2]window
	of      [2][]int32 // class of each line of a window
	counts  [][2]int32 // by number: how many of the lines there are on each whole side
	numbers map[string]int32
}

func classify(a, b window) *classes {
	c := &classes{windows: [2]window{a, b}, numbers: make(map[string]int32)}
	for s, w := range c.windows {
		c.of[s] = make([]int32, w.hi-w.lo)
		for i := range c.of[s] {
			n := c.number(w.line(w.lo + i))
			c.of[s][i] = n
			c.counts[n][s]++
		}
	}
	// Outside of the windows both sides are the same.
	w := c.windows[0]
	c.countBoth(w.side, 0, w.lo)
	c.countBoth(w.side, w.hi, w.count())
	return c
}

func (c *classes) countBoth(s *side, lo, hi int) {
	for i := lo; i < hi; i++ {
		if n, there := c.numbers[string(s.line(i))]; there {
			c.counts[n][0]++
			c.counts[n][1]++
		}
	}
}

// number returns the class of a line in a window, a new one if it has none yet.
func (c *classes) number(line []byte) int32 {
	n, there := c.numbers[string(line)]
	if !there {
		n = int32(len(c.counts))
		c.numbers[string(line)], c.counts = n, append(c.counts, [2]int32{})
	}
	return n
}
