package tamper

import (
	"path"
	"strings"

	"codeloops/internal/loop"
)

// wanted reports whether it matters of a file where in it a line stands.
func (p places) wanted(file string) bool { return p.mixed.match(file) || isMakefile(file) }

// settings reports changes of what watches over the project, and of what its
// tests compare with.
func (r *report) settings() {
	for _, f := range r.files {
		if r.configures(f) {
			continue
		}
		whole := f.Status != loop.FileAdded
		switch {
		case f.lang.has("x.sh"), f.lang == nil && path.Ext(f.Path) == "":
			r.script(f)
		case path.Base(f.Path) == "go.mod" && !whole && path.Dir(f.Path) != ".":
			r.addf(RunnerChanged, f, 0, "a module was added: what stands below it is not tested from above")
		case r.golden.match(f.Path) && !f.test && whole && !r.renamedFile(f):
			r.addf(GoldenChanged, f, 0, "what tests compare with was %s", f.fate())
		}
	}
}

// configures looks into a file that says how the project is tested, if it is one.
func (r *report) configures(f *file) bool {
	switch {
	case r.ci.match(f.Path):
		if f.Status != loop.FileAdded {
			r.addf(CIChanged, f, 0, "the CI configuration was %s", f.fate())
		}
		r.hidden(f, false)
	case r.runner.match(f.Path):
		r.configured(f, RunnerChanged, "the configuration of the tests")
	case r.linter.match(f.Path):
		r.configured(f, ConfigChanged, "the configuration of a linter")
	case r.stands.match(f.Path):
		r.addf(RunnerChanged, f, 0, "what tests are run by, or make use of, was %s here", f.fate())
	case r.mixed.match(f.Path):
		r.sectioned(f)
		r.hidden(f, true)
	case isMakefile(f.Path):
		r.makefile(f)
		r.hidden(f, true)
	case r.builds.match(f.Path):
		r.lost(f, r.tested, true, "what is built or run as a test was changed")
		r.hidden(f, true)
	case parted(f.Path):
		r.lost(f, r.member, true, "a part of the project was taken out, with its tests")
	default:
		return false
	}
	return true
}

// configured reports a file that is nothing but configuration. A new one takes
// nothing away unless it overrules another, or says which tests are run.
func (r *report) configured(f *file, k Kind, what string) {
	if f.Status != loop.FileAdded {
		r.addf(k, f, 0, "%s was %s", what, f.fate())
		return
	}
	if !atRoot(f.Path) || r.overrules(f.Path) {
		r.addf(k, f, 0, "%s was added, which may overrule one that is there", what)
		return
	}
	f.each("+", func(l *line) {
		if k == RunnerChanged && r.narrowed(l.text) {
			r.addf(k, f, l.at, "%s was added, which says what is run", what)
		}
	})
}

// atRoot reports whether a configuration is the project's own, and not that of a
// part of it.
func atRoot(file string) bool {
	switch path.Dir(file) {
	case ".", ".cargo", ".config", ".mvn":
		return true
	}
	return false
}

// overrules reports whether a new configuration has the same to say as a section of
// a file beside it.
func (r *report) overrules(file string) bool {
	beside := []string{"pyproject.toml", "setup.cfg", "tox.ini", "package.json", "vite.config.ts", "vite.config.js", "vite.config.mjs", "Cargo.toml"}
	tools := strings.FieldsSeq("pytest vitest jest mocha karma ava nyc c8 ruff mypy flake8 pylint coverage eslint stylelint clippy nextest pyright")
	for tool := range tools {
		if !strings.Contains(path.Base(file), tool) && !(tool == "nyc" && strings.Contains(file, ".nycrc")) {
			continue
		}
		for _, other := range beside {
			content, ok := r.content(path.Join(path.Dir(file), other))
			switch {
			case !ok:
			case strings.Contains(content, "["+tool), strings.Contains(content, "[tool."+tool), strings.Contains(content, "[tool:"+tool),
				strings.Contains(content, `"`+tool+`":`) && !strings.Contains(content, `"`+tool+`": "`), strings.Contains(content, `"`+tool+`Config":`),
				tool == "vitest" && strings.Contains(content, "test:"):
				return true
			}
		}
		return r.in.Files == nil
	}
	return false
}

// content returns a file of the work tree as the actor left it.
func (r *report) content(file string) (string, bool) {
	if r.in.Files == nil {
		return "", false
	}
	content, err := r.in.Files.Read(file)
	return string(content), err == nil
}

// tired reports whether the work tree was searched so often that whoever wrote the
// change must have meant it; the worst is then taken to be so.
func (r *report) tired() bool {
	r.looked++
	return r.looked > 1<<12
}

// narrowed reports whether a line says which tests are run, or what becomes of a
// failure.
func (r *report) narrowed(text string) bool {
	if strings.Contains(text, "addopts") {
		return r.options.match(text)
	}
	return r.narrows.match(text) || r.options.match(text) || r.anywhere.match(text)
}

// instructions reports changes of what agents read before they work, by which an
// actor can tell the critic what to say.
func (r *report) instructions() {
	for _, f := range r.files {
		if r.agents.MatchString(f.Path) {
			r.addf(AgentsChanged, f, 0, "what agents are told, the critic perhaps among them, was %s", f.fate())
		}
	}
}

// script reports what happens to a script. In one that is called like a check, every
// line that tests something matters.
func (r *report) script(f *file) {
	checks := r.checks.match(f.Path)
	r.hidden(f, !checks && !r.deciding(f.Path))
	if checks && !f.test && f.Status == loop.FileModified {
		r.lost(f, r.runs, false, "what this script runs was changed")
	}
}

