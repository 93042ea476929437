package patch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff/patch"
)

// TestHardPairs: the diff matches git's on input for which git's differ takes shortcuts:
// many moved lines, lines with too many partners, and long equal runs far apart.
func TestHardPairs(t *testing.T) {
	t.Parallel()
	before, after := commit{}, commit{}
	for name, pair := range hardPairs(rand.New(rand.NewPCG(3, 4))) {
		before[name] = file{patch.Regular, strings.Join(pair[0], "\n")}
		after[name] = file{patch.Regular, strings.Join(pair[1], "\n")}
	}
	c := checkHistory(t, newRepo(t, []commit{before, after}), 2)
	if c.files < len(before) {
		t.Errorf("compared %d files, want %d or more", c.files, len(before))
	}
}

func hardPairs(r *rand.Rand) map[string][2][]string {
	pairs := map[string][2][]string{}
	for _, n := range []int{10, 100, 1000, 6000} {
		for _, vocabulary := range []int{2, n/50 + 3, n/4 + 3, 2 * n} {
			key := fmt.Sprintf("%d lines of %d", n, vocabulary)
			lines := draw(r, n, vocabulary)
			pairs[key+", shuffled"] = [2][]string{lines, shuffled(r, lines)}
			pairs[key+", unrelated"] = [2][]string{lines, draw(r, n, vocabulary)}
			pairs[key+", blocks shuffled"] = [2][]string{lines, blocksShuffled(r, lines, 30)}
			pairs[key+", sprinkled"] = [2][]string{lines, sprinkled(r, lines, vocabulary, 3)}
			pairs[key+", thinned"] = [2][]string{lines, sprinkled(r, lines, 1<<30, 2)}
			pairs[key+", long runs"] = [2][]string{lines, sprinkled(r, blocksShuffled(r, lines, 200), vocabulary, 40)}
			pairs[key+", reversed"] = [2][]string{lines, reversed(lines)}
		}
	}
	// The shortcut for long equal runs starts above 65,536 lines.
	for _, every := range []int{4, 40} {
		lines := draw(r, 36_000, 9_000)
		edited := sprinkled(r, lines, 9_000, every)
		pairs[fmt.Sprintf("36000 lines, sprinkled every %d", every)] = [2][]string{lines, edited}
		mixed := slices.Concat(edited[:5000], lines[5000:5400], edited[5400:20_000], lines[20_000:20_900], edited[20_900:])
		pairs[fmt.Sprintf("36000 lines, two kept, every %d", every)] = [2][]string{lines, mixed}
	}
	for _, n := range []int{18, 19, 20, 21, 22, 99, 100, 101, 250} {
		blanks, deep := slices.Repeat([]string{""}, n), strings.Repeat(" ", n)
		pairs[fmt.Sprintf("%d blank lines", n)] = [2][]string{
			slices.Concat([]string{"a"}, blanks, []string{"b"}),
			slices.Concat([]string{"a"}, blanks, []string{"  c"}, blanks, []string{"b"}),
		}
		pairs[fmt.Sprintf("%d columns", n)] = [2][]string{
			{"a", deep + "x", deep + "\ty", "", "b"},
			{"a", deep + "x", deep + "\ty", "", deep + "x", deep + "\ty", "", "b"},
		}
	}
	return pairs
}

func draw(r *rand.Rand, n, vocabulary int) []string {
	lines := make([]string, n)
	for i := range lines {
		w := r.IntN(vocabulary)
		lines[i] = strings.Repeat(" ", w%5) + strconv.Itoa(w)
		if w%7 == 0 {
			lines[i] = strings.Repeat("\t", w%3)
		}
	}
	return lines
}

func shuffled(r *rand.Rand, lines []string) []string {
	s := slices.Clone(lines)
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

func blocksShuffled(r *rand.Rand, lines []string, size int) []string {
	blocks := slices.Collect(slices.Chunk(lines, size))
	r.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	return slices.Concat(blocks...)
}

func reversed(lines []string) []string {
	s := slices.Clone(lines)
	slices.Reverse(s)
	return s
}

// sprinkled replaces, deletes or doubles one line in every `every` lines.
func sprinkled(r *rand.Rand, lines []string, vocabulary, every int) []string {
	var s []string
	for _, line := range lines {
		switch r.IntN(3 * every) {
		case 0:
			s = append(s, draw(r, 1, vocabulary)...)
		case 1:
		case 2:
			s = append(s, line, line)
		default:
			s = append(s, line)
		}
	}
	return s
}
