// Package tamper finds, in a change, what weakens the tests of a project or the
// tools that watch over it.
//
// It reads patches, and the files around them, line by line, and knows languages
// only as far as regular expressions do: what it finds is a sign for somebody to
// look at, and what it does not find may still be there. A test that moves to
// another file or gets another name is not tampered with, and neither is one that
// is added.
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
	var lines []string
	for _, line := range s.Lines[:min(most, len(s.Lines))] {
		lines = append(lines, strconv.Itoa(line))
	}
	place := Quote(s.Path, maxPath)
	if len(lines) > 0 {
		place += ":" + strings.Join(lines, ",")
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
	tongues
	places
	values values
}

// New returns a detector. That takes some milliseconds.
func New() *Detector { return &Detector{languages(), newPlaces(), newValues()} }

// A Tree is what a change was made in, as far as its patches do not tell it.
type Tree struct {
	Files    Files    // nil: nothing but the patches is read
	Deciding []string // the files that the run's own checks run, from the root
}

// Inspect returns the signs in a change, those that weigh most first: by kind,
// files that were there before the new ones, then by path and line. The change
// should be the one since the session began: what an iteration did and a later
// one took back is no sign. It takes patches of any bytes.
func (d *Detector) Inspect(c loop.Change, in Tree) []Sign {
	r := &report{Detector: d, in: in}
	for _, f := range filesOf(c) {
		r.files = append(r.files, d.read(f, in.Files))
	}
	r.had = map[string]bool{}
	for _, f := range r.files {
		if f.test {
			f.each("-", func(l *line) { r.had[normal(l.text)] = true })
		}
	}
	r.unreadable(c.Unshown)
	r.cut()
	r.tests()
	r.assertions()
	r.expectations()
	r.suppressions()
	r.settings()
	r.scripts()
	r.instructions()
	return ordered(r.signs)
}

// cut reports files that are too large to be read to their end, where that matters.
func (r *report) cut() {
	for _, f := range r.files {
		if len(f.Patch) > maxPatch && (f.test || r.wanted(f.Path)) {
			r.addf(Loosened, f, 0, "the change is too large to be read whole")
		}
	}
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
	*Detector
	in    Tree
	files []*file
	signs []Sign
	gone  map[*test]bool         // removed, and nowhere else to be found
	fresh map[*file]map[int]bool // the lines with declarations of new tests
	had   map[string]bool        // lines that were taken out of tests, perhaps to another place
	moved []move
	// arrived are the tests that were somewhere else before, receives the files
	// that they are in now.
	arrived  map[*test]bool
	receives map[*file]bool

	byEnd, byBase map[string][]*file // see like
	tried, work   int                // what looking for moved files and tests has cost, and may cost
	looked        int                // how often the work tree was searched for a module
}

func (r *report) addf(k Kind, f *file, line int, format string, args ...any) {
	s := Sign{Kind: k, Path: f.Path, Text: fmt.Sprintf(format, args...), fresh: f.Status == loop.FileAdded}
	if line > 0 {
		s.Lines = []int{line}
	}
	r.signs = append(r.signs, s)
}

const (
	maxPath  = 160
	maxName  = 80
	maxValue = 60
)

// Quote returns a name from the repository as our own sentences may hold it:
// plain words stay, everything else is quoted; what is longer than most characters
// is cut in its middle, as both ends of a path tell it from others.
func Quote(s string, most int) string {
	s = clipped(s, most)
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	all := []rune(s)
	if len(all) <= most {
		return s
	}
	return string(all[:most/2]) + "…" + string(all[len(all)-most/2:])
}

func odd(r rune) bool {
	return r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N) && !strings.ContainsRune("_-./@+…", r)
}
