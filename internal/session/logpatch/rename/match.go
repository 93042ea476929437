package rename

import (
	"path"
	"slices"

	"codeloops/internal/diff/patch"
)

// Scores are fractions of whole, as in git.
const (
	whole    = 60_000
	half     = whole / 2
	nameHalf = half + (whole-half)/2 // enough for two files of the same name
)

// Git's limits: how many pairs are compared, and how many of the most similar are
// considered for each added file.
const (
	maxPairs = 1000 * 1000
	kept     = 4
)

// A pair is a deleted and an added file that may be a rename.
type pair struct {
	from, to *candidate
	score    int
	sameName bool
}

// A match pairs deleted with added files, each with at most one.
type match struct {
	from, to []*candidate // by path
	pairs    []pair
	chunks   map[*candidate]map[uint32]int
}

func (m *match) take(p pair) {
	p.from.taken, p.to.taken = true, true
	m.pairs = append(m.pairs, p)
}

// left returns those that have no partner yet.
func left(all []*candidate) []*candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c.taken })
}

// identical pairs files of equal content: with the first one of the same name or, without one,
// with the first.
func (m *match) identical() {
	byID := make(map[[20]byte][]*candidate)
	for _, from := range m.from {
		byID[from.side.ID] = append(byID[from.side.ID], from)
	}
	for _, to := range m.to {
		var best *candidate
		for _, from := range byID[to.side.ID] {
			if from.taken || !sameKind(from, to) {
				continue
			}
			if sameName(from, to) {
				best = from
				break
			}
			if best == nil {
				best = from
			}
		}
		if best != nil {
			m.take(pair{from: best, to: to, score: whole})
		}
	}
}

// sameKind reports whether both are regular files, executable or not, or both are symlinks, or
// both are nested repositories.
func sameKind(a, b *candidate) bool {
	return a.side.Mode == b.side.Mode || a.regular() && b.regular()
}

func (c *candidate) regular() bool {
	return c.side.Mode == patch.Regular || c.side.Mode == patch.Executable
}

func sameName(a, b *candidate) bool { return path.Base(a.Path) == path.Base(b.Path) }

// sameName pairs files whose name is unique on both sides.
func (m *match) sameName() {
	from, to := byName(left(m.from)), byName(left(m.to))
	for _, c := range left(m.from) {
		name := path.Base(c.Path)
		if len(from[name]) != 1 || len(to[name]) != 1 {
			continue
		}
		p := pair{from: c, to: to[name][0]}
		if p.score = m.score(p.from, p.to, nameHalf); p.score >= nameHalf {
			m.take(p)
		}
	}
}

func byName(all []*candidate) map[string][]*candidate {
	names := make(map[string][]*candidate)
	for _, c := range all {
		names[path.Base(c.Path)] = append(names[path.Base(c.Path)], c)
	}
	return names
}

// alike pairs the most similar files first. Among equally similar ones, files of the same name
// go first, then the order counts.
func (m *match) alike() {
	from, to := left(m.from), left(m.to)
	if len(from)*len(to) > maxPairs {
		return
	}
	var all []pair
	for _, added := range to {
		var best []pair
		for _, deleted := range from {
			best = keepBest(best, pair{
				from: deleted, to: added,
				score: m.score(deleted, added, half), sameName: sameName(deleted, added),
			})
		}
		all = append(all, best...)
	}
	slices.SortStableFunc(all, compare)
	for _, p := range all {
		if p.score >= half && !p.from.taken && !p.to.taken {
			m.take(p)
		}
	}
}

// keepBest replaces the worst pair with p if that is better.
func keepBest(best []pair, p pair) []pair {
	if len(best) < kept {
		return append(best, p)
	}
	worst := 0
	for i := range best {
		if compare(best[i], best[worst]) > 0 {
			worst = i
		}
	}
	if compare(best[worst], p) > 0 {
		best[worst] = p
	}
	return best
}

// compare is negative when a goes first.
func compare(a, b pair) int {
	switch {
	case a.score != b.score:
		return b.score - a.score
	case a.sameName == b.sameName:
		return 0
	case a.sameName:
		return -1
	}
	return 1
}

// score returns how similar two files are; 0 may stand for anything below enough.
func (m *match) score(from, to *candidate, enough int) int {
	if !from.regular() || !to.regular() || from.side.TooLarge || to.side.TooLarge {
		return 0
	}
	a, b := len(from.side.Content), len(to.side.Content)
	larger, smaller := max(a, b), min(a, b)
	if larger*(whole-enough) < (larger-smaller)*whole || b == 0 {
		return 0
	}
	return common(m.of(from), m.of(to)) * whole / larger
}

func (m *match) of(c *candidate) map[uint32]int {
	counts, ok := m.chunks[c]
	if !ok {
		counts = chunks(c.side.Content)
		m.chunks[c] = counts
	}
	return counts
}
