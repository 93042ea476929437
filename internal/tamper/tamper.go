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

// A Kind is a sort of tampering.
type Kind string

// The kinds of signs.
const (
	TestFileRemoved Kind = "test_file_removed"
	TestRemoved     Kind = "test_removed"
	TestSkipped     Kind = "test_skipped"
	Loosened        Kind = "assertions_loosened"
	FailureHidden   Kind = "failure_hidden" // an exit code that is swallowed
	CIChanged       Kind = "ci_changed"
	ConfigChanged   Kind = "config_changed" // of linters, type checkers, test runners
	Suppressed      Kind = "suppression_added"
	GoldenChanged   Kind = "golden_changed" // what tests compare with
	AgentsChanged   Kind = "agents_changed" // their instructions and settings
)

// A Sign is one place in a change that somebody should look at.
type Sign struct {
	Kind Kind
	Path string
	// Line is that of the new file, or of the old one where nothing is left;
	// 0 when the sign is about the whole file.
	Line int
	// Text says what was done, without the place. Names that come from the
	// repository are quoted in it, escaped and clipped.
	Text string
}

// String returns the sign as a sentence that begins with its place.
func (s Sign) String() string {
	place := Quote(s.Path, maxPath)
	if s.Line > 0 {
		place += ":" + strconv.Itoa(s.Line)
	}
	return place + ": " + s.Text
}

// A Detector knows what to look for. [New] makes it; it may then be shared.
type Detector struct {
	known  tongues
	places places
}

// New returns a detector. That takes some milliseconds.
func New() *Detector { return &Detector{known: languages(), places: newPlaces()} }

// Inspect returns the signs in a change, by path and line. The change should be
// the one since the session began: what an iteration did and a later one took
// back is no sign. It takes patches of any bytes.
func (d *Detector) Inspect(c loop.Change) []Sign {
	r := &report{places: d.places}
	for _, f := range c.Files {
		r.files = append(r.files, read(f, d.known))
	}
	r.tests()
	r.assertions()
	r.suppressions()
	r.settings()
	r.instructions()
	slices.SortStableFunc(r.signs, func(a, b Sign) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(r.signs)
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
	r.signs = append(r.signs, Sign{Kind: k, Path: f.Path, Line: line, Text: fmt.Sprintf(format, args...)})
}

const (
	maxPath = 160
	maxName = 80
)

// Quote returns a name from the repository as our own sentences may hold it:
// plain words stay, everything else is quoted; what is longer than most characters
// is cut.
func Quote(s string, most int) string {
	if n := utf8.RuneCountInString(s); n > most {
		s = string([]rune(s)[:most]) + "…"
	}
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

func odd(r rune) bool {
	return r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.N) && !strings.ContainsRune("_-./@+…", r)
}
