package tamper

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A test is the declaration of a test on one side of a patch.
type test struct {
	*line // its declaration
	file  *file
	body  []*line // the changed lines up to the next test
	size  int     // the number of assertions in the body

	alone bool  // the other side has no test of this name
	gone  bool  // it was removed for good
	from  *test // what it was before it was moved or renamed
}

// whereabouts say where the tests of a change went.
type whereabouts struct {
	*report
	removed, added []*test

	byEnd, byBase map[string][]*file // see like
	tried, work   int                // the effort so far for moved files, and that left for moved tests
}

// trace finds out where the tests went.
func trace(r *report) *whereabouts {
	w := &whereabouts{report: r, byEnd: map[string][]*file{}, byBase: map[string][]*file{}}
	for _, f := range r.files {
		if f.Status != loop.FileDeleted {
			end, base := path.Ext(f.Path), path.Base(f.Path)
			w.byEnd[end], w.byBase[base] = append(w.byEnd[end], f), append(w.byBase[base], f)
		}
		if f.readable() {
			old, now := f.declared('+'), f.declared('-')
			w.removed, w.added = append(w.removed, beyond(old, now)...), append(w.added, beyond(now, old)...)
		}
	}
	w.match(w.removed, w.added)
	return w
}

// lostTests reports removed tests and files of tests.
func lostTests(r *report) {
	emptied := map[*file]int{}
	for _, t := range r.tests.removed {
		if t.gone {
			emptied[t.file]++
		}
	}
	for _, f := range r.files {
		if f.readable() {
			twice(r, f)
		}
		if !f.test || f.Status != loop.FileDeleted || emptied[f] == 0 && !f.apart() {
			continue
		}
		if there, but := r.tests.elsewhere(f, emptied[f]); !there || but != "" {
			r.addf(TestFileRemoved, f, 0, "the file with tests is gone%s%s", with(emptied[f]), but)
			emptied[f] = -1
		}
	}
	for _, t := range r.tests.removed {
		if t.gone && emptied[t.file] > 0 {
			r.addf(TestRemoved, t.file, t.at, "the test %s is gone", Quote(t.declares, maxName))
		}
	}
}

// apart reports whether a file with tests holds nothing else; in Rust, tests may be in the
// file that they test.
func (f *file) apart() bool { return !f.lang.has("x.rs") || strings.Contains("/"+f.Path, "/tests/") }

func with(tests int) string {
	switch tests {
	case 0:
		return ""
	case 1:
		return ", with the one test in it"
	}
	return ", with the " + wording.Count(tests, "test") + " in it"
}

// declared returns the tests of one side; skip is the op of the lines that only the other
// side has. A declaration may be an unchanged line, but the body is only changed lines.
func (f *file) declared(skip byte) []*test {
	var all []*test
	for _, h := range f.hunks {
		var current *test
		marked := 0 // lines for which a mark still counts
		for _, l := range h.lines {
			if l.op == skip {
				continue
			}
			if l.marks {
				marked = 8
			}
			marked--
			if l.declares != "" {
				current = nil
				if (f.lang.Mark == nil || marked >= 0) && !f.lang.unreached(l) {
					current = &test{line: l, file: f}
					all = append(all, current)
				}
				marked = 0
			}
			if current == nil || l.op == ' ' {
				continue
			}
			l.of = current
			if l.declares == "" && strings.TrimSpace(l.text) != "" {
				current.body = append(current.body, l)
			}
			if l.asserts {
				current.size++
			}
		}
	}
	return all
}

// unreached reports whether a Python test is inside a function, where no runner finds it.
func (l *language) unreached(x *line) bool {
	return l.has("x.py") && x.in != nil && !x.in.class
}

// beyond returns the tests that the other side of a file does not have.
func beyond(tests, others []*test) (alone []*test) {
	names := map[string]int{}
	for _, t := range others {
		names[t.declares]++
	}
	for _, t := range tests {
		if t.alone = !take(names, t.declares); t.alone {
			alone = append(alone, t)
		}
	}
	return alone
}

// fresh reports whether a line declares a new test.
func (l *line) fresh() bool {
	return l.op != '-' && l.of != nil && l.of.line == l && l.of.alone && l.of.from == nil
}

// outside reports whether a changed line is neither in a removed test nor in a new one.
func (l *line) outside() bool { return l.of == nil || !l.of.alone || l.of.op == ' ' }

// match looks for the removed tests among the added ones, first by name, then by body.
func (w *whereabouts) match(removed, added []*test) {
	byName := map[string][]*test{}
	for _, now := range added {
		byName[now.declares] = append(byName[now.declares], now)
	}
	var lost []*test
	for _, old := range removed {
		if !w.pair(old, byName[old.declares], alike) {
			lost = append(lost, old)
		}
	}
	// So many at once are a rewrite of the whole suite, which is reported anyway.
	const most = 1 << 18
	w.work = 1 << 22
	for _, old := range lost {
		old.gone = len(lost)*len(added) > most || !w.pair(old, added, w.renamed)
	}
}

