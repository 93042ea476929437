package lines

// A frontier is how far the paths from one corner of a box have come: for each
// diagonal a-b, the furthest position in a. It only holds diagonals that were
// reached, so its size is the number of rounds, not that of the input.
type frontier struct {
	reach  []int32 // of diagonal k at k-mid+radius
	radius int
	mid    int // the diagonal of the corner
	lo, hi int // the diagonals reached last, every second one between them
}

// on returns the position on a diagonal.
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
