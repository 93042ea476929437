package lines

import "math"

// The search is Myers' divide and conquer in linear space ("An O(ND) Difference
// Algorithm and Its Variations", 1986, section 4b): two frontiers grow from the
// opposite corners of a box, one edit per round, until they meet on a shortest
// path; the point where they meet splits the box in two. A box that takes too
// many rounds is split at the best point so far instead.

const (
	// patience is the least number of rounds before a box is given up.
	patience = 256
	// snakeRounds is the number of rounds after which a path that has just
	// followed a long snake, a run of equal lines, may split a box early.
	snakeRounds = 256
	// longSnake is the length of such a run, in lines.
	longSnake = 20
	// snakeGain is how many lines such a path must have covered per round,
	// beyond those that lead away from the diagonal it started on.
	snakeGain = 4
)

type searcher struct {
	a, b      *kept
	maxRounds int
	head      frontier // from the upper left corner of the box on
	tail      frontier // from the lower right corner back
}

// A box is a part of the edit graph: the lines a0 to a1 of one side against b0
// to b1 of the other, ends not included.
type box struct{ a0, a1, b0, b1 int }

// A point is a place between lines, on the diagonal a-b.
type point struct{ a, b int }

// A cut splits a box at a point. A half in which the way is known to be short is
// exact: it is searched to the end.
type cut struct {
	at                     point
	exactUpper, exactLower bool
}

// solve marks the changed lines within a box.
func (s *searcher) solve(x box, exact bool) {
	for {
		x = s.shrink(x)
		if x.a0 == x.a1 || x.b0 == x.b1 {
			s.a.mark(x.a0, x.a1)
			s.b.mark(x.b0, x.b1)
			return
		}
		c := s.split(x, exact)
		s.solve(box{x.a0, c.at.a, x.b0, c.at.b}, c.exactUpper)
		x, exact = box{c.at.a, x.a1, c.at.b, x.b1}, c.exactLower
	}
}

// shrink leaves the equal lines at both ends out of a box.
func (s *searcher) shrink(x box) box {
	a, b := s.a.class, s.b.class
	for x.a0 < x.a1 && x.b0 < x.b1 && a[x.a0] == b[x.b0] {
		x.a0++
		x.b0++
	}
	for x.a0 < x.a1 && x.b0 < x.b1 && a[x.a1-1] == b[x.b1-1] {
		x.a1--
		x.b1--
	}
	return x
}

// split finds the point at which to divide a box. Unless exact, it may settle
// for a good one.
func (s *searcher) split(x box, exact bool) cut {
	low, high := x.a0-x.b1, x.a1-x.b0
	s.head.start(x.a0-x.b0, x.a0)
	s.tail.start(x.a1-x.b1, x.a1)
	for round := 1; ; round++ {
		s.head.widen(low, high, -1)
		at, met, long := s.advance(x)
		if met {
			return cut{at, true, true}
		}
		s.tail.widen(low, high, math.MaxInt32)
		at, met, longBack := s.retreat(x)
		if met {
			return cut{at, true, true}
		}
		if exact {
			continue
		}
		if (long || longBack) && round > snakeRounds {
			if c, ok := s.snakeCut(x, round); ok {
				return c
			}
		}
		if round >= s.maxRounds {
			return s.furthestCut(x)
		}
	}
}

// advance takes the head one edit and the equal lines after it further, on every
// second diagonal. It stops where it meets the tail, and reports whether a path
// followed a long snake.
func (s *searcher) advance(x box) (at point, met, long bool) {
	a, b := s.a.class[:x.a1], s.b.class[:x.b1]
	head, tail := &s.head, &s.tail
	odd := (head.mid-tail.mid)&1 != 0
	reach, base := head.reach, head.radius-head.mid
	above := int(reach[base+head.hi+1])
	for k := head.hi; k >= head.lo; k -= 2 {
		below := int(reach[base+k-1])
		i := max(below+1, above)
		above = below
		from, j := i, i-k
		for i < len(a) && j < len(b) && a[i] == b[j] {
			i++
			j++
		}
		long = long || i-from > longSnake
		reach[base+k] = int32(i)
		if odd && tail.lo <= k && k <= tail.hi && tail.on(k) <= i {
			return point{i, j}, true, long
		}
	}
	return point{}, false, long
}

// retreat is advance for the tail, towards the head.
func (s *searcher) retreat(x box) (at point, met, long bool) {
	a, b := s.a.class, s.b.class
	head, tail := &s.head, &s.tail
	even := (head.mid-tail.mid)&1 == 0
	reach, base := tail.reach, tail.radius-tail.mid
	above := int(reach[base+tail.hi+1])
	for k := tail.hi; k >= tail.lo; k -= 2 {
		below := int(reach[base+k-1])
		i := min(below, above-1)
		above = below
		from, j := i, i-k
		for i > x.a0 && j > x.b0 && a[i-1] == b[j-1] {
			i--
			j--
		}
		long = long || from-i > longSnake
		reach[base+k] = int32(i)
		if even && head.lo <= k && k <= head.hi && i <= head.on(k) {
			return point{i, j}, true, long
		}
	}
	return point{}, false, long
}

// A frontier is how far the paths from one corner of a box have come: for each
// diagonal a-b, the furthest position in a. It only holds diagonals that were
// reached, so its size is the number of rounds, not that of the input.
type frontier struct {
	reach  []int32 // of diagonal k at k-mid+radius
	radius int
	mid    int // the diagonal of the corner
	lo, hi int // the diagonals reached last, every second one between them
}

func (f *frontier) on(k int) int { return int(f.reach[k-f.mid+f.radius]) }

func (f *frontier) set(k, position int) { f.reach[k-f.mid+f.radius] = int32(position) }

// start puts the frontier on a corner.
func (f *frontier) start(diagonal, position int) {
	f.mid, f.lo, f.hi = diagonal, diagonal, diagonal
	f.fit()
	f.set(diagonal, position)
}

// widen moves to the diagonals of the next round: one more at each end, or one
// less where that would leave the box. A new end's neighbour is given a position
// that no path starts from.
func (f *frontier) widen(low, high, nowhere int) {
	if f.lo > low {
		f.lo--
		f.fit()
		f.set(f.lo-1, nowhere)
	} else {
		f.lo++
	}
	if f.hi < high {
		f.hi++
		f.fit()
		f.set(f.hi+1, nowhere)
	} else {
		f.hi--
	}
}

// fit makes room for the diagonals next to lo and hi.
func (f *frontier) fit() {
	need := max(f.mid-f.lo, f.hi-f.mid) + 1
	if need <= f.radius {
		return
	}
	radius := max(2*need, 64)
	reach := make([]int32, 2*radius+1)
	copy(reach[radius-f.radius:], f.reach)
	f.reach, f.radius = reach, radius
}
