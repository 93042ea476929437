package tamper

import (
	"path"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// positional reports whether the meaning of a line in a file depends on its section.
func (p places) positional(file string) bool { return p.Mixed.match(file) || isMakefile(file) }

// configurations reports changes to what watches over the project, and to the files that
// its tests compare with.
func configurations(r *report, f *file) {
	whole := f.Status != loop.FileAdded
	switch {
	case r.configures(f):
	case f.lang.has("x.sh"), f.lang == nil && path.Ext(f.Path) == "":
		script(r, f)
	case path.Base(f.Path) == "go.mod" && whole:
		leftOut(r, f)
	case path.Base(f.Path) == "go.mod" && path.Dir(f.Path) != ".":
		r.addf(RunnerChanged, f, 0, "a module was added: what is below it is not tested from above")
	case r.Golden.match(f.Path) && !f.test && whole && !r.tests.renamedFile(f):
		r.addf(GoldenChanged, f, 0, "what tests compare their results with was %s", f.fate())
	}
}

// configures inspects a file that says how the project is tested; it returns false for
// any other file.
func (r *report) configures(f *file) bool {
	switch {
	case r.CI.match(f.Path):
		if f.Status != loop.FileAdded {
			r.addf(CIChanged, f, 0, "the CI configuration was %s", f.fate())
		}
		hidden(r, f, false)
	case r.Runner.match(f.Path):
		r.configured(f, RunnerChanged, "the configuration of the tests")
	case r.Linter.match(f.Path):
		r.configured(f, ConfigChanged, "the configuration of a linter")
	case r.Stands.match(f.Path), ofTests(r, r.Vendored, f.Path), r.Programs.match(f.Path) && executable(f) && !r.Golden.match(f.Path):
		r.addf(RunnerChanged, f, 0, "a file that runs the tests, or that they use, was %s", f.fate())
	case r.Mixed.match(f.Path):
		r.sectioned(f)
		hidden(r, f, true)
	case isMakefile(f.Path):
		makefile(r, f)
		hidden(r, f, true)
	case r.Builds.match(f.Path):
		reduced(r, f, r.Tested, true, "what is built or run as a test was changed")
		hidden(r, f, true)
		forgiven(r, f)
	case parted(f.Path):
		reduced(r, f, r.Member, true, "a part of the project was taken out, with its tests")
	default:
		return false
	}
	return true
}

// ofTests reports whether a name in a text, the group of the expression that is not empty,
// is that of a library that tests use.
func ofTests(r *report, named *probe, text string) bool {
	return slices.ContainsFunc(named.expression().FindAllStringSubmatch(text, -1), func(m []string) bool {
		name := strings.Join(m[1:], "")
		again := strings.Contains(text, "=> "+name+" v") // the same module in Go, in another version
		return !again && r.Library.match(name)
	})
}

// swapped reports libraries of the tests that now come from elsewhere: a hollow one lets
// every assertion pass.
func swapped(r *report, f *file) {
	if !r.Sources.match(f.Path) {
		return
	}
	for l := range f.alone("+", "-") {
		if ofTests(r, r.Elsewhere, l.text) {
			r.addf(RunnerChanged, f, l.at, "a library that tests use is taken from elsewhere")
		}
	}
}

// configured reports a pure configuration file. A new one is harmless unless it overrides
// another, or selects the tests that are run.
func (r *report) configured(f *file, k Kind, what string) {
	if f.Status != loop.FileAdded {
		r.addf(k, f, 0, "%s was %s", what, f.fate())
		return
	}
	if !atRoot(f.Path) || r.overrules(f.Path) {
		r.addf(k, f, 0, "%s was added, which may override one that is there", what)
		return
	}
	for l := range f.each("+") {
		if k == RunnerChanged && r.narrowed(l.text) {
			r.addf(k, f, l.at, "%s was added, which says what is run", what)
		}
	}
}

// atRoot reports whether a configuration file applies to the whole project.
func atRoot(file string) bool {
	switch path.Dir(file) {
	case ".", ".cargo", ".config", ".mvn":
		return true
	}
	return false
}

// overrules reports whether a new configuration file overrides a section of an existing
// file beside it.
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
		return r.in.Read == nil
	}
	return false
}

// content reads a file of the work tree as the actor left it.
func (r *report) content(file string) (string, bool) {
	if r.in.Read == nil {
		return "", false
	}
	content, err := r.in.Read(file)
	return string(content), err == nil
}

