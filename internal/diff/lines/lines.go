// Package lines compares two contents line by line into the hunks that git
// prints with its default settings, byte for byte.
//
// The defaults are the Myers algorithm with git's shortcuts, the indent
// heuristic, and three lines of context. What git does beyond the published
// algorithms is reproduced from its observable behaviour:
//
//   - lines that cannot match, or hardly so, leave the comparison beforehand
//     (discard.go);
//   - the search for the shortest script is given up beyond a cost that grows
//     with the square root of the input (myers.go), which bounds its time;
//   - each run of changes slides to where it reads best (slide.go, indent.go);
//   - hunks name the function they are in (hunk.go).
package lines

// Append appends the hunks that turn before into after to dst, and returns the
// extended slice with the numbers of inserted and deleted lines. It appends
// nothing when the contents are equal. Neither content is modified or kept;
// each must have fewer than 2^31 lines.
//
// Memory grows with the number of lines, time with the size of the contents
// and, at worst, with the number of lines to the power of 1.5.
func Append(dst, before, after []byte) (text []byte, insertions, deletions int) {
	a, b := split(before), split(after)
	mark(a, b)
	compact(a, b)
	compact(b, a)
	return appendHunks(dst, a, b)
}

// mark marks the changed lines of a and b: those outside of a common
// subsequence that git would find.
func mark(a, b *side) {
	prefix, suffix := commonEnds(a, b)
	left := window{a, prefix, a.count() - suffix}
	right := window{b, prefix, b.count() - suffix}
	if left.empty() || right.empty() {
		left.markAll()
		right.markAll()
		return
	}
	c := classify(left, right)
	s := &searcher{a: keep(c, 0), b: keep(c, 1)}
	linesA, linesB := len(s.a.class), len(s.b.class)
	s.maxRounds = max(roughSqrt(linesA+linesB+3), patience)
	s.solve(box{0, linesA, 0, linesB}, false)
}
