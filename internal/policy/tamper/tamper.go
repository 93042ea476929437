// Package tamper finds changes that weaken the tests of a project or the tools that
// watch over it.
//
// It reads patches, and the files around them, line by line, and knows languages only
// through regular expressions: a finding is a sign that somebody should look at, and
// there may be tampering that it does not find. Moving, renaming or adding a test is not
// tampering.
package tamper

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/loop"
	"codeloops/internal/policy/deciding"
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

// A detector holds what to look for.
type detector struct {
	*tables
	agents *regexp.Regexp // the files that agents read before they work
}

// theDetector is made on first use, which takes some milliseconds.
var theDetector = sync.OnceValue(func() *detector { //nolint:gochecknoglobals // read once
	t, err := readTables()
	if err != nil {
		panic("tables.toml: " + err.Error()) // embedded, and read by a test
	}
	return &detector{t, deciding.AgentFiles()}
})

// A Tree is the work tree of a change.
type Tree struct {
	// Read returns the content of a regular file, as the actor left it, by its slash-separated
	// path; nil: only the patches are read.
	Read     func(path string) ([]byte, error)
	Deciding []string // the files that the run's own checks run, relative to the root
}

// Inspect returns the signs in a change, the most serious first: by kind, existing files
// before new ones, then by path and line. The change should be the one since the session
// began, so that what one iteration did and a later one undid is no sign. Patches may
// hold arbitrary bytes.
func Inspect(c loop.Change, in Tree) []Sign {
	r := &report{detector: theDetector(), in: in, had: map[string]bool{}, skipped: map[string]int{}, silenced: map[string]int{}, asserted: map[string]int{}}
	for _, f := range filesOf(c) {
		r.files = append(r.files, r.read(f, in))
	}
	r.count()
	r.tests = trace(r)
	for _, u := range c.Unshown {
		if u.Why == loop.TurnedBinary {
			r.signs = append(r.signs, Sign{Kind: TurnedBinary, Path: u.Path, Text: "the text turned binary, so that no diff shows it"})
		}
	}
	lostTests(r)
	detached(r)
	rewritten(r)
	for _, f := range r.files {
		for _, look := range []func(*report, *file){
			cut, skips, assertions, expectations, suppressions, configurations, swapped, joined, lineEnds, scripts, instructions,
		} {
			look(r, f)
		}
	}
	return ordered(r.signs)
}

// cut reports test and configuration files that are too large to be read whole.
func cut(r *report, f *file) {
	if len(f.Patch) > maxPatch && (f.test || r.positional(f.Path)) {
		r.addf(Loosened, f, 0, "the change is too large to be read whole")
	}
}

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

// A report is an inspection in progress.
type report struct {
	*detector
	in     Tree
	files  []*file
	tests  *whereabouts
	signs  []Sign
	looked int // how often the work tree was searched for a module

	// Lines anywhere in the change that may have moved, by their text:
	had               map[string]bool // removed from tests
	skipped, silenced map[string]int  // removed, with such a marker; how often is left
	asserted          map[string]int  // added assertions; how often is left
}

// count counts the lines that may have moved.
func (r *report) count() {
	for _, f := range r.files {
		for l := range f.each("-") {
			text := normal(l.text)
			if f.test {
				r.had[text] = true
			}
			if l.skips != "" {
				r.skipped[text]++
			}
			if l.silences != "" {
				r.silenced[text]++
			}
		}
		for l := range f.each("+") {
			if l.asserts {
				r.asserted[normal(l.code)]++
			}
		}
	}
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

// A Kind is a sort of tampering.
type Kind string

// The kinds of signs.
const (
	TestFileRemoved Kind = "test_file_removed"
	TestRemoved     Kind = "test_removed"
	TurnedBinary    Kind = "turned_binary" // text that diffs no longer show
	TestSkipped     Kind = "test_skipped"
	Loosened        Kind = "assertions_loosened"
	CheckChanged    Kind = "check_changed"  // a file that one of the run's own checks runs
	RunnerChanged   Kind = "runner_changed" // what runs or selects the tests
	FailureHidden   Kind = "failure_hidden" // a swallowed exit code
	CIChanged       Kind = "ci_changed"
	ConfigChanged   Kind = "config_changed" // of linters and type checkers
	Suppressed      Kind = "suppression_added"
	GoldenChanged   Kind = "golden_changed" // files that tests compare with
	AgentsChanged   Kind = "agents_changed" // instructions and settings of agents

	ExpectationChanged Kind = "expectation_changed"
)

// Kinds returns all kinds, the most serious first: what removes tests, then what keeps
// them from being run or hides failures, then what they compare with, and last what is
// not part of a test.
func Kinds() []Kind {
	return []Kind{
		TestFileRemoved, TestRemoved, TurnedBinary, Loosened, TestSkipped, CheckChanged, RunnerChanged, FailureHidden, CIChanged,
		ExpectationChanged, GoldenChanged, ConfigChanged, AgentsChanged, Suppressed,
	}
}

// Title describes the kind in a sentence without a name.
func (k Kind) Title() string {
	return map[Kind]string{
		TestFileRemoved: "files with tests are gone",
		TestRemoved:     "tests are gone",
		TurnedBinary:    "text has turned binary",
		TestSkipped:     "tests are no longer run",
		Loosened:        "tests assert less than they did",
		CheckChanged:    "a check's own script was changed",
		RunnerChanged:   "what runs the tests, or selects them, was changed",
		FailureHidden:   "failures are hidden",
		CIChanged:       "the CI, or a target that checks something, was changed",
		ConfigChanged:   "the configuration of linters was changed",
		Suppressed:      "complaints of tools are silenced",
		GoldenChanged:   "what tests compare their results with was changed",
		AgentsChanged:   "instructions for agents were changed",

		ExpectationChanged: "test expectations were changed",
	}[k]
}
