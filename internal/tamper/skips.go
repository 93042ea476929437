package tamper

import (
	"strings"

	"codeloops/internal/loop"
)

// skips reports what keeps tests from being run. In a test that was added it is
// nobody's loss.
func (r *report) skips(added []*test) {
	r.fresh = map[*file]map[int]bool{}
	for _, t := range added {
		if r.arrived[t] {
			continue
		}
		if r.fresh[t.file] == nil {
			r.fresh[t.file] = map[int]bool{}
		}
		r.fresh[t.file][t.at] = true
	}
	before := r.removed(func(l *line) string { return l.skips }) // perhaps elsewhere
	for _, f := range r.files {
		if !f.readable() {
			continue
		}
		r.sweeps(f)
		if f.Status == loop.FileAdded && !r.receives[f] && !r.setup.match(f.Path) {
			continue
		}
		for _, h := range f.hunks {
			r.skipsIn(f, h, before)
			r.swallowed(f, h)
			r.leaves(f, h)
		}
	}
}

// removed counts the lines that were taken out, in all files, and of which
// something is to be said. One that is added again has only moved.
func (r *report) removed(said func(l *line) string) map[string]int {
	all := map[string]int{}
	for _, f := range r.files {
		f.each("-", func(l *line) {
			if said(l) != "" {
				all[normal(l.text)]++
			}
		})
	}
	return all
}

// sweeps reports what was added, in a new file or test as well, and can keep the
// tests that were there before from being run, or from failing.
func (r *report) sweeps(f *file) {
	runs := false
	f.all(func(l *line) { runs = runs || l.op != '-' && strings.Contains(l.bare, ".Run()") })
	f.each("+", func(l *line) {
		marker := l.sweeps
		if marker == "" || r.had[normal(l.text)] || !f.tests(l) || !r.reaches(f, l) {
			return
		}
		if strings.HasPrefix(marker, "func TestMain") {
			if runs {
				return
			}
			marker = "TestMain without Run"
		}
		r.addf(TestSkipped, f, l.at, "%s was added, which decides over all tests around it", quoted(marker))
	})
}

// tests reports whether a line of a file with tests is about them; in Rust the code
// that they test stands around them.
func (f *file) tests(l *line) bool {
	return !f.whole || f.apart() || l.in.name() != "" || l.tested
}

// reaches reports whether what a line does happens with the tests, and not in a
// function that they may call.
func (r *report) reaches(f *file, l *line) bool {
	return l.in == nil || l.in.test != "" || r.setup.match(f.Path) || strings.Contains(l.sweeps, "def ")
}

func (r *report) skipsIn(f *file, h hunk, before map[string]int) {
	fresh, inFresh := r.fresh[f], false
	for i, l := range h.lines {
		if l.op == '-' {
			continue
		}
		if l.declares != "" {
			inFresh = fresh[l.at]
		}
		if l.op != '+' || l.skips == "" || l.sweeps != "" {
			continue
		}
		if key := normal(l.text); before[key] > 0 {
			before[key]--
			continue
		}
		if strings.Contains(l.skips, "not(test)") && !f.tests(&l) || inFresh && !above(l) || above(l) && nextFresh(h.lines[i:], fresh) {
			continue
		}
		r.addf(TestSkipped, f, l.at, "%s was added, which keeps tests from being run", l.skips)
	}
}

// above reports whether a marker belongs to what stands below it.
func above(l line) bool {
	code := strings.TrimSpace(l.code)
	return strings.HasPrefix(code, "@") || strings.HasPrefix(code, "#[") || strings.HasPrefix(code, "[")
}

// nextFresh reports whether the next test below a marker is a new one.
func nextFresh(below []line, fresh map[int]bool) bool {
	for _, l := range below {
		if l.op != '-' && l.declares != "" {
			return fresh[l.at]
		}
	}
	return false
}

// swallowed reports comments and string literals that were opened above a test
// which was there before, or above what it asserts.
func (r *report) swallowed(f *file, h hunk) {
	told := 0
	for _, l := range h.lines {
		if l.op == ' ' && l.swallowed > told && (l.declares != "" || l.marks || l.asserts) {
			told = l.swallowed
			r.addf(TestSkipped, f, told, "a comment or a string was opened that takes in what was tested")
		}
	}
}

// leaves reports what was added to a test that was there before and ends it, or a
// turn of its loop, without a failure, and what catches one.
func (r *report) leaves(f *file, h hunk) {
	asserted := false // by the line above, so that no more is to be done
	for _, l := range h.lines {
		switch {
		case l.op == '-':
		case strings.TrimSpace(l.code) == "":
		default:
			if l.op == '+' && r.existing(f, &l) && !r.had[normal(l.text)] {
				if l.leaves != "" && !asserted {
					r.addf(TestSkipped, f, l.at, "%s was added to a test, and what stands below it may not be run", quoted(leaving(l.leaves)))
				}
				if l.catches != "" {
					r.addf(Loosened, f, l.at, "%s was added to a test, which catches what would make it fail", quoted(word(l.catches)))
				}
			}
			asserted = l.asserts && l.says
		}
	}
}

// existing reports whether a line stands in a test that was there before.
func (r *report) existing(f *file, l *line) bool {
	return l.in.name() != "" && !r.fresh[f][l.in.at]
}

// leaving is the word by which a line leaves, which may stand behind a condition.
func leaving(marker string) string {
	for _, w := range words(marker) {
		switch w {
		case "return", "continue", "next", "exit":
			return w
		}
	}
	return word(marker)
}

// word is the first word of a marker.
func word(marker string) string {
	marker = strings.TrimLeft(marker, "{ }")
	end := strings.IndexFunc(marker, func(r rune) bool { return strings.ContainsRune(" \t(){};:", r) })
	if end <= 0 {
		return marker
	}
	return marker[:end]
}
