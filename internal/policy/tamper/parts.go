package tamper

import (
	"path"
	"slices"
	"strings"
)

// detached reports Rust modules with tests that no file declares any more.
func detached(r *report) {
	still := map[string]bool{}
	for _, f := range r.files {
		for l := range f.each("+") {
			still[f.module(l)] = true
		}
	}
	for _, f := range r.files {
		for l := range f.each("-") {
			if name := f.module(l); name != "" && !still[name] && hasTests(r, f, name) {
				r.addf(TestRemoved, f, l.at, "the module %s is no longer part of the program, nor are its tests", Quote(name, maxName))
			}
		}
	}
}

// module returns the name of a module that a line declares, "" for none.
func (f *file) module(l *line) string {
	if !f.readable() {
		return ""
	}
	if m := f.lang.Module.groups(l.code); m != nil {
		return m[1]
	}
	return ""
}

// hasTests reports whether the file of a module is there, with tests in it.
func hasTests(r *report, f *file, module string) bool {
	if r.tired() {
		return true
	}
	dir, base := path.Split(f.Path)
	for _, file := range []string{module + ".rs", module + "/mod.rs", stem(base) + "/" + module + ".rs"} {
		content, _ := r.content(dir + file)
		for l := range strings.Lines(content) {
			if f.lang.Mark.match(l) {
				return true
			}
		}
	}
	return false
}

// reduced reports removed or changed lines that an expression matches. With grow, lines may
// gain words.
func reduced(r *report, f *file, about *probe, grow bool, what string) {
	for l := range f.alone("-", "+") {
		if key := normal(l.text); about.match(l.text) && !strings.HasPrefix(key, "#") && !strings.HasPrefix(key, "//") && !(grow && grown(r, f, l)) {
			r.addf(RunnerChanged, f, l.at, "%s", what)
		}
	}
}

// grown reports whether a removed line was replaced by one that has all of its words, and
// selects no less.
func grown(r *report, f *file, old *line) bool {
	if f.Insertions*f.Deletions > 1<<20 { // too many to compare each with each
		return false
	}
	for l := range f.each("+") {
		narrower := strings.Count(l.text, "*") < strings.Count(old.text, "*") || r.narrowed(l.text) && !r.narrowed(old.text)
		if !narrower && len(without(words(old.text), words(l.text))) == 0 {
			return true
		}
	}
	return false
}

// partOut reports whether a line removes a part of the project, with its tests, from a
// Cargo or npm workspace or from the modules of a Maven project.
func (r *report) partOut(f *file, l *line, in section) bool {
	switch {
	case strings.Contains(l.text, "<module>"):
		return l.op == '-'
	case in.name == "workspace" && l.op == '+':
		return !in.fresh && slices.Contains([]string{"exclude", "default-members"}, key(l.text))
	case in.name == "workspace":
		return r.Member.match(l.text) && !grown(r, f, l)
	}
	return strings.HasPrefix(in.name, "workspaces") && l.op == '-' && !grown(r, f, l)
}

// parted reports whether a file lists the parts of a project, and nothing else that
// matters here.
func parted(file string) bool {
	return slices.Contains([]string{"settings.gradle", "settings.gradle.kts", "pnpm-workspace.yaml", "go.work", "lerna.json"}, path.Base(file))
}

// leftOut reports directories that a Go module now leaves out, with their tests.
func leftOut(r *report, f *file) {
	for l := range f.alone("+", "-") {
		if r.Ignored.match(l.text) && !strings.Contains(l.text, "node_modules") && strings.TrimSpace(l.text) != "ignore (" {
			r.addf(RunnerChanged, f, l.at, "a directory was taken out of the module, with its tests")
		}
	}
}

// forgiven reports properties that let a test of CMake fail. In a new test they may be right.
func forgiven(r *report, f *file) {
	var news []string
	for l := range f.alone("+", "-") {
		if m := r.Registers.groups(l.text); m != nil {
			news = append(news, m[1])
		}
	}
	call := ""
	for l := range f.all() {
		if l.op == '-' {
			continue
		}
		if len(call) > 1<<10 || strings.Contains(l.text, "(") {
			call = ""
		}
		call += " " + normal(l.text)
		if m := r.Forgives.groups(call); m != nil && l.op == '+' && len(without(strings.Fields(m[1]), news)) > 0 {
			r.addf(RunnerChanged, f, l.at, "a test may fail now, or is not run")
		}
		if strings.Contains(l.text, ")") {
			call = ""
		}
	}
}
