package lines

// compact moves each run of changed lines in s to where it reads best. A run can
// move by a line when the line it leaves behind equals the one it takes in; runs
// that meet become one. The other side's runs tell where two runs can be shown
// as one replacement.
func compact(s, other *side) {
	own, peer := firstRun(s), firstRun(other)
	for {
		if !own.empty() {
			settle(&own, &peer)
		}
		if !own.next() {
			return
		}
		peer.next()
	}
}

// settle places one run. Peer is kept beside it all the time: on the run of the
// other side that comes after as many unchanged lines. So where own can go up,
// peer has a run before it, and where own can go down, one after it.
func settle(own, peer *run) {
	top, aligned := stretch(own, peer)
	bottom := own.end
	switch {
	case top == bottom:
	case aligned:
		for peer.empty() {
			own.up()
			peer.previous()
		}
	default:
		best := bestEnd(own.side, top, bottom, own.size())
		for own.end > best {
			own.up()
			peer.previous()
		}
	}
}

// stretch moves a run up as far as it goes, then down as far as it goes, until
// it takes in no other run any more. It leaves the run at the bottom and returns
// the topmost end, and whether the run lined up with a run of the other side on
// the way down.
func stretch(own, peer *run) (top int, aligned bool) {
	for {
		size := own.size()
		for own.up() {
			peer.previous()
		}
		top, aligned = own.end, !peer.empty()
		for own.down() {
			peer.next()
			aligned = aligned || !peer.empty()
		}
		if own.size() == size {
			return top, aligned
		}
	}
}

// A run is a group of adjacent changed lines, possibly empty: between any two
// unchanged lines there is one, as before the first and after the last.
type run struct {
	*side
	span
}

func firstRun(s *side) run {
	r := run{side: s}
	r.extendDown()
	return r
}

func (r *run) empty() bool { return r.size() == 0 }

func (r *run) extendDown() {
	for r.changed[r.end] {
		r.end++
	}
}

func (r *run) extendUp() {
	for r.start > 0 && r.changed[r.start-1] {
		r.start--
	}
}

// next goes to the run after the next unchanged line, if there is such a line.
func (r *run) next() bool {
	if r.end == r.count() {
		return false
	}
	r.start, r.end = r.end+1, r.end+1
	r.extendDown()
	return true
}

// previous goes to the run before the unchanged line that precedes this one.
// There must be such a line.
func (r *run) previous() {
	r.start, r.end = r.start-1, r.start-1
	r.extendUp()
}

// up moves the run up by a line if it can, and takes in the run it meets.
func (r *run) up() bool {
	if r.start == 0 || !r.same(r.start-1, r.end-1) {
		return false
	}
	r.start--
	r.end--
	r.changed[r.start], r.changed[r.end] = true, false
	r.extendUp()
	return true
}

// down is up towards the end of the content.
func (r *run) down() bool {
	if r.end == r.count() || !r.same(r.start, r.end) {
		return false
	}
	r.changed[r.start], r.changed[r.end] = false, true
	r.start++
	r.end++
	r.extendDown()
	return true
}
