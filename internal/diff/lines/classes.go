package lines

import (
	"bytes"
	"hash/maphash"
)

// classes numbers the lines of two windows so that equal lines have equal
// numbers. Lines that occur only outside of the windows have no number.
type classes struct {
	windows [2]window
	of      [2][]int32 // class of each line of a window
	all     []class    // by number

	seed  maphash.Seed // random, so that no content can aim at collisions
	slots []slot       // open addressing, a power of two long
}

// A class is a set of equal lines.
type class struct {
	side, line int32    // one of them
	counts     [2]int32 // how many there are on each whole side
}

// A slot holds a class's number plus one, and a part of its hash.
type slot struct {
	hash  uint32
	class int32
}

func classify(a, b window) *classes {
	c := &classes{
		windows: [2]window{a, b},
		seed:    maphash.MakeSeed(),
		slots:   make([]slot, 256),
	}
	for s, w := range c.windows {
		c.of[s] = make([]int32, w.hi-w.lo)
		for i := range c.of[s] {
			n := c.number(s, w.lo+i)
			c.of[s][i] = n
			c.all[n].counts[s]++
		}
	}
	c.countEnds()
	return c
}

// countEnds counts the lines outside of the windows, which are the same on both
// sides.
func (c *classes) countEnds() {
	w := c.windows[0]
	c.countBoth(w.side, 0, w.lo)
	c.countBoth(w.side, w.hi, w.count())
}

func (c *classes) countBoth(s *side, lo, hi int) {
	for i := lo; i < hi; i++ {
		at, _ := c.find(s.line(i))
		if n := c.slots[at].class - 1; n >= 0 {
			c.all[n].counts[0]++
			c.all[n].counts[1]++
		}
	}
}

// number returns the class of a line in a window, a new one if it has none yet.
func (c *classes) number(side, line int) int32 {
	at, hash := c.find(c.windows[side].line(line))
	if n := c.slots[at].class; n > 0 {
		return n - 1
	}
	c.all = append(c.all, class{side: int32(side), line: int32(line)})
	n := int32(len(c.all))
	c.slots[at] = slot{hash, n}
	if len(c.all)*2 > len(c.slots) {
		c.grow()
	}
	return n - 1
}

// find returns the slot of a line's class, or the free one where it belongs.
func (c *classes) find(text []byte) (at, hash uint32) {
	hash = uint32(maphash.Bytes(c.seed, text))
	mask := uint32(len(c.slots) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		s := c.slots[at]
		if s.class == 0 || s.hash == hash && bytes.Equal(text, c.text(s.class-1)) {
			return at, hash
		}
	}
}

func (c *classes) text(number int32) []byte {
	k := c.all[number]
	return c.windows[k.side].line(int(k.line))
}

func (c *classes) grow() {
	old := c.slots
	c.slots = make([]slot, 2*len(old))
	mask := uint32(len(c.slots) - 1)
	for _, s := range old {
		if s.class == 0 {
			continue
		}
		at := s.hash & mask
		for c.slots[at].class != 0 {
			at = (at + 1) & mask
		}
		c.slots[at] = s
	}
}
