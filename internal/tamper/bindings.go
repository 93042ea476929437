package tamper

import (
	"path"
	"strings"

	"codeloops/internal/loop"
)

// bound reports that what asserts in a file which was there before is the project's
// own now: taken from a file of it, or declared in this one.
func (r *report) bound(f *file) {
	if f.lang.bind == nil && f.lang.shadow == nil || f.Status == loop.FileAdded {
		return
	}
	foreign := r.foreign(f)
	f.each("+", func(l *line) {
		if r.had[normal(l.text)] || !f.tests(l) {
			return
		}
		if marker := f.lang.shadow.find(l.bare); marker != "" {
			r.addf(Loosened, f, l.at, "%s was added, which takes the place of what asserts", quoted(marker))
		}
		from := f.bound(l)
		if from == "" || !r.own(f, from) {
			return
		}
		for _, name := range f.lang.names(l) {
			was, known := foreign[name]
			if was || !known && f.lang.has("x.js") { // where a runner gives them
				r.addf(Loosened, f, l.at, "what asserts here comes from the project itself now: %s", Quote(from, maxName))
			}
		}
	})
}

// foreign tells of the names by which a file asserted whether they came from elsewhere.
func (r *report) foreign(f *file) map[string]bool {
	all := map[string]bool{}
	f.all(func(l *line) {
		from := f.bound(l)
		if l.op == '+' || from == "" {
			return
		}
		for _, name := range f.lang.names(l) {
			all[name] = all[name] || !r.own(f, from)
		}
	})
	return all
}

// bound returns where a line takes what asserts from, "" for nowhere.
func (f *file) bound(l *line) string {
	if m := f.lang.bind.groups(l.code); m != nil {
		return strings.Join(m[1:], "")
	}
	return ""
}

// names are those in a line by which one asserts.
func (l *language) names(x *line) []string {
	return l.called.expression().FindAllString(x.code, -1)
}

// own reports whether a file takes something from a part of the project itself.
func (r *report) own(f *file, from string) bool {
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
