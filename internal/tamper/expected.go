package tamper

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// expectations reports values that tests compare with, or work on, and that have
// become others: in lines that took the place of others, in tests that were there
// before.
func (r *report) expectations() {
	for _, m := range r.moved {
		if m.from.file != m.to.file || m.from.name != m.to.name {
			r.replaced(m.to.file, m.from.body, m.to.body)
		}
	}
	for _, f := range r.files {
		if !f.test || f.Status != loop.FileModified {
			continue
		}
		removed, added := f.groups()
		for i := range removed {
			r.replaced(f, removed[i], added[i])
		}
	}
}

// groups returns the lines that were removed and added side by side, without those
// of tests that are gone, new or moved, and without lines that have only moved.
func (f *file) groups() (removed, added [][]*line) {
	out, in := f.texts("-"), f.texts("+")
	were, are := counted(out), counted(in)
	ours := map[*line]bool{}
	if f.readable() {
		gone, news := f.familiar()
		for _, l := range slices.Concat(gone, news) {
			ours[l] = f.tests(l)
		}
	}
	var a, b []*line
	flush := func() {
		if len(a) > 0 || slices.ContainsFunc(b, func(l *line) bool { return l.quoted }) {
			removed, added = append(removed, a), append(added, b)
		}
		a, b = nil, nil
	}
	f.all(func(l *line) {
		key := normal(l.text)
		switch {
		case l.op == ' ':
			flush()
		case f.readable() && !ours[l]:
		case l.op == '-' && are[key] > 0:
			are[key]--
		case l.op == '-':
			a = append(a, l)
		case were[key] > 0:
			were[key]--
		default:
			b = append(b, l)
		}
	})
	flush()
	return removed, added
}

func counted(texts []string) map[string]int {
	n := map[string]int{}
	for _, t := range texts {
		n[t]++
	}
	return n
}

// replaced compares lines of a test with those in their place. First come the lines
// that differ in nothing but values, then what is left of the assertions, as they
// may be written in another way.
func (r *report) replaced(f *file, removed, added []*line) {
	alike := map[string][]*line{}
	for _, l := range added {
		if r.values.matter(f, l) {
			form, _ := r.values.of(f, l)
			alike[form] = append(alike[form], l)
		}
	}
	taken := map[*line]bool{}
	var rest []*line
	for _, old := range removed {
		if !r.values.matter(f, old) {
			continue
		}
		form, was := r.values.of(f, old)
		if len(was) == 0 || len(alike[form]) == 0 {
			rest = append(rest, old)
			continue
		}
		now := alike[form][0]
		alike[form], taken[now] = alike[form][1:], true
		_, is := r.values.of(f, now)
		r.otherwise(f, old, now, was, is)
	}
	if len(removed) == 0 && len(added) > 0 {
		r.addf(ExpectationChanged, f, added[0].at, "a text in a test has got more lines")
		return
	}
	r.unawaited(f, rest, added)
	left := slices.DeleteFunc(slices.Clone(added), func(l *line) bool { return taken[l] || !r.values.matter(f, l) })
	r.rewritten(f, rest, left)
}

// unawaited reports assertions on what comes later, for which nobody waits any more.
func (r *report) unawaited(f *file, removed, added []*line) {
	now := map[string]int{}
	for _, l := range added {
		now[normal(l.code)] = l.at
	}
	for _, l := range removed {
		for _, waits := range []string{"await ", "return "} {
			if code, ok := strings.CutPrefix(normal(l.code), waits); ok && l.asserts && now[code] > 0 {
				r.addf(Loosened, f, now[code], "nobody waits for an assertion any more")
			}
		}
	}
}

// otherwise reports the values of two lines that differ in nothing else.
func (r *report) otherwise(f *file, old, now *line, was, is []string) {
	was, is = without(was, is), without(is, was)
	switch {
	case len(was)+len(is) == 0:
	case r.values.expect(old):
		r.addf(ExpectationChanged, f, now.at, "a test expects something else: %s, before it was %s", several(is), several(was))
	default:
		r.addf(ExpectationChanged, f, now.at, "a value in a test is another one: %s, before it was %s", several(is), several(was))
	}
}

