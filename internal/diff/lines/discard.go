package lines

// kept are the lines of a window that take part in the search.
type kept struct {
	side  *side
	line  []int32 // index of each line in the side
	class []int32
}

func (k *kept) mark(lo, hi int) {
	for _, i := range k.line[lo:hi] {
		k.side.changed[i] = true
	}
}

// A prospect says how likely a line's match on the other side means something.
type prospect uint8

const (
	hopeless  prospect = iota // no equal line on the other side
	plausible                 // some
	common                    // so many that a match may be an accident
)

const (
	// maxCommon bounds from above how many partners make a line common.
	maxCommon = 1024
	// vicinity is how far, in lines, the neighbours of a common line count.
	vicinity = 100
	// commonShare drops a common line when fewer than one in so many of the
	// lines around it are common, and the others hopeless.
	commonShare = 4
)

// keep marks the hopeless lines in the window of a side as changed, with the
// common lines among them, and returns the others.
func keep(c *classes, side int) *kept {
	w, numbers := c.windows[side], c.of[side]
	limit := int32(min(roughSqrt(w.count()), maxCommon))
	prospects := make([]prospect, len(numbers))
	for i, n := range numbers {
		switch partners := c.counts[n][1-side]; {
		case partners >= limit:
			prospects[i] = common
		case partners > 0:
			prospects[i] = plausible
		}
	}
	k := &kept{side: w.side, line: make([]int32, 0, len(numbers)), class: make([]int32, 0, len(numbers))}
	for i, p := range prospects {
		if p == hopeless || p == common && lost(prospects, i) {
			w.changed[w.lo+i] = true
			continue
		}
		k.line = append(k.line, int32(w.lo+i))
		k.class = append(k.class, numbers[i])
	}
	return k
}

// lost reports whether the common line i has hopeless lines on both sides
// before the next plausible ones, and enough of them.
func lost(prospects []prospect, i int) bool {
	after := min(i+vicinity+1, len(prospects))
	hopelessBefore, commonBefore := tally(prospects, i-1, max(i-vicinity, 0)-1, -1)
	if hopelessBefore == 0 {
		return false
	}
	hopelessAfter, commonAfter := tally(prospects, i+1, after, 1)
	if hopelessAfter == 0 {
		return false
	}
	hopelessAround := hopelessBefore + hopelessAfter
	commonAround := commonBefore + commonAfter
	return commonAround*commonShare < commonAround+hopelessAround
}

// tally counts from one position towards another, stopping at a plausible line.
// The line the count starts beside is common itself.
func tally(prospects []prospect, from, to, step int) (hopelessLines, commonLines int) {
	commonLines = 1
	for i := from; i != to; i += step {
		switch prospects[i] {
		case hopeless:
			hopelessLines++
		case common:
			commonLines++
		case plausible:
			return hopelessLines, commonLines
		}
	}
	return hopelessLines, commonLines
}

// roughSqrt returns a power of two above the square root of n, at most four times
// as large: two to half the number of n's bits, rounded up.
func roughSqrt(n int) int {
	root := 1
	for ; n > 0; n >>= 2 {
		root <<= 1
	}
	return root
}
