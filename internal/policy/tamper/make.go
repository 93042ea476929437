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

// making looks at makefiles.
type making struct{ *report }

// makefile reports changes to targets that check something, and to what affects all
// recipes.
func makefile(r *report, f *file) {
	d := making{r}
	if f.Status == loop.FileAdded && d.standsIn(f.Path) {
		r.addf(RunnerChanged, f, 0, "a makefile was added, which is read instead of another one")
	}
	d.rules(f)
	d.redeclared(f)
	d.variables(f)
	d.phony(f)
}

// standsIn reports whether make reads a new makefile instead of an existing one.
func (d making) standsIn(file string) bool {
	for _, name := range map[string][]string{
		"BSDmakefile": {"GNUmakefile", "makefile", "Makefile"}, "GNUmakefile": {"makefile", "Makefile"}, "makefile": {"Makefile"}, "justfile": {"Justfile", ".justfile"},
	}[path.Base(file)] {
		if _, there := d.content(path.Join(path.Dir(file), name)); there || d.in.Files == nil {
			return true
		}
	}
	return false
}

// rules reports changes in the recipes of targets that check something. A new target
// is harmless, except in a file that others include.
func (d making) rules(f *file) {
	included := path.Ext(f.Path) == ".mk"
	for _, h := range f.hunks {
		current, known := d.targetsOf(h.heading), true
		reported := ""
		for _, l := range h.lines {
			if names := d.targetsOf(l.text); names != nil {
				current, known = names, l.op != '+' || included
			} else if !ofRecipe(l.text) {
				current = nil
			}
			if l.op == ' ' || strings.TrimSpace(l.text) == "" || !known {
				continue
			}
			if name := d.checking(current); name != "" && name != reported {
				reported = name
				d.addf(CIChanged, f, l.at, "the target %s was changed", Quote(name, maxName))
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
func (d making) redeclared(f *file) {
	if f.Status == loop.FileAdded {
		return
	}
	were, are := f.tally(func(l *line) []string { return d.targetsOf(l.text) })
	f.each("+", func(l *line) {
		for _, name := range d.targetsOf(l.text) {
			if were[name] > 0 && are[name] > were[name] && d.Check.match(name) {
				d.addf(CIChanged, f, l.at, "the target %s is declared again, and the last recipe counts", Quote(name, maxName))
			}
		}
	})
}

// variables reports includes, special targets and variables that affect how recipes and
// tests are run.
func (d making) variables(f *file) {
	were, _ := f.tally(func(l *line) []string {
		if m := d.Assigned.groups(l.text); m != nil {
			return m[1:2]
		}
		return nil
	})
	f.each("+", func(l *line) {
		text := strings.TrimSpace(l.text)
		if strings.HasPrefix(l.text, "\t") {
			return
		}
		switch word, _, _ := strings.Cut(text, " "); word {
		case "include", "-include", "sinclude", "import":
			d.addf(RunnerChanged, f, l.at, "another file is included, whose targets may replace those here")
			return
		}
		for _, target := range []string{".IGNORE", ".ONESHELL", ".DEFAULT"} {
			if rest, ok := strings.CutPrefix(text, target); ok && strings.HasPrefix(strings.TrimSpace(rest), ":") {
				d.addf(FailureHidden, f, l.at, "`%s` was added, which hides a failure", target)
			}
		}
		if m := d.Assigned.groups(l.text); m != nil {
			d.variable(f, l.at, m[1], strings.TrimSpace(m[2]), were[m[1]] > 0)
		}
	})
}

func (d making) variable(f *file, at int, name, value string, known bool) {
	switch {
	case d.Decides.match(name) && !d.Harmless.match(name+"="+value):
		d.addf(FailureHidden, f, at, "`%s` was set, which decides how recipes are run", name)
	case known && (d.Runs.match(name) || d.Nothing.match(value)):
		d.addf(CIChanged, f, at, "the variable %s was changed", Quote(name, maxName))
	}
}

// phony reports targets that check something and are no longer .PHONY: a file of that
// name would keep them from being run.
func (d making) phony(f *file) {
	declared := func(l *line) []string {
		names, ok := strings.CutPrefix(strings.TrimSpace(l.text), ".PHONY")
		if !ok {
			return nil
		}
		return strings.Fields(strings.TrimLeft(names, " :"))
	}
	_, are := f.tally(declared)
	f.each("-", func(l *line) {
		for _, name := range declared(l) {
			if are[name] == 0 && d.Check.match(name) {
				d.addf(CIChanged, f, l.at, "the target %s is no longer phony: a file of its name keeps it from being run", Quote(name, maxName))
			}
		}
	})
}
