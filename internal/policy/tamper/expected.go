package tamper

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// expectations reports changed values that existing tests compare with or work on, in
// lines that replaced others.
func expectations(r *report, f *file) {
	if !f.test || f.Status != loop.FileModified {
		return
	}
	removed, added := f.groups()
	for i := range removed {
		rewrite{r, f}.compare(removed[i], added[i])
	}
}

// groups returns the lines that were removed and added side by side, without those in
// removed, new or moved tests, and without lines that only moved.
func (f *file) groups() (removed, added [][]*line) {
	were, are := counted(f.texts("-")), counted(f.texts("+"))
	var a, b []*line
	flush := func() {
		if len(a) > 0 || slices.ContainsFunc(b, func(l *line) bool { return l.quoted }) {
			removed, added = append(removed, a), append(added, b)
		}
		a, b = nil, nil
	}
	for l := range f.all() {
		key := normal(l.text)
		switch {
		case l.op == ' ':
			flush()
		case f.readable() && !(l.outside() && f.tests(l)):
		case l.op == '-' && take(are, key):
		case l.op == '-':
			a = append(a, l)
		case take(were, key):
		default:
			b = append(b, l)
		}
	}
	flush()
	return removed, added
}

// take decrements the count of a key, and reports whether any was left.
func take(n map[string]int, key string) bool {
	n[key]--
	if n[key] < 0 {
		n[key] = 0
		return false
	}
	return true
}

func counted(texts []string) map[string]int {
	n := map[string]int{}
	for _, t := range texts {
		n[t]++
	}
	return n
}

// A rewrite is lines of a test file that were replaced.
type rewrite struct {
	*report
	file *file
}

// compare compares lines with their replacements: first the lines that differ only in their
// values, then the remaining assertions, which may be written differently.
func (r rewrite) compare(removed, added []*line) {
	alike := map[string][]*line{}
	for _, l := range added {
		if r.Values.matter(r.file, l) {
			form, _ := r.Values.of(r.file, l)
			alike[form] = append(alike[form], l)
		}
	}
	taken := map[*line]bool{}
	var rest []*line
	for _, old := range removed {
		if !r.Values.matter(r.file, old) {
			continue
		}
		form, was := r.Values.of(r.file, old)
		if len(was) == 0 || len(alike[form]) == 0 {
			rest = append(rest, old)
			continue
		}
		now := alike[form][0]
		alike[form], taken[now] = alike[form][1:], true
		_, is := r.Values.of(r.file, now)
		r.valuesChanged(old, now, was, is)
	}
	if len(removed) == 0 && len(added) > 0 {
		r.addf(ExpectationChanged, r.file, added[0].at, "a text in a test has more lines than before")
		return
	}
	r.unawaited(rest, added)
	left := slices.DeleteFunc(slices.Clone(added), func(l *line) bool { return taken[l] || !r.Values.matter(r.file, l) })
	r.rewritten(rest, left)
}

// unawaited reports asynchronous assertions that are no longer awaited.
func (r rewrite) unawaited(removed, added []*line) {
	now := map[string]int{}
	for _, l := range added {
		now[normal(l.code)] = l.at
	}
	for _, l := range removed {
		for _, waits := range []string{"await ", "return "} {
			if code, ok := strings.CutPrefix(normal(l.code), waits); ok && l.asserts && now[code] > 0 {
				r.addf(Loosened, r.file, now[code], "an assertion is no longer awaited")
			}
		}
	}
}

// valuesChanged reports the values of two lines that differ in nothing else.
func (r rewrite) valuesChanged(old, now *line, was, is []string) {
	was, is = without(was, is), without(is, was)
	switch {
	case len(was)+len(is) == 0:
	case r.Values.expect(old):
		r.addf(ExpectationChanged, r.file, now.at, "a test expects something else: %s, before it was %s", several(is), several(was))
	default:
		r.addf(ExpectationChanged, r.file, now.at, "a value in a test has changed: %s, before it was %s", several(is), several(was))
	}
}

