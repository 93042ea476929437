package patch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/diff/patch"
)

// TestLimits: the diff matches git's just below and above the limits of git's heuristics:
// how far it looks for a NUL, how many equal lines are too many to be matched one by one,
// and how far their neighbours count.
func TestLimits(t *testing.T) {
	t.Parallel()
	before, after := commit{}, commit{}
	add := func(name string, a, b []string) {
		before[name] = file{patch.Regular, strings.Join(a, "\n") + "\n"}
		after[name] = file{patch.Regular, strings.Join(b, "\n") + "\n"}
	}
	for at := 7998; at <= 8001; at++ {
		text := strings.Repeat("x", at)
		add(fmt.Sprintf("NUL at %d", at), []string{text, "a"}, []string{text + "\x00", "b"})
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		add(fmt.Sprintf("common lines among new ones, %d", seed), commonAmong(r, "old"), commonAmong(r, "new"))
	}
	for _, partners := range []int{1023, 1024} {
		a, b := partnersOf(partners)
		add(fmt.Sprintf("%d partners", partners), a, b)
	}
	c := checkHistory(t, newRepo(t, []commit{before, after}), 2)
	if c.files < 2*len(before) {
		t.Errorf("compared %d files, want %d", c.files, 2*len(before))
	}
}

// commonAmong returns lines of which about a quarter are common, so many that git keeps
// or discards each depending on its neighbours.
func commonAmong(r *rand.Rand, own string) []string {
	lines := make([]string, 2000)
	for i := range lines {
		lines[i] = fmt.Sprint(own, i)
		if r.IntN(4) == 0 {
			lines[i] = fmt.Sprint("common", r.IntN(3))
		}
	}
	return lines
}

// partnersOf returns two texts in which a line with the given number of partners is among
// new lines. The texts have over a million lines, so that 1024 equal lines are too many.
func partnersOf(partners int) (before, after []string) {
	among := func(own string) []string {
		var lines []string
		for i := range partners {
			for j := range 4 + i%3 {
				lines = append(lines, fmt.Sprint(own, i, j))
			}
			lines = append(lines, "partner")
		}
		return lines
	}
	same := slices.Repeat([]string{"-"}, 1<<20)
	return append(slices.Clone(same), among("old")...), append(same, among("new")...)
}