// hidden reports lines that swallow a failure. In files where that is common,
// only those that check something.
func (r *report) hidden(f *file, strict bool) {
	before := counted(f.texts("-"))
	f.each("+", func(l *line) {
		if key := normal(l.text); before[key] > 0 {
			before[key]--
			return
		}
		marker := r.hides(f, l, strict)
		if marker == "" && !strict && !r.ci.match(f.Path) && f.Status != loop.FileAdded {
			marker = strings.TrimSpace(r.exits.find(l.text))
		}
		if marker != "" {
			r.addf(FailureHidden, f, l.at, "%s was added, which hides a failure", quoted(marker))
		}
	})
}

// hides returns what in a line hides a failure, "" for nothing.
func (r *report) hides(f *file, l *line, strict bool) string {
	runs := r.runs.match(l.text)
	marker := r.ignores.find(l.text)
	if marker == "" && (runs || !strict && !r.tidies.match(l.text)) {
		marker = r.swallows.find(l.text)
	}
	if marker == "" && runs {
		marker = r.pipes.find(l.text)
	}
	if marker == "" && runs && isMakefile(f.Path) && dashed(l.text) {
		marker = "-"
	}
	return strings.TrimSpace(marker)
}

// dashed reports whether a line of a recipe is run whatever becomes of it.
func dashed(text string) bool {
	recipe, ok := strings.CutPrefix(text, "\t")
	return ok && strings.HasPrefix(strings.TrimLeft(recipe, "\t @+"), "-")
}

// sectioned reports lines that are about checks in a file that is about much else:
// those in a section of their own, or with a key that is known.
func (r *report) sectioned(f *file) {
	in := r.sections(f)
	b := f.bothSides(in)
	f.each("-+", func(l *line) {
		text := strings.TrimSpace(l.text)
		if text == "" || b.moved(l, in[l]) {
			return
		}
		switch s := in[l]; {
		case r.runnerPart.match(s.name) && r.ofRunner(f, l, s, b), manifest(f.Path) && r.anywhere.match(text):
			r.addf(RunnerChanged, f, l.at, "the configuration of the tests was changed")
		case r.partOut(f, l, s):
			r.addf(RunnerChanged, f, l.at, "a part of the project was taken out, with its tests")
		case r.ofPart(f, l, b) && r.tested.match(key(l.text)):
			r.addf(RunnerChanged, f, l.at, "what is run as the tests was changed")
		case r.linterPart.match(s.name) && !s.fresh, r.key.match(l.text), r.ofPart(f, l, b):
			r.addf(ConfigChanged, f, l.at, "the configuration of a linter was changed")
		}
	})
}

// manifest reports whether a file is a build of Maven or Gradle.
func manifest(file string) bool {
	base := path.Base(file)
	return base == "pom.xml" || base == "gradle.properties" || strings.HasPrefix(base, "build.gradle")
}

// ofRunner reports whether a line in a section that is about the tests matters. In a
// new section only what narrows them does; so it is in manifests, where such a
// section has other things in it.
func (r *report) ofRunner(f *file, l *line, s section, b bothSides) bool {
	if path.Base(f.Path) == "Cargo.toml" {
		return r.targets.match(l.text) || s.name == "test" && !s.fresh
	}
	if strings.HasPrefix(strings.TrimSpace(l.text), "<version>") {
		return false
	}
	if s.fresh || strings.HasPrefix(path.Base(f.Path), "build.gradle") && l.op == '+' && !b.keys[key(l.text)] {
		return r.narrowed(l.text)
	}
	return true
}

// ofPart reports whether a line by itself takes a section or a key of checks away,
// or changes it. One that is new takes nothing away, unless it is there already.
func (r *report) ofPart(f *file, l *line, b bothSides) bool {
	if !r.part.match(l.text) {
		return false
	}
	k := key(l.text)
	hooks := path.Base(f.Path) == "package.json" && (strings.HasPrefix(k, `"pretest`) || strings.HasPrefix(k, `"posttest`))
	return l.op == '-' || b.keys[k] || hooks
}

// bothSides is what stands on either side of a file, whatever its order.
type bothSides struct {
	keys  map[string]bool // that the old side has
	lines map[string]string
}

func (f *file) bothSides(in map[*line]section) bothSides {
	b := bothSides{map[string]bool{}, map[string]string{}}
	f.all(func(l *line) {
		if l.op != '+' {
			b.keys[key(l.text)] = true
		}
		if l.op != ' ' {
			b.lines[item(l.text, in[l])] += string(l.op)
		}
	})
	return b
}

// moved reports whether both sides have the line.
func (b bothSides) moved(l *line, in section) bool {
	ops := b.lines[item(l.text, in)]
	return strings.Contains(ops, "-") && strings.Contains(ops, "+")
}

// item is a line of a section, whether or not another one follows in a list.
func item(text string, in section) string {
	return in.name + "\n" + strings.TrimSuffix(normal(text), ",")
}

// key is what stands before the sign that a value follows.
func key(text string) string {
	if i := strings.IndexAny(text, ":="); i >= 0 {
		text = text[:i]
	}
	return normal(text)
}

// renamedFile reports whether a deleted file came back under another directory.
func (r *report) renamedFile(f *file) bool {
	if f.Status != loop.FileDeleted {
		return false
	}
	old := f.texts("-")
	for _, other := range r.like(f) {
		if other.Status == loop.FileAdded && shared(old, other.texts("+")) > 0.99 {
			return true
		}
	}
	return false
}
