package lines

import "math"

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
		start, covered := point{i - longSnake, j - longSnake}, i-x.a0+j-x.b0
		if f == &s.tail {
			start, covered = point{i, j}, x.a1-i+x.b1-j
		}
		g := covered - distance(k, f.mid)
		inside := x.a0 <= start.a && start.a+longSnake <= x.a1 && x.b0 <= start.b && start.b+longSnake <= x.b1 &&
			x.a0 < i && i < x.a1 && x.b0 < j && j < x.b1
		if g > gain && inside && s.snake(start.a, start.b) {
			best, ok, gain = point{i, j}, true, g
		}
	}
	return best, ok
}

// snake reports whether a long snake starts at i in a, j in b.
func (s *searcher) snake(i, j int) bool {
	for n := range longSnake {
		if s.a.class[i+n] != s.b.class[j+n] {
			return false
		}
	}
	return true
}

// furthestCut splits a box at the end of the path that has covered the most
// lines, from the head or from the tail. The half it leads through is exact.
func (s *searcher) furthestCut(x box) cut {
	head, covered := s.furthestHead(x)
	tail, left := s.furthestTail(x)
	if x.a1+x.b1-left < covered-(x.a0+x.b0) {
		return cut{at: head, exactUpper: true}
	}
	return cut{at: tail, exactLower: true}
}

func (s *searcher) furthestHead(x box) (best point, sum int) {
	f := &s.head
	sum = -1
	for k := f.hi; k >= f.lo; k -= 2 {
		i := min(f.on(k), x.a1, x.b1+k) // a path may overshoot the box by one
		if j := i - k; i+j > sum {
			best, sum = point{i, j}, i+j
		}
	}
	return best, sum
}

func (s *searcher) furthestTail(x box) (best point, sum int) {
	f := &s.tail
	sum = math.MaxInt
	for k := f.hi; k >= f.lo; k -= 2 {
		i := max(f.on(k), x.a0, x.b0+k)
		if j := i - k; i+j < sum {
			best, sum = point{i, j}, i+j
		}
	}
	return best, sum
}

func distance(j, k int) int {
	if j > k {
		return j - k
	}
	return k - j
}
