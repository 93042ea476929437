package lines

import "slices"

// snakeCut looks for the path that has come furthest among those that end in a
// long snake, first from the head, then from the tail. The half it leads through
// is exact.
func (s *searcher) snakeCut(x box, round int) (cut, bool) {
	if at, ok := s.furthestSnake(&s.head, x, round); ok {
		return cut{at: at, exactUpper: true}, true
	}
	at, ok := s.furthestSnake(&s.tail, x, round)
	return cut{at: at, exactLower: true}, ok
}

func (s *searcher) furthestSnake(f *frontier, x box, round int) (best point, ok bool) {
	gain := snakeGain * round
	for k := f.hi; k >= f.lo; k -= 2 {
		i := f.on(k)
		j := i - k
		start := point{i - longSnake, j - longSnake}
		if f == &s.tail {
			start = point{i, j}
		}
		g := s.covered(f, x, point{i, j}) - max(k-f.mid, f.mid-k)
		inside := x.a0 <= start.a && start.a+longSnake <= x.a1 && x.b0 <= start.b && start.b+longSnake <= x.b1 &&
			x.a0 < i && i < x.a1 && x.b0 < j && j < x.b1
		if g > gain && inside && slices.Equal(s.a.class[start.a:start.a+longSnake], s.b.class[start.b:start.b+longSnake]) {
			best, ok, gain = point{i, j}, true, g
		}
	}
	return best, ok
}

// furthestCut splits a box at the end of the path that has covered the most
// lines, from the head or from the tail. The half it leads through is exact.
func (s *searcher) furthestCut(x box) cut {
	head, ahead := s.furthest(&s.head, x)
	tail, back := s.furthest(&s.tail, x)
	if back < ahead {
		return cut{at: head, exactUpper: true}
	}
	return cut{at: tail, exactLower: true}
}

// furthest returns where the path of a frontier is that has covered the most lines.
func (s *searcher) furthest(f *frontier, x box) (best point, most int) {
	most = -1
	for k := f.hi; k >= f.lo; k -= 2 {
		i := f.on(k) // a path may overshoot the box by one
		if f == &s.head {
			i = min(i, x.a1, x.b1+k)
		} else {
			i = max(i, x.a0, x.b0+k)
		}
		if lines := s.covered(f, x, point{i, i - k}); lines > most {
			best, most = point{i, i - k}, lines
		}
	}
	return best, most
}

func (s *searcher) covered(f *frontier, x box, at point) int {
	if f == &s.tail {
		return x.a1 - at.a + x.b1 - at.b
	}
	return at.a - x.a0 + at.b - x.b0
}
