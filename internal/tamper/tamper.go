// Package tamper finds, in a change, what weakens the tests of a project or the
// tools that watch over it.
//
// It looks at patches alone, line by line, and knows languages only as far as
// regular expressions do: what it finds is a sign for somebody to look at, and
// what it does not find may still be there. A test that moves to another file
// or gets another name is not tampered with, and neither is one that is added.
package tamper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
)

// A Sign is one place in a change that somebody should look at.
type Sign struct {
	Kind Kind
	Path string
	// Lines are those of which the same is to be said, of the new file, or of the
	// old one where nothing is left; none when the sign is about the whole file.
	Lines []int
	// Text says what was done, without the place. Names that come from the
	// repository are quoted in it, escaped and clipped.
	Text string

	fresh bool // the file is new
}

// Place returns where the sign is, its path quoted where it is odd.
func (s Sign) Place() string {
	const most = 8
	place, before := Quote(s.Path, maxPath), ":"
	for _, line := range s.Lines[:min(most, len(s.Lines))] {
		place += before + strconv.Itoa(line)
		before = ","
	}
	if more := len(s.Lines) - most; more > 0 {
		place += fmt.Sprintf(" (and %s)", count(more, "more line"))
	}
	return place
}

// String returns the sign as a sentence that begins with its place.
func (s Sign) String() string { return s.Place() + ": " + s.Text }

// A Detector knows what to look for. [New] makes it; it may then be shared.
type Detector struct {
	known  tongues
	places places
}

// New returns a detector. That takes some milliseconds.
func New() *Detector { return &Detector{known: languages(), places: newPlaces()} }

// Inspect returns the signs in a change, those that weigh most first: by kind,
// files that were there before the new ones, then by path and line. The change
// should be the one since the session began: what an iteration did and a later
// one took back is no sign. It takes patches of any bytes.
func (d *Detector) Inspect(c loop.Change) []Sign {
	r := &report{places: d.places}
	for _, f := range filesOf(c) {
		r.files = append(r.files, read(f, d.known))
	}
	r.turned(c.Unshown)
	r.tests()
	r.assertions()
	r.suppressions()
	r.settings()
	r.instructions()
	return ordered(r.signs)
}

// ordered sorts signs by weight and makes one of those that say the same of
// several lines of a file.
func ordered(signs []Sign) []Sign {
	rank := map[Kind]int{}
	for i, k := range Kinds() {
		rank[k] = i
	}
	slices.SortStableFunc(signs, func(a, b Sign) int {
		if a.fresh != b.fresh && a.Kind == b.Kind {
			if b.fresh {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(rank[a.Kind], rank[b.Kind]), cmp.Compare(a.Path, b.Path), slices.Compare(a.Lines, b.Lines))
	})
	type saying struct {
		kind       Kind
		path, text string
	}
	first := map[saying]int{}
	all := signs[:0]
	for _, s := range signs {
		at, said := first[saying{s.Kind, s.Path, s.Text}]
		switch {
		case !said:
			first[saying{s.Kind, s.Path, s.Text}] = len(all)
			all = append(all, s)
		case !slices.Equal(all[at].Lines[max(0, len(all[at].Lines)-1):], s.Lines):
			all[at].Lines = append(all[at].Lines, s.Lines...)
		}
	}
	return all
}

// A report is an inspection under way.
type report struct {
	places places
	files  []*file
	signs  []Sign
	gone   map[*test]bool // removed, and nowhere else to be found
	moved  []move
	// arrived are the tests that were somewhere else before, receives the files
	// that they are in now.
	arrived  map[*test]bool
	receives map[*file]bool
}

func (r *report) addf(k Kind, f *file, line int, format string, args ...any) {
	s := Sign{Kind: k, Path: f.Path, Text: fmt.Sprintf(format, args...), fresh: f.Status == loop.FileAdded}
	if line > 0 {
		s.Lines = []int{line}
	}
	r.signs = append(r.signs, s)
}

const (
	maxPath = 160
	maxName = 80
)

// Quote returns a name from the repository as our own sentences may hold it:
// plain words stay, everything else is quoted; what is longer than most characters
// is cut in its middle, as both ends of a path tell it from others.
func Quote(s string, most int) string {
	if n := utf8.RuneCountInString(s); n > most {
		all := []rune(s)
		s = string(all[:most/2]) + "…" + string(all[n-most/2:])
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

func odd(r rune) bool {
	return r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N) && !strings.ContainsRune("_-./@+…", r)
}
