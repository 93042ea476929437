package lines

import "cmp"

// The indent heuristic, published by Michael Haggerty with git 2.11 and at
// github.com/mhagger/diff-slider-tools, places a run that can slide: it rates
// the split before the run with the split after it by the blank lines and the
// indentation around them. The weights were fitted to many hand-rated diffs.

const (
	maxSlide  = 100 // positions tried
	maxIndent = 200 // columns counted
	maxBlanks = 20  // blank lines looked across
	tabWidth  = 8
	blank     = -1 // the indent of a line of white space, or of no line
)

// Penalties of a split. The line below it can be deeper than the one above, or
// shallower, or shallower only to open the next block (`} else {`); blank lines
// between them change what that says. The more indented of two placements pays
// indentWeight.
const (
	startOfFile      = 1
	endOfFile        = 21
	eachBlank        = -30
	eachBlankAfter   = 6
	deeper           = -4
	deeperBlank      = 10
	shallower        = 23
	shallowerBlank   = 17
	beforeBlock      = 24
	beforeBlockBlank = 17
	indentWeight     = 60
)

// A score rates a placement; the lower, the better.
type score struct{ indent, penalty int }

// noWorse reports whether s is at least as good as t.
func (s score) noWorse(t score) bool {
	return s.penalty-t.penalty+indentWeight*cmp.Compare(s.indent, t.indent) <= 0
}

// bestEnd returns where a run of the given size should end, between top and
// bottom. Of equal places the lowest wins.
func bestEnd(s *side, top, bottom, size int) int {
	// A run that can move by more than its size repeats itself.
	first := max(top, bottom-size-1, bottom-maxSlide)
	best, bestScore := first, rate(s, first, size)
	for end := first + 1; end <= bottom; end++ {
		if sc := rate(s, end, size); sc.noWorse(bestScore) {
			best, bestScore = end, sc
		}
	}
	return best
}

func rate(s *side, end, size int) score {
	above, below := measure(s, end-size), measure(s, end)
	return score{
		indent:  above.indentBelow() + below.indentBelow(),
		penalty: above.penalty() + below.penalty(),
	}
}

// A gap describes the lines around a split: the one just below it, with its
// indent and whether it is there at all, and the next lines that are not blank.
type gap struct {
	end          bool // no line below
	indent       int
	blanksBefore int
	indentBefore int
	blanksAfter  int
	indentAfter  int
}

func measure(s *side, at int) gap {
	g := gap{end: at >= s.count(), indent: blank}
	if !g.end {
		g.indent = indent(s.line(at))
	}
	g.indentBefore, g.blanksBefore = nearest(s, at-1, -1)
	g.indentAfter, g.blanksAfter = nearest(s, at+1, 1)
	return g
}

// nearest returns the indent of the first line with text from a line on, and the
// number of blank lines before it. A long stretch of blank lines counts as a
// line that is not indented.
func nearest(s *side, from, step int) (found, blanks int) {
	for i := from; i >= 0 && i < s.count(); i += step {
		if found = indent(s.line(i)); found != blank {
			return found, blanks
		}
		if blanks++; blanks == maxBlanks {
			return 0, blanks
		}
	}
	return blank, blanks
}

// indentBelow is the indent of the first line with text below the split.
func (g gap) indentBelow() int {
	if g.indent != blank {
		return g.indent
	}
	return g.indentAfter
}

func (g gap) penalty() int {
	p := 0
	if g.indentBefore == blank && g.blanksBefore == 0 {
		p += startOfFile
	}
	if g.end {
		p += endOfFile
	}
	blanksBelow := 0
	if g.indent == blank {
		blanksBelow = 1 + g.blanksAfter
	}
	blanks := g.blanksBefore + blanksBelow
	return p + eachBlank*blanks + eachBlankAfter*blanksBelow + g.indentPenalty(blanks > 0)
}

// indentPenalty rates the step in indentation from above the split to below it.
func (g gap) indentPenalty(blanks bool) int {
	below := g.indentBelow()
	switch {
	case below == blank || g.indentBefore == blank || below == g.indentBefore:
		return 0
	case below > g.indentBefore && blanks:
		return deeperBlank
	case below > g.indentBefore:
		return deeper
	case g.indentAfter > below && blanks:
		return beforeBlockBlank
	case g.indentAfter > below:
		return beforeBlock
	case blanks:
		return shallowerBlank
	}
	return shallower
}

// indent returns the width of a line's leading white space in columns, or blank
// if it has nothing else.
func indent(line []byte) int {
	width := 0
	for _, c := range line {
		switch c {
		case ' ':
			width++
		case '\t':
			width += tabWidth - width%tabWidth
		case '\r', '\n':
		default:
			return width
		}
		if width >= maxIndent {
			return maxIndent
		}
	}
	return blank
}
