package tamper

import (
	"path"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

func isMakefile(file string) bool {
	base := path.Base(file)
	return slices.Contains([]string{"Makefile", "makefile", "GNUmakefile", "BSDmakefile", "justfile", "Justfile", ".justfile"}, base) || path.Ext(base) == ".mk"
}

// makefile reports changes to targets that check something, and to what affects all
// recipes.
func makefile(r *report, f *file) {
	if f.Status == loop.FileAdded && r.standsIn(f.Path) {
		r.addf(RunnerChanged, f, 0, "a makefile was added, which is read instead of another one")
	}
	recipesIn(r, f)
	redeclared(r, f)
	for l, by := range enclosed(f, r.Defines, r.Defined) {
		if name := r.checking(r.targetsOf(l.text)); name != "" {
			r.addf(CIChanged, f, by.at, "the target %s was put under a condition, or into a definition", Quote(name, maxName))
		}
	}
	variables(r, f)
	phony(r, f)
}

// standsIn reports whether make reads a new makefile instead of an existing one.
func (r *report) standsIn(file string) bool {
	for _, name := range map[string][]string{
		"BSDmakefile": {"GNUmakefile", "makefile", "Makefile"}, "GNUmakefile": {"makefile", "Makefile"}, "makefile": {"Makefile"}, "justfile": {"Justfile", ".justfile"},
	}[path.Base(file)] {
		if _, there := r.content(path.Join(path.Dir(file), name)); there || r.in.Read == nil {
			return true
		}
	}
	return false
}

// recipesIn reports changes in the recipes of targets that check something. A new target
// is harmless, except in a file that others include.
func recipesIn(r *report, f *file) {
	included := path.Ext(f.Path) == ".mk"
	for _, h := range f.hunks {
		current, known := r.targetsOf(h.heading), true
		reported := ""
		for _, l := range h.lines {
			if names := r.targetsOf(l.text); names != nil {
				current, known = names, l.op != '+' || included
			} else if !ofRecipe(l.text) {
				current = nil
			}
			if l.op == ' ' || strings.TrimSpace(l.text) == "" || !known {
				continue
			}
			if name := r.checking(current); name != "" && name != reported {
				reported = name
				r.addf(CIChanged, f, l.at, "the target %s was changed", Quote(name, maxName))
			}
		}
	}
}

// targetsOf returns the targets that a line declares, nil for none.
func (p recipes) targetsOf(text string) []string {
	m := p.Target.groups(text)
	if m == nil || strings.HasPrefix(text, "\t") || strings.HasPrefix(m[1], ".") {
		return nil
	}
	return strings.Fields(m[1])
}

// ofRecipe reports whether a line may be in a recipe.
func ofRecipe(text string) bool {
	return strings.TrimSpace(text) == "" || strings.IndexByte("\t #", text[0]) >= 0 || strings.HasPrefix(text, "if") || strings.HasPrefix(text, "else") || strings.HasPrefix(text, "endif")
}

// checking returns the first of some targets that checks something.
func (p recipes) checking(targets []string) string {
	if i := slices.IndexFunc(targets, p.Check.match); i >= 0 {
		return targets[i]
	}
	return ""
}

// redeclared reports existing targets that are declared once more: make uses the last
// recipe.
func redeclared(r *report, f *file) {
	if f.Status == loop.FileAdded {
		return
	}
	were, are := f.tally(func(l *line) []string { return r.targetsOf(l.text) })
	for l := range f.each("+") {
		for _, name := range r.targetsOf(l.text) {
			if were[name] > 0 && are[name] > were[name] && r.Check.match(name) {
				r.addf(CIChanged, f, l.at, "the target %s is declared again, and the last recipe counts", Quote(name, maxName))
			}
		}
	}
}

// variables reports includes, special targets and variables that affect how recipes and
// tests are run.
func variables(r *report, f *file) {
	were, _ := f.tally(func(l *line) []string {
		if m := r.Assigned.groups(l.text); m != nil {
			return m[1:2]
		}
		return nil
	})
	for l := range f.each("+") {
		text := strings.TrimSpace(l.text)
		if strings.HasPrefix(l.text, "\t") {
			continue
		}
		switch word, _, _ := strings.Cut(text, " "); word {
		case "include", "-include", "sinclude", "import", "load", "-load":
			r.addf(RunnerChanged, f, l.at, "another file is included, whose targets may replace those here")
			continue
		}
		for _, target := range []string{".IGNORE", ".ONESHELL", ".DEFAULT"} {
			if rest, ok := strings.CutPrefix(text, target); ok && strings.HasPrefix(strings.TrimSpace(rest), ":") {
				r.addf(FailureHidden, f, l.at, "`%s` was added, which hides a failure", target)
			}
		}
		if m := r.Assigned.groups(l.text); m != nil {
			variable(r, f, l.at, m[1], m[2], were[m[1]] > 0)
		}
	}
}

func variable(r *report, f *file, at int, name, value string, known bool) {
	switch value = strings.Trim(value, " \t\"'"); {
	case r.Decides.match(name) && !r.Harmless.match(name+"="+value):
		r.addf(FailureHidden, f, at, "`%s` was set, which decides how commands are run", name)
	case known && (r.Runs.match(name) || r.Nothing.match(value)):
		r.addf(CIChanged, f, at, "the variable %s was changed", Quote(name, maxName))
	}
}

// phony reports targets that check something and are no longer .PHONY: a file of that
// name would keep them from being run.
func phony(r *report, f *file) {
	declared := func(l *line) []string {
		names, ok := strings.CutPrefix(strings.TrimSpace(l.text), ".PHONY")
		if !ok {
			return nil
		}
		return strings.Fields(strings.TrimLeft(names, " :"))
	}
	_, are := f.tally(declared)
	for l := range f.each("-") {
		for _, name := range declared(l) {
			if are[name] == 0 && r.Check.match(name) {
				r.addf(CIChanged, f, l.at, "the target %s is no longer phony: a file of its name keeps it from being run", Quote(name, maxName))
			}
		}
	}
}