// tired reports whether the work tree was searched so often that the change must be
// built to exhaust the search; callers then assume the worst.
func (r *report) tired() bool {
	r.looked++
	return r.looked > 1<<12
}

// narrowed reports whether a line selects the tests that are run, or hides a failure.
func (r *report) narrowed(text string) bool {
	if strings.Contains(text, "addopts") {
		return r.Options.match(text)
	}
	return r.Narrows.match(text) || r.Options.match(text) || r.Anywhere.match(text)
}

// instructions reports changes to files that agents read before they work: through them
// an actor can tell the critic what to say.
func instructions(r *report, f *file) {
	if r.agents.MatchString(f.Path) {
		r.addf(AgentsChanged, f, 0, "instructions for agents, perhaps for the critic too: the file was %s", f.fate())
	}
}

// script inspects a script. In one named like a check, every line that tests something
// matters.
func script(r *report, f *file) {
	checks := r.Checks.match(f.Path)
	hidden(r, f, !checks && !r.deciding(f.Path))
	if checks && !f.test && f.Status == loop.FileModified {
		reduced(r, f, r.Runs, false, "what this script runs was changed")
		lenient(r, f)
		for l, by := range enclosed(f, r.Opens, r.Closes) {
			if r.Runs.match(l.text) && !strings.HasPrefix(strings.TrimSpace(l.text), "#") {
				r.addf(RunnerChanged, f, by.at, "what this script runs was put under a condition, or into a function")
			}
		}
		for l := range f.alone("+", "-") {
			if m := r.Assigned.groups(l.text); m != nil {
				variable(r, f, l.at, m[1], m[2], false)
			}
		}
	}
}

// lenient reports a script that no longer fails when one of its commands does.
func lenient(r *report, f *file) {
	_, are := f.tally(aborts)
	for l := range f.each("-") {
		if slices.ContainsFunc(aborts(l), func(option string) bool { return are[option] == 0 }) {
			r.addf(FailureHidden, f, l.at, "%s was removed, which hides a failure", quoted(l.text))
		}
	}
}

// aborts returns the options in a line that make a shell script fail when a command does.
func aborts(l *line) (options []string) {
	words := strings.Fields(l.text)
	if len(words) == 0 || words[0] != "set" {
		return nil
	}
	for _, w := range words[1:] {
		switch {
		case w == "pipefail", w == "errexit":
			options = append(options, w)
		case strings.HasPrefix(w, "-") && strings.Contains(w, "e"):
			options = append(options, "errexit")
		}
	}
	return options
}

// hidden reports lines that swallow a failure. With strict, for files where this is
// common, only lines that check something count.
func hidden(r *report, f *file, strict bool) {
	for l := range f.alone("+", "-") {
		marker := hides(r, f, l, strict)
		if marker == "" && !strict && !r.CI.match(f.Path) && f.Status != loop.FileAdded {
			marker = strings.TrimSpace(r.Exits.find(l.text))
		}
		if marker != "" {
			r.addf(FailureHidden, f, l.at, "%s was added, which hides a failure", quoted(marker))
		}
	}
}

// hides returns the part of a line that hides a failure, "" for none.
func hides(r *report, f *file, l *line, strict bool) string {
	runs := r.Runs.match(l.text)
	marker := r.Ignores.find(l.text)
	if marker == "" && (runs || !strict && !r.Tidies.match(l.text)) {
		marker = r.Swallows.find(l.text)
	}
	if marker == "" && runs {
		marker = r.Pipes.find(l.text)
	}
	if marker == "" && runs && isMakefile(f.Path) && dashed(l.text) {
		marker = "-"
	}
	return strings.TrimSpace(marker)
}

// dashed reports whether a line of a recipe has the "-" that makes make ignore failures.
func dashed(text string) bool {
	recipe, ok := strings.CutPrefix(text, "\t")
	return ok && strings.HasPrefix(strings.TrimLeft(recipe, "\t @+"), "-")
}

// sectioned reports lines about checks in a file that also serves other purposes: those
// in a section about checks, or with a known key.
func (r *report) sectioned(f *file) {
	in := r.sections(f)
	b := f.bothSides(in)
	for l := range f.each("-+") {
		text := strings.TrimSpace(l.text)
		if text == "" || b.moved(l, in[l]) {
			continue
		}
		switch s := in[l]; {
		case r.RunnerPart.match(s.name) && r.ofRunner(f, l, s, b), manifest(f.Path) && r.Anywhere.match(text):
			r.addf(RunnerChanged, f, l.at, "the configuration of the tests was changed")
		case r.partOut(f, l, s):
			r.addf(RunnerChanged, f, l.at, "a part of the project was taken out, with its tests")
		case r.ofPart(f, l, b) && r.Tested.match(key(l.text)):
			r.addf(RunnerChanged, f, l.at, "what is run as the tests was changed")
		case r.LinterPart.match(s.name) && !s.fresh, r.Key.match(l.text), r.ofPart(f, l, b):
			r.addf(ConfigChanged, f, l.at, "the configuration of a linter was changed")
		}
	}
}