// pair records where a test went, if that is one of the candidates.
func (w *whereabouts) pair(old *test, candidates []*test, same func(a, b *test) bool) bool {
	for _, now := range candidates {
		if now.from == nil && same(old, now) {
			now.from, now.file.receives = old, true
			return true
		}
	}
	return false
}

// alike reports whether one test can replace another: it is run wherever the other was.
func alike(a, b *test) bool {
	return a.file.lang == b.file.lang && a.file.lang.lost(a.file.Path, b.file.Path) == ""
}

// renamed reports whether one test replaced another: it has most of the other's lines, or
// only the declaration was changed.
func (w *whereabouts) renamed(old, now *test) bool {
	const most = 0.6
	if !alike(old, now) || method(now) && !method(old) && !w.suites() {
		return false
	}
	if len(old.body) == 0 && len(now.body) == 0 {
		const near = 4 // lines may have been added above
		return old.file == now.file && max(old.at-now.at, now.at-old.at) <= near
	}
	if w.work -= len(old.body) + len(now.body); w.work < 0 {
		return false
	}
	if shared(normals(old.body), normals(now.body)) >= most {
		return true
	}
	const nearly = 0.7 // of the words, if the lines were rewritten
	return old.file == now.file && len(old.body)+len(now.body) < 100 && shared(vocabulary(old.body), vocabulary(now.body)) >= nearly
}

func vocabulary(lines []*line) (all []string) {
	for _, l := range lines {
		all = append(all, words(l.text)...)
	}
	return all
}

// method reports whether a test is a method of a suite, which some test has to run.
func method(t *test) bool { return strings.HasPrefix(t.declares, "(") }

// suites reports whether the run of a suite was added.
func (w *whereabouts) suites() bool {
	for _, f := range w.files {
		for l := range f.each("+") {
			if strings.Contains(l.bare, "suite.Run(") {
				return true
			}
		}
	}
	return false
}

func normals(lines []*line) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = normal(l.text)
	}
	return all
}

// shared returns the share, from 0 to 1, of a's texts that b has as well.
func shared(a, b []string) float64 {
	has, n, all := counted(b), 0, 0
	for _, s := range a {
		if s == "" {
			continue
		}
		if all++; take(has, s) {
			n++
		}
	}
	return float64(n) / float64(max(all, 1))
}

// twice reports Python tests with the same name in the same scope, of which the second
// replaces the first.
func twice(r *report, f *file) {
	if !f.lang.has("x.py") || f.Status == loop.FileAdded {
		return
	}
	declaration := func(l *line) string {
		return strings.Join([]string{l.in.name(), strconv.Itoa(wording.Indent(l.text)), l.declares}, " ")
	}
	before, now := f.tally(func(l *line) []string {
		if l.declares == "" {
			return nil
		}
		return []string{declaration(l)}
	})
	for l := range f.each("+") {
		if d := declaration(l); l.declares != "" && now[d] > max(1, before[d]) {
			r.addf(TestRemoved, f, l.at, "the test %s is declared again and replaces the first one", Quote(l.declares, maxName))
		}
	}
}

// elsewhere reports whether another file of the change holds what a deleted file held, all its
// tests or most of its lines. but says what keeps a runner from the tests there.
func (w *whereabouts) elsewhere(f *file, gone int) (there bool, but string) {
	moved := slices.ContainsFunc(w.added, func(t *test) bool { return t.from != nil && t.from.file == f })
	if moved && gone == 0 {
		return true, ""
	}
	to, why := w.resembles(f), ""
	switch {
	case to == nil:
		return false, ""
	case !to.test:
		why = "where no test runner looks"
	case f.lang != nil:
		why = f.lang.lost(f.Path, to.Path)
	}
	if why == "" {
		return gone == 0, ""
	}
	return true, "; its content is in " + Quote(to.Path, maxPath) + ", " + why
}

// resembles returns a file that has most of the lines of a deleted one.
func (w *whereabouts) resembles(f *file) *file {
	const most = 0.6
	old := f.texts("-")
	for _, other := range w.like(f) {
		if len(old) == 0 && path.Base(other.Path) == path.Base(f.Path) || shared(old, other.texts("+")) >= most {
			return other
		}
	}
	return nil
}

// like returns the files that a deleted one may have become: those with the same
// extension or, if there are many, the same base name.
func (w *whereabouts) like(f *file) []*file {
	const many, tries = 50, 1 << 13
	all := w.byEnd[path.Ext(f.Path)]
	if w.tried += len(all); len(all) > many || w.tried > tries {
		all = w.byBase[path.Base(f.Path)]
	}
	return all[:min(len(all), many)]
}
