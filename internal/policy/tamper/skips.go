package tamper

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// skips reports what keeps existing tests from being run; in a new test nothing is lost.
func skips(r *report, f *file) {
	if !f.readable() {
		return
	}
	sweeps(r, f)
	if f.Status == loop.FileAdded && !f.receives && !r.Setup.match(f.Path) {
		return
	}
	by := r.awaits(f)
	for _, h := range f.hunks {
		skipsIn(r, f, h)
		swallowed(r, f, h)
		leaves(r, f, h)
		unrun(r, f, h, by)
		guarded(r, f, h)
		wrapped(r, f, h)
	}
}

// sweeps reports additions, in new files and tests too, that can keep existing tests from
// being run or from failing.
func sweeps(r *report, f *file) {
	known, runs := false, false
	for l := range f.all() {
		if l.op != '-' {
			known = known || f.lang.Trusted.match(strings.TrimSpace(l.code))
			runs = runs || strings.Contains(l.bare, ".Run()") || known && f.lang.Runs.match(l.bare)
		}
	}
	for l := range f.each("+") {
		marker := l.sweeps
		if marker == "" || r.had[normal(l.text)] || !f.tests(l) || !r.reaches(f, l) {
			continue
		}
		if strings.HasPrefix(marker, "func TestMain") {
			if runs {
				continue
			}
			marker = "TestMain without Run"
		}
		r.addf(TestSkipped, f, l.at, "%s was added, which decides over all tests around it", quoted(marker))
	}
}

// tests reports whether a line of a file with tests is part of them; Rust has tests and
// the tested code in the same file.
func (f *file) tests(l *line) bool {
	return !f.whole || f.apart() || l.in.name() != "" || l.tested
}

// reaches reports whether a line takes effect on the tests themselves, and not only in a
// function that they may call.
func (r *report) reaches(f *file, l *line) bool {
	return l.in == nil || l.in.test != "" || r.Setup.match(f.Path) || strings.Contains(l.sweeps, "def ")
}

func skipsIn(r *report, f *file, h hunk) {
	inFresh := false
	for i, l := range h.lines {
		if l.op == '-' {
			continue
		}
		if l.declares != "" {
			inFresh = l.fresh()
		}
		if l.op != '+' || l.skips == "" || l.sweeps != "" {
			continue
		}
		if take(r.skipped, normal(l.text)) {
			continue
		}
		if f.ofCode(h.lines, i) || inFresh && !above(l) || above(l) && nextFresh(h.lines[i:]) {
			continue
		}
		r.addf(TestSkipped, f, l.at, "%s was added, which keeps tests from being run", l.skips)
	}
}

// ofCode reports whether a Rust attribute is about code and not about tests.
func (f *file) ofCode(lines []*line, at int) bool {
	l := lines[at]
	return strings.Contains(l.skips, "not(test)") && !f.tests(l) || conditional(l.skips) && !attributed(lines, at)
}

// conditional reports whether a Rust attribute depends on the build configuration, and
// so may precede anything.
func conditional(marker string) bool {
	_, what, ok := strings.Cut(marker, "cfg(")
	return ok && !strings.HasPrefix(what, "any()") && !strings.HasPrefix(what, "all(test") && !strings.HasPrefix(what, "not(test)") && !strings.HasPrefix(strings.ToLower(what), "false")
}

// attributed reports whether a Rust attribute applies to a whole file, to a test or to a
// module of tests.
func attributed(lines []*line, at int) bool {
	if strings.HasPrefix(lines[at].skips, "`#!") {
		return true
	}
	marks := func(l *line) bool { return l.op != '-' && (l.marks || l.tests) }
	first, last := at, at
	for first > 0 && above(lines[first-1]) {
		first--
	}
	for last < len(lines)-1 && above(lines[last+1]) {
		last++
	}
	return slices.ContainsFunc(lines[first:last+1], marks)
}

// above reports whether a marker applies to what follows it.
func above(l *line) bool {
	code := strings.TrimSpace(l.code)
	return strings.HasPrefix(code, "@") || strings.HasPrefix(code, "#[") || strings.HasPrefix(code, "[")
}

// nextFresh reports whether the next test below a marker is new.
func nextFresh(below []*line) bool {
	for _, l := range below {
		if l.op != '-' && l.declares != "" {
			return l.fresh()
		}
	}
	return false
}

// swallowed reports comments and string literals that were opened above an existing test
// or its assertions.
func swallowed(r *report, f *file, h hunk) {
	told := 0
	for _, l := range h.lines {
		if l.op == ' ' && l.swallowed > told && (l.declares != "" || l.marks || l.asserts) {
			told = l.swallowed
			r.addf(TestSkipped, f, told, "a comment or a string was opened that swallows what was tested")
		}
	}
}

// leaves reports additions to an existing test that leave it, or one of its loops,
// without a failure, and those that catch a failure.
func leaves(r *report, f *file, h hunk) {
	asserted := false // the line above reported a failure, so leaving is harmless
	within := newLoop{none}
	for _, l := range h.lines {
		switch {
		case l.op == '-':
		case strings.TrimSpace(l.code) == "":
		default:
			fresh := l.op == '+' && !r.had[normal(l.text)]
			within.step(l, fresh, r.Values.Breaks)
			if fresh && l.existing() {
				if l.leaves != "" && !asserted && (within.indent == none || leaving(l.leaves) != "break") {
					r.addf(TestSkipped, f, l.at, "%s was added to a test, and what is below it may not run", quoted(leaving(l.leaves)))
				}
				if l.catches != "" {
					r.addf(Loosened, f, l.at, "%s was added to a test, which catches what would make it fail", quoted(word(l.catches)))
				}
			}
			asserted = l.asserts && l.says
		}
	}
}

