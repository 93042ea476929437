package tamper

import (
	"path"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// rewritten reports moved tests that assert less than before, or something else.
func rewritten(r *report) {
	for _, now := range r.tests.added {
		old := now.from
		if old == nil {
			continue
		}
		whole := len(now.body) > 0 || now.file.Status == loop.FileAdded // else what is in it may be context
		if lost := old.size - now.size; lost > 0 && len(old.body) > 0 && whole {
			r.addf(Loosened, now.file, now.at, "the test %s, which stood in %s, has %s fewer than before",
				Quote(now.declares, maxName), Quote(old.file.Path, maxPath), wording.Count(lost, "assertion"))
		}
		if old.file != now.file || old.declares != now.declares {
			rewrite{r, now.file}.compare(old.body, now.body)
		}
	}
}

// assertions reports files that assert less than before, and comparisons that became weaker.
func assertions(r *report, f *file) {
	if !f.readable() || f.Status == loop.FileDeleted {
		return
	}
	fewer(r, f)
	for _, h := range f.hunks {
		weaker(r, f, h)
	}
	unfailing(r, f)
	mocked(r, f)
	bound(r, f)
}

// mocked reports an existing test file that now replaces the whole module it tests,
// judging by the names of the two.
func mocked(r *report, f *file) {
	if f.Status == loop.FileAdded {
		return
	}
	partly := false
	for l := range f.all() {
		partly = partly || strings.Contains(l.code, "Actual(")
	}
	for l := range f.each("+") {
		if m := f.lang.Replace.groups(l.code); m != nil && !partly && stem(m[1]) == stem(f.Path) {
			r.addf(Loosened, f, l.at, "what is tested here was replaced")
		}
	}
}

// stem returns the base name of a file up to its first dot.
func stem(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	return name
}

// unfailing reports assertions that cannot fail.
func unfailing(r *report, f *file) {
	equality := false // the line above declares an equality method
	for l := range f.each("+") {
		text, idle := strings.ToLower(normal(l.code)), false
		if r.had[normal(l.text)] {
			continue
		}
		if text != "" && text != "{" {
			declared := strings.Contains(text, "def __eq__(") || strings.Contains(text, " equals(")
			idle = (equality || declared) && strings.Contains(text, "return true")
			equality = declared
		}
		if idle || l.idle && f.tests(l) {
			r.addf(Loosened, f, l.at, "an assertion was added that cannot fail")
		}
	}
}

// fewer reports a file with fewer assertions. Those of removed and moved tests are
// reported with the tests, and assertions in a new test do not make up for those that
// an old test lost.
func fewer(r *report, f *file) {
	ours := map[string]int{} // added to this file, by text
	gone, news, first := 0, 0, 0
	for l := range f.each("+") {
		if l.asserts && l.outside() {
			ours[normal(l.code)]++
			news++
		}
	}
	for l := range f.each("-") {
		if !l.asserts || !l.outside() {
			continue
		}
		key := normal(l.code)
		switch {
		case take(ours, key): // it moved within the file
			r.asserted[key]--
			news--
			continue
		case take(r.asserted, key):
			continue
		}
		if gone++; first == 0 {
			first = l.at
		}
	}
	if gone > news {
		r.addf(Loosened, f, 0, "%s fewer than before (%d gone, the first from line %d of the old file; %d new)",
			wording.Count(gone-news, "assertion"), gone, first, news)
	}
}

// weaker reports lines that replaced others and have fewer exact comparisons and more
// loose ones.
func weaker(r *report, f *file, h hunk) {
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
		if !f.tests(l) {
			continue
		}
		by := 1
		if l.op == '-' {
			by = -1
			kept[normal(l.code)] = true
			// The removed test is reported on its own.
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

// bound reports an existing test file whose assertion functions now come from the
// project itself: imported from one of its files, or declared in this one.
func bound(r *report, f *file) {
	if f.lang.Bind == nil && f.lang.Shadow == nil || f.Status == loop.FileAdded {
		return
	}
	known := foreign(r, f)
	for l := range f.each("+") {
		if r.had[normal(l.text)] || !f.tests(l) {
			continue
		}
		if marker := f.lang.Shadow.find(l.bare); marker != "" {
			r.addf(Loosened, f, l.at, "%s was added, which replaces what asserts", quoted(marker))
		}
		from := f.lang.origin(l)
		if from == "" || !own(r, f, from) {
			continue
		}
		for _, name := range f.lang.names(l) {
			was, there := known[name]
			if was || !there && f.lang.has("x.js") { // where test runners provide them as globals
				r.addf(Loosened, f, l.at, "what asserts here now comes from the project itself: %s", Quote(from, maxName))
			}
		}
	}
}

// foreign returns the assertion functions that a file used before the change, and
// whether each came from outside the project.
func foreign(r *report, f *file) map[string]bool {
	all := map[string]bool{}
	for l := range f.all() {
		from := f.lang.origin(l)
		if l.op == '+' || from == "" {
			continue
		}
		for _, name := range f.lang.names(l) {
			all[name] = all[name] || !own(r, f, from)
		}
	}
	return all
}

// origin returns where a line imports assertion functions from, "" when it does not.
func (l *language) origin(x *line) string {
	if m := l.Bind.groups(x.code); m != nil {
		return strings.Join(m[1:], "")
	}
	return ""
}

// names returns the assertion functions named in a line.
func (l *language) names(x *line) []string {
	return l.Called.expression().FindAllString(x.code, -1)
}

// own reports whether an import in a file refers to the project itself.
func own(r *report, f *file, from string) bool {
	switch {
	case strings.HasPrefix(from, "."), r.tired():
		return true
	case f.lang.has("x.go"):
		mod, _ := r.content("go.mod")
		_, module, _ := strings.Cut("\n"+mod, "\nmodule ")
		module, _, _ = strings.Cut(module, "\n")
		return module != "" && strings.HasPrefix(from+"/", strings.TrimSpace(module)+"/")
	case f.lang.has("x.py"):
		file := strings.ReplaceAll(from, ".", "/")
		for _, dir := range []string{".", "src", path.Dir(f.Path)} {
			_, module := r.content(path.Join(dir, file+".py"))
			_, pack := r.content(path.Join(dir, file, "__init__.py"))
			if module || pack {
				return true
			}
		}
	}
	return false
}