// rewritten compares the remaining assertions, and the rows of test tables.
func (r rewrite) rewritten(removed, added []*line) {
	before, after := slices.DeleteFunc(slices.Clone(removed), r.Values.silent), slices.DeleteFunc(slices.Clone(added), r.Values.silent)
	for i := range min(len(before), len(after)) {
		if r.turned(before[i], after[i]) {
			r.addf(ExpectationChanged, r.file, after[i].at, "a test compares with something else")
			return
		}
	}
	r.fewerTurns(removed, added)
	was, rows := r.remains(slices.DeleteFunc(slices.Clone(removed), func(l *line) bool { return l.loose }))
	is, _ := r.remains(added)
	var all []string
	at := 0
	for _, l := range added {
		_, values := r.Values.of(r.file, l)
		all = append(all, values...)
		if at == 0 && !l.idle && (l.exact || r.Values.Wants.match(l.code) || l.quoted) {
			at = l.at
		}
	}
	lost, news, lostRows := without(was, all), without(is, was), without(rows, all)
	switch {
	case at > 0 && len(lost) > 0 && len(news) > 0:
		r.addf(ExpectationChanged, r.file, at, "a test expects something else: %s, before it was %s", several(news), several(lost))
	case len(lostRows) > 0:
		r.addf(Loosened, r.file, removed[0].at, "values that a test covers are gone: %s", several(lostRows))
	}
}

// fewerTurns reports loops that cover only a part of what they covered before.
func (r rewrite) fewerTurns(removed, added []*line) {
	isNone := func(l *line) bool { return !r.Values.Loops.match(l.code) }
	before, after := slices.DeleteFunc(slices.Clone(removed), isNone), slices.DeleteFunc(slices.Clone(added), isNone)
	for i := range min(len(before), len(after)) {
		if r.Values.Narrows.match(after[i].bare) && !r.Values.Narrows.match(before[i].bare) {
			r.addf(Loosened, r.file, after[i].at, "a loop of a test covers less than before")
		}
	}
}

// remains returns the values of lines that state an expected result, and those in the
// rows of test tables.
func (r rewrite) remains(lines []*line) (expected, rows []string) {
	for _, l := range lines {
		form, values := r.Values.of(r.file, l)
		if r.Values.expect(l) {
			expected = append(expected, values...)
		}
		if l.quoted || printed(l) || r.Values.Row.match(form) {
			rows = append(rows, values...)
		}
	}
	return expected, rows
}

// turned reports whether two assertions compare the same value with something different.
func (r rewrite) turned(old, now *line) bool {
	if now.idle || old.loose && now.exact || r.file.renames(old.code, now.code) {
		return false
	}
	if left, right, ok := matched(old.parts); ok {
		other, with, is := matched(now.parts)
		return is && normal(left) == normal(other) && normal(right) != normal(with)
	}
	if r.Values.Wants.match(old.code) && r.Values.Wants.match(now.code) {
		return key(old.code) == key(now.code) && normal(old.code) != normal(now.code)
	}
	return comparesOtherwise(old.parts, now.parts)
}

// comparesOtherwise reports whether two comparisons of the same value have different
// operators or expected values. A comparison that only adds a condition does not count.
func comparesOtherwise(old, now parts) bool {
	left, operator, right, ok := compared(old)
	other, by, with, is := compared(now)
	if !ok || !is || normal(left) != normal(other) {
		return false
	}
	more := strings.HasPrefix(normal(with), normal(right)+" and ")
	return operator != by || normal(right) != normal(with) && !more
}

// renames reports whether two texts differ only in one name, which the whole file has
// given up for a new one.
func (f *file) renames(old, now string) bool {
	was, is := without(words(old), words(now)), without(words(now), words(old))
	if !f.whole || len(was) != 1 || len(is) != 1 || strings.Trim(was[0]+is[0], "0123456789") == "" {
		return false
	}
	if f.were == nil {
		f.were, f.are = f.tally(func(l *line) []string { return words(l.text) })
	}
	return f.were[is[0]] == 0 && f.are[was[0]] == 0
}