// A newLoop is an added loop that contains no old code.
type newLoop struct{ indent int }

const none = -1

// step reads the next line; begins matches the start of a loop.
func (n *newLoop) step(l *line, fresh bool, begins *probe) {
	if !fresh && len(words(l.code)) > 0 || wording.Indent(l.text) <= n.indent {
		n.indent = none
	}
	if fresh && n.indent == none && begins.match(l.code) {
		n.indent = wording.Indent(l.text)
	}
}

// unrun reports changed declarations because of which a test, or a class of tests, is no
// longer run.
func unrun(r *report, f *file, h hunk, by awaiting) {
	for i, l := range h.lines {
		inClass := f.lang.has("x.py") && l.existing() && l.in.class && l.in.indent == 0 && f.lang.Unrun.match(l.code) && l.declares == ""
		if l.op == '+' && !r.had[normal(l.text)] && (inClass || l.unrun && !l.fresh() && !by.awaited(f, h.lines[:i])) {
			r.addf(TestSkipped, f, l.at, "a test is declared here in a way that keeps it from being run")
		}
	}
}

// awaiting says how a Python file has its async tests run. Without a plugin, pytest skips them.
type awaiting struct {
	plugin bool
	all    bool // even without a mark above the test
}

// awaited reports whether the async test of Python below some lines is run.
func (by awaiting) awaited(f *file, lines []*line) bool {
	for i := len(lines) - 1; i >= 0 && (above(lines[i]) || lines[i].op == '-') && !by.all; i-- {
		by.all = lines[i].op != '-' && f.lang.Awaits.match(lines[i].code)
	}
	return by.plugin && by.all
}

// awaits looks for what runs the async tests of a file: the project's settings, its
// classes and its older async tests.
func (r *report) awaits(f *file) (by awaiting) {
	if f.lang.Awaits == nil {
		return by
	}
	for file := range strings.FieldsSeq("pyproject.toml setup.cfg setup.py tox.ini pytest.ini Pipfile requirements.txt requirements-dev.txt requirements-test.txt dev-requirements.txt") {
		content, _ := r.content(file)
		by.plugin = by.plugin || f.lang.Plugin.match(content)
		by.all = by.all || f.lang.Awaits.match(content)
	}
	older := false
	for l := range f.all() {
		older = older || l.op != '+' && f.lang.Unrun.match(l.code) && l.declares != ""
		by.plugin = by.plugin || older || l.op != '-' && f.lang.Plugin.match(l.code)
	}
	some, all := f.marked()
	by.all = by.all || all || older && !some
	return by
}

// marked reports whether a Python file asks for async tests, and whether it does so for
// all in it or in a class.
func (f *file) marked() (some, all bool) {
	held := false // the lines right above ask for it
	for l := range f.all() {
		switch {
		case l.op == '-':
		case f.lang.Awaits.match(l.code):
			some, held = true, true
			all = all || !above(l)
		case held && !above(l):
			held = false
			all = all || strings.HasPrefix(l.code, "class ")
		}
	}
	return some, all
}

// guarded reports conditions that were added around existing assertions.
func guarded(r *report, f *file, h hunk) {
	at := 0 // of a condition added right above
	for _, l := range h.lines {
		if l.op == '-' || strings.TrimSpace(l.code) == "" {
			continue
		}
		had := r.had[normal(l.text)]
		if at > 0 && l.op == '+' && had && (r.Values.expect(l) && !l.says || r.Values.Asks.match(l.code)) {
			r.addf(TestSkipped, f, at, guardedText)
		}
		at = 0
		if l.op == '+' && !had && r.guards(l) {
			at = l.at
		}
	}
}

const guardedText = "an assertion was put under a condition, or into a function"

// wrapped reports the same on a single line.
func wrapped(r *report, f *file, h hunk) {
	var asserted []string // removed right above
	for _, l := range h.lines {
		switch {
		case l.op == ' ':
			asserted = nil
		case l.op == '-' && l.asserts:
			asserted = append(asserted, strings.TrimPrefix(strings.TrimRight(normal(l.code), "; "), "await "))
		case l.op == '+' && r.wraps(f, l, asserted):
			r.addf(TestSkipped, f, l.at, guardedText)
		}
	}
}

// wraps reports whether a line of an existing test is one of some assertions with something
// before it that may keep it from being run.
func (r *report) wraps(f *file, l *line, asserted []string) bool {
	if !l.existing() || l.declares != "" || f.Insertions*f.Deletions > 1<<20 {
		return false
	}
	text := normal(l.code)
	return slices.ContainsFunc(asserted, func(old string) bool {
		before, _, same := strings.Cut(text, old)
		before = strings.TrimSuffix(before, "await ")
		return same && r.Values.Wraps.match(before) && !slices.ContainsFunc(words(before), func(w string) bool { return w == "await" || w == "return" })
	})
}

// guards reports whether a line of an existing test is a condition and nothing else.
func (r *report) guards(l *line) bool {
	return l.existing() && !l.asserts && l.skips == "" && r.Values.Guards.match(l.code)
}

// existing reports whether a line is in a test that is not new.
func (l *line) existing() bool {
	return l.in.name() != "" && !l.in.begin.fresh()
}

// leaving returns the keyword by which a line leaves, which a condition may precede.
func leaving(marker string) string {
	for _, w := range words(marker) {
		switch w {
		case "return", "continue", "break", "next", "exit":
			return w
		}
	}
	return word(marker)
}

// word returns the first word of a marker.
func word(marker string) string {
	marker = strings.TrimLeft(marker, "{ }")
	end := strings.IndexFunc(marker, func(r rune) bool { return strings.ContainsRune(" \t(){};:", r) })
	if end <= 0 {
		return marker
	}
	return marker[:end]
}
