package loop

import (
	"iter"
	"strconv"
	"strings"
)

// A PatchLine is a line of a patch, from the first hunk on.
type PatchLine struct {
	Op   byte   // ' ', '-' or '+'; '@' begins a hunk, and '\\' says that the line before it has no end
	Text string // what follows, with the end of the line
	// Old and New are the number of the line before and after the change, or the next one if it is not
	// there. A line that begins a hunk has those of the hunk's first line.
	Old, New int
}

// PatchLines yields the lines of the patch of one file, in the unified format of diff(1).
func PatchLines(patch string) iter.Seq[PatchLine] {
	return func(yield func(PatchLine) bool) {
		_, hunks, found := strings.Cut("\n"+patch, "\n@@ ")
		if !found {
			return
		}
		before, after := 0, 0
		for text := range strings.Lines("@@ " + hunks) {
			l := PatchLine{Op: text[0], Text: text[1:]}
			if l.Op == '@' {
				ranges, _, _ := strings.Cut(strings.TrimPrefix(text, "@@ -"), " @@")
				was, is, _ := strings.Cut(ranges, " +")
				before, after = first(was), first(is)
			}
			l.Old, l.New = before, after
			if !yield(l) {
				return
			}
			if l.Op == ' ' || l.Op == '-' {
				before++
			}
			if l.Op == ' ' || l.Op == '+' {
				after++
			}
		}
	}
}

// first returns the first line of a range such as "12,3"; an empty one names the line above.
func first(lines string) int {
	at, count, _ := strings.Cut(lines, ",")
	n, err := strconv.Atoi(at)
	switch {
	case err != nil || n < 0 || n > 1<<30:
		return 0
	case count == "0":
		n++
	}
	return n
}