// manifest reports whether a file is a Maven or Gradle build.
func manifest(file string) bool {
	base := path.Base(file)
	return base == "pom.xml" || base == "gradle.properties" || strings.HasPrefix(base, "build.gradle")
}

// ofRunner reports whether a line in a section about the tests matters. In a new section
// only what narrows them does, and likewise in manifests, whose sections hold other
// things as well.
func (r *report) ofRunner(f *file, l *line, s section, b bothSides) bool {
	if path.Base(f.Path) == "Cargo.toml" {
		return r.Targets.match(l.text) || s.name == "test" && !s.fresh
	}
	if strings.HasPrefix(strings.TrimSpace(l.text), "<version>") {
		return false
	}
	if s.fresh || strings.HasPrefix(path.Base(f.Path), "build.gradle") && l.op == '+' && b.keys[key(l.text)] == 0 {
		return r.narrowed(l.text)
	}
	return true
}

// ofPart reports whether a line by itself removes or changes a section or a key of the
// checks. A new key is harmless unless the file already has it.
func (r *report) ofPart(f *file, l *line, b bothSides) bool {
	if !r.Part.match(l.text) {
		return false
	}
	k := key(l.text)
	hooks := path.Base(f.Path) == "package.json" && (strings.HasPrefix(k, `"pretest`) || strings.HasPrefix(k, `"posttest`))
	return l.op == '-' || b.keys[k] > 0 || hooks
}

// bothSides holds the keys and lines of the two sides of a file, whatever their order.
type bothSides struct {
	keys  map[string]int    // of the old side
	lines map[string]string // the ops of each item
}

func (f *file) bothSides(in map[*line]section) bothSides {
	b := bothSides{lines: map[string]string{}}
	b.keys, _ = f.tally(func(l *line) []string { return []string{key(l.text)} })
	for l := range f.each("-+") {
		b.lines[item(l.text, in[l])] += string(l.op)
	}
	return b
}

// moved reports whether both sides have the line.
func (b bothSides) moved(l *line, in section) bool {
	ops := b.lines[item(l.text, in)]
	return strings.Contains(ops, "-") && strings.Contains(ops, "+")
}

// item identifies a line of a section, with or without a comma at its end.
func item(text string, in section) string {
	return in.name + "\n" + strings.TrimSuffix(normal(text), ",")
}

// key returns the key of a line such as "key = value".
func key(text string) string {
	if i := strings.IndexAny(text, ":="); i >= 0 {
		text = text[:i]
	}
	return normal(text)
}

// renamedFile reports whether a deleted file came back with another path.
func (w *whereabouts) renamedFile(f *file) bool {
	if f.Status != loop.FileDeleted {
		return false
	}
	old := f.texts("-")
	return slices.ContainsFunc(w.like(f), func(other *file) bool {
		return other.Status == loop.FileAdded && shared(old, other.texts("+")) > 0.99
	})
}

// scripts reports changes to the files that the run's own checks run. In files that also
// serve other purposes, and in tests, only changes to existing lines count.
func scripts(r *report, f *file) {
	if !r.deciding(f.Path) {
		return
	}
	fine := r.Mixed.match(f.Path) || isMakefile(f.Path) || f.readable() && f.Status == loop.FileModified
	if at := firstLost(f); !fine {
		r.addf(CheckChanged, f, 0, "a check runs this file, which was %s", f.fate())
	} else if at > 0 && !r.Mixed.match(f.Path) {
		r.addf(CheckChanged, f, at, "a check runs this file, and lines of it were changed")
	}
}

// deciding reports whether a check runs a file, or its directory.
func (r *report) deciding(file string) bool {
	return slices.ContainsFunc(r.in.Deciding, func(p string) bool {
		return file == p || strings.HasPrefix(file, strings.TrimSuffix(p, "/")+"/")
	})
}

// firstLost returns the number of the first line that was removed and did not move
// within the file; 0 for none.
func firstLost(f *file) int {
	for l := range f.alone("-", "+") {
		if normal(l.text) != "" {
			return l.at
		}
	}
	return 0
}
