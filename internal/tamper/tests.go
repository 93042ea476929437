package tamper

import (
	"path"
	"strings"

	"codeloops/internal/loop"
)

// A test is one declaration of a test, on one side of a patch.
type test struct {
	file *file
	name string
	at   int
	body []string // the changed lines up to the next test, as normal makes them
	size int      // assertions among them
}

// A move is a test that stands somewhere else now, or has another name.
type move struct{ from, to *test }

// tests reports what was taken out of the tests, and what keeps them from
// being run.
func (r *report) tests() {
	var removed, added []*test
	for _, f := range r.files {
		if f.readable() {
			out, in := f.declared('+'), f.declared('-')
			out, in = differ(out, in)
			removed, added = append(removed, out...), append(added, in...)
		}
	}
	r.match(removed, added)
	emptied := map[*file]int{}
	for _, t := range removed {
		if r.gone[t] {
			emptied[t.file]++
		}
	}
	for _, f := range r.files {
		if f.test && f.Status == loop.FileDeleted && !r.elsewhere(f, emptied[f]) {
			r.addf(TestFileRemoved, f, 0, "the file with tests is gone%s", with(emptied[f]))
			emptied[f] = -1
		}
	}
	for _, t := range removed {
		if r.gone[t] && emptied[t.file] > 0 {
			r.addf(TestRemoved, t.file, t.at, "the test %s is gone", Quote(t.name, maxName))
		}
	}
	r.skips(added)
}

func with(tests int) string {
	switch tests {
	case 0:
		return ""
	case 1:
		return ", with the one test in it"
	}
	return ", with the " + count(tests, "test") + " in it"
}

// declared returns the tests of one side: skip is the op of the lines that the
// other side alone has. A test counts whose declaration is changed or is
// context; its body are changed lines only.
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
			if l.declares != "" {
				current = nil
				if f.lang.mark == nil || marked > 0 {
					current = &test{file: f, name: l.declares, at: l.at}
					all = append(all, current)
				}
				marked = 0
				continue
			}
			marked--
			if current != nil && l.op != ' ' && strings.TrimSpace(l.text) != "" {
				current.body = append(current.body, normal(l.text))
				if l.asserts {
					current.size++
				}
			}
		}
	}
	return all
}

// differ leaves out of two lists the tests that both have.
func differ(a, b []*test) (onlyA, onlyB []*test) {
	names := map[string]int{}
	for _, t := range b {
		names[t.name]++
	}
	both := map[string]int{}
	for _, t := range a {
		if names[t.name] > 0 {
			names[t.name]--
			both[t.name]++
			continue
		}
		onlyA = append(onlyA, t)
	}
	for _, t := range b {
		if both[t.name] > 0 {
			both[t.name]--
			continue
		}
		onlyB = append(onlyB, t)
	}
	return onlyA, onlyB
}

// match finds out what became of the tests that were removed: those of the
// same name come first, then those with much the same body.
func (r *report) match(removed, added []*test) {
	r.gone, r.arrived, r.receives = map[*test]bool{}, map[*test]bool{}, map[*file]bool{}
	byName := map[string][]*test{}
	for _, now := range added {
		byName[now.name] = append(byName[now.name], now)
	}
	taken := map[*test]bool{}
	var lost []*test
	for _, old := range removed {
		if !r.pair(old, byName[old.name], taken, sameLanguage) {
			lost = append(lost, old)
		}
	}
	// So many at once are a rewrite of the whole suite, which is told anyhow.
	const most = 1 << 18
	for _, old := range lost {
		if len(lost)*len(added) > most || !r.pair(old, added, taken, renamed) {
			r.gone[old] = true
		}
	}
}

// pair notes where a test went, if it is one of the candidates.
func (r *report) pair(old *test, candidates []*test, taken map[*test]bool, alike func(a, b *test) bool) bool {
	for _, now := range candidates {
		if !taken[now] && alike(old, now) {
			taken[now] = true
			r.moved = append(r.moved, move{old, now})
			r.arrived[now], r.receives[now.file] = true, true
			return true
		}
	}
	return false
}

func sameLanguage(a, b *test) bool { return a.file.lang == b.file.lang }

// renamed reports whether one test took the place of another: it has most of
// the other's lines, or nothing but its declaration was changed.
func renamed(old, now *test) bool {
	const most = 0.6
	if old.file.lang != now.file.lang {
		return false
	}
	if len(old.body) == 0 && len(now.body) == 0 {
		const near = 4 // what stands above may have grown by a few lines
		return old.file == now.file && abs(old.at-now.at) <= near
	}
	return shared(old.body, now.body) >= most
}

// shared is the part, from 0 to 1, of a's lines that b has.
func shared(a, b []string) float64 {
	has := map[string]int{}
	for _, s := range b {
		has[s]++
	}
	n, all := 0, 0
	for _, s := range a {
		if s != "" {
			all++
		}
		if s != "" && has[s] > 0 {
			has[s]--
			n++
		}
	}
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}

// elsewhere reports whether another file of the change has what stood in a
// deleted one: all its tests, or in a language without known tests the lines.
func (r *report) elsewhere(f *file, gone int) bool {
	tests := 0
	for _, m := range r.moved {
		if m.from.file == f {
			tests++
		}
	}
	if gone+tests > 0 {
		return gone == 0
	}
	const most = 0.6
	old := f.texts("-")
	for _, other := range r.like(f) {
		if len(old) == 0 && path.Base(other.Path) == path.Base(f.Path) || shared(old, other.texts("+")) >= most {
			return true
		}
	}
	return false
}

// like returns the files that a deleted one may have become: those that end
// alike, and where there are many only those of the same name.
func (r *report) like(f *file) []*file {
	var alike, named []*file
	for _, other := range r.files {
		if other == f || other.Status == loop.FileDeleted || path.Ext(other.Path) != path.Ext(f.Path) {
			continue
		}
		alike = append(alike, other)
		if path.Base(other.Path) == path.Base(f.Path) {
			named = append(named, other)
		}
	}
	if many := 50; len(alike) > many {
		return named[:min(len(named), many)]
	}
	return alike
}

func (f *file) texts(ops string) (all []string) {
	f.each(ops, func(_ hunk, l line) { all = append(all, normal(l.text)) })
	return all
}