// rewritten compares what is left of the assertions, and of the rows of tables.
func (r *report) rewritten(f *file, removed, added []*line) {
	before, after := slices.DeleteFunc(slices.Clone(removed), r.values.silent), slices.DeleteFunc(slices.Clone(added), r.values.silent)
	for i := range min(len(before), len(after)) {
		if r.turned(f, before[i], after[i]) {
			r.addf(ExpectationChanged, f, after[i].at, "a test compares with something else than before")
			return
		}
	}
	r.fewerTurns(f, removed, added)
	was, rows := r.remains(f, slices.DeleteFunc(slices.Clone(removed), func(l *line) bool { return l.loose }))
	is, _ := r.remains(f, added)
	var all []string
	at := 0
	for _, l := range added {
		_, values := r.values.of(f, l)
		all = append(all, values...)
		if at == 0 && !l.idle && (l.exact || r.values.wants.match(l.code) || l.quoted) {
			at = l.at
		}
	}
	lost, news, lostRows := without(was, all), without(is, was), without(rows, all)
	switch {
	case at > 0 && len(lost) > 0 && len(news) > 0:
		r.addf(ExpectationChanged, f, at, "a test expects something else: %s, before it was %s", several(news), several(lost))
	case len(lostRows) > 0:
		r.addf(Loosened, f, removed[0].at, "values that a test runs through are gone: %s", several(lostRows))
	}
}

// fewerTurns reports loops that go through a part of what they went through.
func (r *report) fewerTurns(f *file, removed, added []*line) {
	isNone := func(l *line) bool { return !r.values.loops.match(l.code) }
	before, after := slices.DeleteFunc(slices.Clone(removed), isNone), slices.DeleteFunc(slices.Clone(added), isNone)
	for i := range min(len(before), len(after)) {
		if r.values.narrows.match(after[i].bare) && !r.values.narrows.match(before[i].bare) {
			r.addf(Loosened, f, after[i].at, "a loop of a test goes through a part of what it went through")
		}
	}
}

// remains returns the values of lines that say what must come out, and those of the
// rows of tables.
func (r *report) remains(f *file, lines []*line) (expected, rows []string) {
	for _, l := range lines {
		form, values := r.values.of(f, l)
		if r.values.expect(l) {
			expected = append(expected, values...)
		}
		if l.quoted || printed(l) || r.values.row.match(form) {
			rows = append(rows, values...)
		}
	}
	return expected, rows
}

// turned reports whether two assertions compare the same with something else.
func (r *report) turned(f *file, old, now *line) bool {
	if now.idle || old.loose && now.exact || f.renames(old.code, now.code) {
		return false
	}
	if left, right, ok := matched(old.parts); ok {
		other, with, is := matched(now.parts)
		return is && normal(left) == normal(other) && normal(right) != normal(with)
	}
	if r.values.wants.match(old.code) && r.values.wants.match(now.code) {
		return key(old.code) == key(now.code) && normal(old.code) != normal(now.code)
	}
	return comparesOtherwise(old.parts, now.parts)
}

// comparesOtherwise reports whether two comparisons of the same have another
// operator, or another value. One that asks for more besides is none of them.
func comparesOtherwise(old, now parts) bool {
	left, operator, right, ok := compared(old)
	other, by, with, is := compared(now)
	if !ok || !is || normal(left) != normal(other) {
		return false
	}
	more := strings.HasPrefix(normal(with), normal(right)+" and ")
	return operator != by || normal(right) != normal(with) && !more
}

// renames reports whether two texts differ in nothing but a name that the file has
// given up for one that it did not have.
func (f *file) renames(old, now string) bool {
	was, is := without(words(old), words(now)), without(words(now), words(old))
	if !f.whole || len(was) != 1 || len(is) != 1 || strings.Trim(was[0]+is[0], "0123456789") == "" {
		return false
	}
	if f.names == nil {
		f.names = map[string]bool{}
		f.all(func(l *line) {
			for _, w := range words(l.text) {
				if l.op != '+' {
					f.names["-"+w] = true
				}
				if l.op != '-' {
					f.names["+"+w] = true
				}
			}
		})
	}
	return !f.names["-"+is[0]] && !f.names["+"+was[0]]
}
