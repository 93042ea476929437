package tamper

import (
	"fmt"

	"codeloops/internal/loop"
)

// assertions reports files and moved tests that assert less than they did, and
// comparisons that became weaker.
func (r *report) assertions() {
	for _, m := range r.moved {
		if lost := m.from.size - m.to.size; lost > 0 && len(m.from.body) > 0 && len(m.to.body) > 0 {
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
		f.each("+", func(_ hunk, l line) {
			if l.idle {
				r.addf(Loosened, f, l.at, "an assertion was added that cannot fail")
			}
		})
	}
}

// added counts the assertions that were added anywhere, by their text: one that
// was taken out and stands there has only moved.
func (r *report) added() map[string]int {
	all := map[string]int{}
	for _, f := range r.files {
		f.each("+", func(_ hunk, l line) {
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
	f.assertedBy("+", r.strangers(f, true), func(l line) { ours[normal(l.code)]++; news++ })
	f.assertedBy("-", r.strangers(f, false), func(l line) {
		key := normal(l.code)
		switch {
		case ours[key] > 0: // it stands somewhere else in the file
			ours[key]--
			arrived[key]--
			news--
			return
		case arrived[key] > 0:
			arrived[key]--
			return
		}
		if gone++; first == 0 {
			first = l.at
		}
	})
	if gone > news {
		r.addf(Loosened, f, 0, "%s fewer than before (%d gone, the first from line %d of the old file; %d new)",
			count(gone-news, "assertion"), gone, first, news)
	}
}

// strangers are the lines with the declarations of tests whose assertions are
// not weighed within the file: on the new side those that were added, on the
// old one those that were removed.
func (r *report) strangers(f *file, now bool) map[int]bool {
	lines := map[int]bool{}
	a, b := f.declaredLines()
	if now {
		a = b
	}
	for _, t := range a {
		lines[t.at] = true
	}
	return lines
}

// declaredLines returns the tests that only the old file has, and those that
// only the new one has.
func (f *file) declaredLines() (old, now []*test) {
	return differ(f.declared('+'), f.declared('-'))
}

// assertedBy calls do for the changed lines with an assertion that stand in no
// test of strangers.
func (f *file) assertedBy(op string, strangers map[int]bool, do func(line)) {
	for _, h := range f.hunks {
		strange := false
		for _, l := range h.lines {
			if l.op != ' ' && l.op != op[0] {
				continue
			}
			if l.declares != "" {
				strange = l.op != ' ' && strangers[l.at]
			}
			if l.op == op[0] && !strange && l.asserts {
				do(l)
			}
		}
	}
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
	for _, l := range h.lines {
		if l.op == ' ' {
			flush()
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
