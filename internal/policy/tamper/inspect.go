package tamper

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A Tree is the work tree of a change.
type Tree struct {
	// Tables are the tables to go by; nil: the standard ones.
	Tables *Tables
	// Read returns the content of a regular file, as the actor left it, by its slash-separated
	// path; nil: only the patches are read.
	Read     func(path string) ([]byte, error)
	Deciding []string // the files that the run's own checks run, relative to the root
	Task     string
}

func (in Tree) tables() *Tables {
	if in.Tables == nil {
		return Standard()
	}
	return in.Tables
}

// Inspect returns the signs in a change, the most serious first: by kind, existing files
// before new ones, then by path and line. The change should be the one since the session
// began, so that what one iteration did and a later one undid is no sign. Patches may
// hold arbitrary bytes.
func Inspect(c loop.Change, in Tree) []Sign {
	r := in.report(c)
	for _, u := range c.Unshown {
		if u.Why == loop.TurnedBinary {
			r.signs = append(r.signs, Sign{Kind: GateChanged, Path: u.Path, Text: "the text turned binary, so that no diff shows it"})
		}
	}
	for _, f := range Files(c) {
		r.gate(f)
	}
	for _, f := range r.files {
		r.gone(f)
		r.focused(f)
	}
	return ordered(r.signs)
}

// Touched returns the files with tests in a change, and which tests in them are new.
func Touched(c loop.Change, in Tree) (all []loop.Place) {
	r := in.report(c)
	for _, f := range r.files {
		var added []string
		for _, name := range f.now.names {
			if len(r.were[name]) == 0 {
				added = append(added, Quote(name, maxName))
			}
		}
		place := loop.Place{At: Quote(f.Path, maxPath), What: fate(f.FileChange)}
		if len(added) > 0 {
			place.What += "; new " + wording.List(added, 8)
		}
		all = append(all, place)
	}
	return all
}

// Tests returns the changed files that hold nothing but tests, or what tests compare with, and whether
// there are tests in others.
func Tests(c loop.Change, in Tree) (files []loop.FileChange, others bool) {
	there := false
	for _, f := range c.Files {
		l := in.tables().of(f.Path)
		switch {
		case l != nil && l.Within && !l.Alone.match(f.Path):
			continue
		case l != nil:
			there = there || f.Status != loop.FileDeleted
		case !in.tables().Expected.Files.match(f.Path):
			continue
		}
		files = append(files, f)
	}
	if !there {
		return nil, len(in.report(c).files) > 0
	}
	return files, false
}

// A report is an inspection in progress.
type report struct {
	Tree
	*Tables
	files []*file
	// were and are have the files with a test of a name on each side.
	were, are map[string][]*file
	came      map[string]int // lines that were added to tests, by their text; how often is left
	signs     []Sign
}

func (in Tree) report(c loop.Change) *report {
	r := &report{Tree: in, Tables: in.tables(), were: map[string][]*file{}, are: map[string][]*file{}, came: map[string]int{}}
	for _, change := range Files(c) {
		l := r.of(change.Path)
		if l == nil {
			continue
		}
		f := l.read(change, in.content(change))
		if l.Within && len(f.old.names)+len(f.now.names) == 0 {
			continue
		}
		r.files = append(r.files, f)
		for _, name := range f.old.names {
			r.were[name] = append(r.were[name], f)
		}
		for _, name := range f.now.names {
			r.are[name] = append(r.are[name], f)
		}
		for _, t := range f.now.tests {
			for _, x := range l.changed(t, f.old.tests[t.name]) {
				r.came[normal(x.text)]++
			}
		}
	}
	return r
}

func (r *report) addf(k Kind, f loop.FileChange, line int, asked bool, format string, args ...any) {
	s := Sign{Kind: k, Path: f.Path, Text: fmt.Sprintf(format, args...), Asked: asked, fresh: f.Status == loop.FileAdded}
	if line > 0 {
		s.Lines = []int{line}
	}
	if asked {
		s.Text += "; the task names it"
	}
	r.signs = append(r.signs, s)
}

// gate reports a file that decides about tests, or that tests compare with.
func (r *report) gate(f loop.FileChange) {
	what := r.Tables.gate(f.Path)
	if f.Status != loop.FileAdded && slices.Contains(r.Deciding, f.Path) {
		what = "a check of this run runs it"
	}
	asked := Names(r.Task, f.Path)
	switch {
	case path.Base(f.Path) == ".gitignore" && f.Status == loop.FileAdded && f.NewMode == 0: // a cache that hides itself
	case what != "":
		r.addf(GateChanged, f, 0, asked, "%s: %s", what, fate(f))
	case f.Status != loop.FileAdded && r.Expected.Files.match(f.Path) && r.of(f.Path) == nil:
		r.addf(ExpectationChanged, f, 0, asked, "tests compare with it, and %s", fate(f))
	}
}

