package tamper

import (
	"fmt"
	"path"
	"strings"

	"codeloops/internal/loop"
)

// assertions reports files and moved tests that assert less than they did, and
// comparisons that became weaker.
func (r *report) assertions() {
	for _, m := range r.moved {
		whole := len(m.to.body) > 0 || m.to.file.Status == loop.FileAdded // else what stands in it may be context
		if lost := m.from.size - m.to.size; lost > 0 && len(m.from.body) > 0 && whole {
			r.addf(Loosened, m.to.file, m.to.at, "the test %s, which stood in %s, has %s fewer than before",
				Quote(m.to.name, maxName), Quote(m.from.file.Path, maxPath), count(lost, "assertion"))
		}
	}
	arrived := r.added()
	for _, f := range r.files {
		if !f.readable() || f.Status == loop.FileDeleted {
			continue
		}
		r.fewer(f, arrived)
		for _, h := range f.hunks {
			r.weaker(f, h)
		}
		r.idle(f)
		r.mocked(f)
		r.bound(f)
	}
}

// mocked reports that the module which a file tests, by their names, was replaced in
// a file that was there before, as a whole.
func (r *report) mocked(f *file) {
	if f.lang.replace == nil || f.Status == loop.FileAdded {
		return
	}
	partly := false
	f.all(func(l *line) { partly = partly || strings.Contains(l.code, "Actual(") })
	f.each("+", func(l *line) {
		if m := f.lang.replace.groups(l.code); m != nil && !partly && stem(m[1]) == stem(f.Path) {
			r.addf(Loosened, f, l.at, "what is tested here was replaced")
		}
	})
}

// stem is the name of a file without what stands behind its first point.
func stem(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	return name
}

// idle reports assertions that cannot fail.
func (r *report) idle(f *file) {
	equality := false // the line above defines what is equal
	f.each("+", func(l *line) {
		text := strings.ToLower(normal(l.code))
		if r.had[normal(l.text)] {
			return
		}
		if l.idle && f.tests(l) || equality && strings.Contains(text, "return true") {
			r.addf(Loosened, f, l.at, "an assertion was added that cannot fail")
		}
		if text != "" && text != "{" {
			equality = strings.Contains(text, "def __eq__(") || strings.Contains(text, " equals(")
			if equality && strings.Contains(text, "return true") {
				r.addf(Loosened, f, l.at, "an assertion was added that cannot fail")
			}
		}
	})
}

// added counts the assertions that were added anywhere, by their text: one that
// was taken out and stands there has only moved.
func (r *report) added() map[string]int {
	all := map[string]int{}
	for _, f := range r.files {
		f.each("+", func(l *line) {
			if l.asserts {
				all[normal(l.code)]++
			}
		})
	}
	return all
}

// fewer reports a file with fewer assertions. Those of tests that are gone or
// stand elsewhere have been reported with them, and what a new test asserts
// does not make up for what an old one lost.
func (r *report) fewer(f *file, arrived map[string]int) {
	ours := map[string]int{} // what the rest of the file has gained, by its text
	gone, news, first := 0, 0, 0
	removed, added := f.familiar()
	for _, l := range added {
		if l.asserts {
			ours[normal(l.code)]++
			news++
		}
	}
	for _, l := range removed {
		if !l.asserts {
			continue
		}
		key := normal(l.code)
		switch {
		case ours[key] > 0: // it stands somewhere else in the file
			ours[key]--
			arrived[key]--
			news--
			continue
		case arrived[key] > 0:
			arrived[key]--
			continue
		}
		if gone++; first == 0 {
			first = l.at
		}
	}
	if gone > news {
		r.addf(Loosened, f, 0, "%s fewer than before (%d gone, the first from line %d of the old file; %d new)",
			count(gone-news, "assertion"), gone, first, news)
	}
}

// familiar returns the lines that were removed from, and added to, what both sides
// of a file have: tests that are gone are told as such, and new ones make up for
// nothing.
func (f *file) familiar() (removed, added []*line) {
	old, now := differ(f.declared('+'), f.declared('-'))
	return f.outside("-", old), f.outside("+", now)
}

// outside returns the changed lines of one side that stand in none of its tests.
func (f *file) outside(op string, tests []*test) (all []*line) {
	strangers := map[int]bool{}
	for _, t := range tests {
		strangers[t.at] = true
	}
	for _, h := range f.hunks {
		strange := false
		for i := range h.lines {
			l := &h.lines[i]
			if l.op != ' ' && l.op != op[0] {
				continue
			}
			if l.declares != "" {
				strange = l.op != ' ' && strangers[l.at]
			}
			if l.op == op[0] && !strange {
				all = append(all, l)
			}
		}
	}
	return all
}

// weaker looks at lines that took the place of others: fewer exact comparisons
// and more loose ones are a loss.
func (r *report) weaker(f *file, h hunk) {
	var exact, loose int
	kept := map[string]bool{}
	first, decided := 0, false
	flush := func() {
		if exact < 0 && loose > 0 && first > 0 && !decided {
			r.addf(Loosened, f, first, "a weaker comparison took the place of an exact one")
		}
		exact, loose, first, decided = 0, 0, 0, false
	}
	for i := range h.lines {
		l := &h.lines[i]
		if l.op == ' ' {
			flush()
			continue
		}
		if !f.tests(l) {
			continue
		}
		by := 1
		if l.op == '-' {
			by = -1
			kept[normal(l.code)] = true
			// What was a test of its own is no longer compared with anything.
			decided = decided || l.declares != ""
		}
		switch {
		case l.exact:
			exact += by
		case l.loose:
			if loose += by; by > 0 && first == 0 && !kept[normal(l.code)] {
				first = l.at
			}
		}
	}
	flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
