package wording

// Nearest returns the name that a mistyped word most likely stands for, the first one of those
// equally close. ok is false if all names differ by more than one typo in three characters.
func Nearest(word string, names []string) (best string, ok bool) {
	least := max(1, len(word)/3) + 1
	for _, name := range names {
		if d := Distance(word, name); d < least {
			least, best, ok = d, name, true
		}
	}
	return best, ok
}

// Distance returns the optimal string alignment distance of two words, in bytes: the number of
// insertions, deletions, substitutions and swaps of neighbours.
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
