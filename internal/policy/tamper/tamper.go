// Package tamper says what a change has touched of a project's tests, and of the files that decide
// whether they are run and pass.
//
// It compares lines by tables that anybody can extend, and understands no language: a sign is what
// somebody should look at, and there may be tampering without one. Adding a test, or moving it to
// where it is run as well, is no sign.
package tamper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// A Sign is one place in a change that somebody should look at.
type Sign struct {
	Kind Kind
	Path string
	// Lines are the lines that the sign applies to, in the new file, or in the old
	// one if nothing is left of them; none when the sign is about the whole file.
	Lines []int
	// Text says what was done, without the place. Names from the repository are
	// escaped and shortened in it.
	Text string

	// Asked: the task names the file or the test, so that the user wants it changed.
	Asked bool

	fresh bool // the file is new
}

// Place returns the path, quoted if it has unusual characters, and the lines.
func (s Sign) Place() string {
	const most = 8
	var lines []string
	for _, line := range s.Lines[:min(most, len(s.Lines))] {
		lines = append(lines, strconv.Itoa(line))
	}
	place := Quote(s.Path, maxPath)
	if len(lines) > 0 {
		place += ":" + strings.Join(lines, ",")
	}
	if more := len(s.Lines) - most; more > 0 {
		place += fmt.Sprintf(" (and %s)", wording.Count(more, "more line"))
	}
	return place
}

// String returns the sign as a sentence that begins with its place.
func (s Sign) String() string { return s.Place() + ": " + s.Text }

// ordered sorts signs by weight and joins those that say the same of several lines of a
// file.
func ordered(signs []Sign) []Sign {
	kinds := Kinds()
	rank := func(s Sign) int {
		n := 2 * slices.Index(kinds, s.Kind)
		if s.fresh {
			n++
		}
		return n
	}
	slices.SortStableFunc(signs, func(a, b Sign) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Path, b.Path), slices.Compare(a.Lines, b.Lines))
	})
	first := map[[3]string]int{} // by what is said of which file
	all := signs[:0]
	for _, s := range signs {
		saying := [3]string{string(s.Kind), s.Path, s.Text}
		at, said := first[saying]
		switch {
		case !said:
			first[saying] = len(all)
			all = append(all, s)
		case !slices.Equal(all[at].Lines[max(0, len(all[at].Lines)-1):], s.Lines):
			all[at].Lines = append(all[at].Lines, s.Lines...)
		}
	}
	return all
}

const (
	maxPath  = 160
	maxName  = 80
	maxValue = 60
)

// Quote returns a name from the repository that is safe in our own sentences: plain words
// stay, everything else is quoted. A name of more than most characters loses its middle,
// since both ends of a path identify it.
func Quote(s string, most int) string {
	s = clipped(s, most)
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

func clipped(s string, most int) string {
	all := []rune(s)
	if len(all) <= most {
		return s
	}
	return string(all[:most/2]) + "…" + string(all[len(all)-most/2:])
}

func odd(r rune) bool {
	return r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N) && !strings.ContainsRune("_-./@+…", r)
}

// A Kind is a sort of sign.
type Kind string

// The kinds of signs.
const (
	TestGone           Kind = "test_gone"
	FewerAssertions    Kind = "fewer_assertions"
	SkipAdded          Kind = "skip_added"
	GateChanged        Kind = "gate_changed"
	ExpectationChanged Kind = "expectation_changed"
)

// Kinds returns all kinds, the most serious first.
func Kinds() []Kind {
	return []Kind{TestGone, FewerAssertions, SkipAdded, GateChanged, ExpectationChanged}
}

// Title describes the kind in a sentence without a name.
func (k Kind) Title() string {
	return [...]string{
		"tests are gone, or are where they are not run",
		"tests have fewer assertions",
		"what skips tests was added",
		"files that decide whether tests and checks run and pass were changed",
		"what existing tests expect was changed",
	}[slices.Index(Kinds(), k)]
}