// gone reports the tests of a file that are gone, and compares the others with what became of them.
func (r *report) gone(f *file) {
	var lost []string
	elsewhere := ""
	for _, name := range f.old.names {
		old := f.old.tests[name]
		switch now, at := r.successor(f, name); {
		case now != nil:
			r.compare(f, at, old, now)
		default:
			lost = append(lost, name)
			if at != nil {
				elsewhere = ", where no test runner looks, or not everywhere: " + Quote(at.Path, maxPath)
			}
		}
	}
	switch {
	case f.Status == loop.FileDeleted && !f.lang.Within && (len(lost) > 0 && len(lost) == len(f.old.names) || len(f.old.names) == 0 && !slices.ContainsFunc(r.files, f.movedTo)):
		what := "the file with tests is gone"
		if len(lost) > 0 {
			what += ", with " + wording.Count(len(lost), "test") + " in it"
		}
		r.addf(TestGone, f.FileChange, 0, false, "%s%s", what, elsewhere)
		return
	case f.Status == loop.FileModified && !f.lang.Within:
		r.compare(f, f, f.old.tests[""], f.now.tests[""])
	}
	for _, name := range lost {
		r.addf(TestGone, f.FileChange, f.old.tests[name].at, false, "the test %s is gone%s", Quote(name, maxName), elsewhere)
	}
}

// successor returns what became of a test: the one of its name in the same file, or in one to which
// it was added. It returns nil if there is none, with the file in which it is no longer run.
func (r *report) successor(f *file, name string) (*test, *file) {
	if now := f.now.tests[name]; now != nil {
		return now, f
	}
	var hidden *file
	for _, other := range r.are[name] {
		switch {
		case other.lang != f.lang || other.old.tests[name] != nil:
		case other.unlooked && !f.unlooked:
			hidden = other
		default:
			return other.now.tests[name], other
		}
	}
	return nil, hidden
}

// movedTo reports whether another file is what became of one without recognizable tests.
func (f *file) movedTo(other *file) bool {
	return other.Status == loop.FileAdded && path.Base(other.Path) == path.Base(f.Path) && (!other.unlooked || f.unlooked)
}

// compare compares a test with what became of it, or what is outside of all tests of a file.
func (r *report) compare(f, at *file, old, now *test) {
	name := "what is outside of the tests"
	if old.name != "" {
		name = "the test " + Quote(old.name, maxName)
	}
	for skip, n := range now.skips {
		if n > old.skips[skip] {
			r.addf(SkipAdded, at.FileChange, lineOf(now.lines, skip), false, "%s was added to %s", code(skip), name)
		}
	}
	added := f.lang.changed(now, old)
	fewer := old.asserts - now.asserts
	var removed []line
	for _, x := range f.lang.changed(old, now) {
		if !take(r.came, normal(x.text)) {
			removed = append(removed, x)
		} else if f.lang.claims(x.text) {
			fewer--
		}
	}
	line := now.at
	if len(added) > 0 {
		line = added[0].at
	}
	if fewer > 0 {
		r.addf(FewerAssertions, at.FileChange, line, false, "%s has %s fewer", name, wording.Count(fewer, "assertion"))
	}
	lost, news := without(f.lang.values(removed), words(added)), without(f.lang.values(added), words(removed))
	if len(lost) > 0 && (fewer <= 0 || len(news) > 0) {
		asked := Names(r.Task, at.Path) || Names(r.Task, f.Path) || mentions(r.Task, old.name)
		r.addf(ExpectationChanged, at.FileChange, line, asked, "%s expects something else: %s, before it was %s", name, several(news), several(lost))
	}
}

// focused reports what was added to a file and keeps all other tests from being run, even in a new
// test.
func (r *report) focused(f *file) {
	for _, t := range f.now.tests {
		if t.name == "" && f.lang.Within {
			continue
		}
		for _, x := range f.lang.changed(t, f.old.tests[t.name]) {
			if found := strings.TrimSpace(f.lang.Focuses.find(bare(x.text))); found != "" && x.op == '+' {
				r.addf(SkipAdded, f.FileChange, x.at, false, "%s was added, which decides over all tests around it", code(found))
			}
		}
	}
}

func lineOf(lines []line, text string) int {
	i := slices.IndexFunc(lines, func(x line) bool { return x.op == '+' && strings.Contains(x.text, text) })
	if i < 0 {
		return 0
	}
	return lines[i].at
}

func words(lines []line) (all []string) {
	for _, x := range lines {
		all = append(all, tokens(x.text)...)
	}
	return all
}

// several lists a few values.
func several(values []string) string {
	if len(values) == 0 {
		return "nothing"
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = code(v)
	}
	return wording.List(quoted, 4)
}

// code returns a text from the repository that is safe in our own sentences.
func code(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == '`' || odd(r) && r > '~' {
			return '?'
		}
		return r
	}, text)
	return "`" + clipped(text, maxValue) + "`"
}

// Names reports whether a task names a file, so that the user wants it changed. A plain word such as
// "check" may mean anything.
func Names(task, file string) bool {
	base := path.Base(file)
	plain := strings.ToLower(base) == base && !strings.Contains(base, ".")
	return slices.ContainsFunc(strings.Fields(task), func(word string) bool {
		word = strings.TrimRight(strings.Trim(word, "\"'`()[]<>,;:!?*_"), ".")
		return word == base && !plain || word != base && path.Clean(word) == file || strings.HasSuffix(word, "/"+base)
	})
}

// mentions reports whether a task names a test.
func mentions(task, name string) bool {
	if strings.Contains(name, " ") {
		return strings.Contains(task, name)
	}
	return name != "" && slices.ContainsFunc(strings.Fields(task), func(word string) bool {
		return strings.TrimRight(strings.Trim(word, "\"'`<>[],;:!?*"), ".()") == name
	})
}
