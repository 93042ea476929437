package tamper

import (
	"strings"

	"codeloops/internal/loop"
)

// skips reports markers that keep tests from being run. In a test that was
// added they are nobody's loss.
func (r *report) skips(added []*test) {
	fresh := map[*file]map[int]bool{} // the lines with declarations of new tests
	for _, t := range added {
		if r.arrived[t] {
			continue
		}
		if fresh[t.file] == nil {
			fresh[t.file] = map[int]bool{}
		}
		fresh[t.file][t.at] = true
	}
	before := map[string]int{} // markers that were there already, perhaps elsewhere
	for _, f := range r.files {
		f.each("-", func(_ hunk, l line) {
			if l.skips != "" {
				before[normal(l.text)]++
			}
		})
	}
	for _, f := range r.files {
		if !f.readable() {
			continue
		}
		r.sweeps(f)
		if f.Status == loop.FileAdded && !r.receives[f] {
			continue
		}
		for _, h := range f.hunks {
			r.skipsIn(f, h, fresh[f], before)
			r.enclosed(f, h)
		}
	}
}

// sweeps reports what was added, in a new file or test as well, and can keep the
// tests that were there before from being run.
func (r *report) sweeps(f *file) {
	runs := false
	f.each(" +", func(_ hunk, l line) { runs = runs || strings.Contains(l.bare, ".Run()") })
	before := map[string]bool{}
	f.each("-", func(_ hunk, l line) { before[normal(l.text)] = true })
	f.each("+", func(_ hunk, l line) {
		marker := l.sweeps
		if marker == "" || before[normal(l.text)] {
			return
		}
		if strings.HasPrefix(marker, "func TestMain") {
			if runs {
				return
			}
			marker = "TestMain without Run"
		}
		r.addf(TestSkipped, f, l.at, "%s was added, which keeps tests from being run", quoted(marker))
	})
}

func (r *report) skipsIn(f *file, h hunk, fresh map[int]bool, before map[string]int) {
	inFresh := false
	for i, l := range h.lines {
		if l.op == '-' {
			continue
		}
		if l.declares != "" {
			inFresh = fresh[l.at]
		}
		if l.op != '+' || l.skips == "" {
			continue
		}
		if key := normal(l.text); before[key] > 0 {
			before[key]--
			continue
		}
		if inFresh && !above(l) || above(l) && nextFresh(h.lines[i:], fresh) {
			continue
		}
		r.addf(TestSkipped, f, l.at, "%s was added, which keeps tests from being run", l.skips)
	}
}

// above reports whether a marker belongs to what stands below it.
func above(l line) bool {
	code := strings.TrimSpace(l.code)
	return strings.HasPrefix(code, "@") || strings.HasPrefix(code, "#[")
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

// enclosed reports comments that were opened above a test which was there
// before, or above what it asserts.
func (r *report) enclosed(f *file, h hunk) {
	open := 0
	for _, l := range h.lines {
		switch {
		case l.op == '-':
		case l.op == '+' && f.lang.opens(l):
			open = l.at
		case strings.Contains(l.text, "*/"):
			open = 0
		case open > 0 && l.op == ' ' && (l.declares != "" || l.marks || l.asserts):
			r.addf(TestSkipped, f, open, "a comment was opened that takes in what was tested")
			open = 0
		}
	}
}

// opens reports whether a comment begins in a line and goes on below.
func (l *language) opens(x line) bool {
	begin := strings.LastIndex(x.text, "/*")
	return l.block && begin >= 0 && len(x.bare) <= begin && !strings.Contains(x.text[begin:], "*/")
}
