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

// makefile reports what becomes of the targets that check something, and what
// decides over all recipes.
func (r *report) makefile(f *file) {
	if f.Status == loop.FileAdded && r.standsIn(f.Path) {
		r.addf(RunnerChanged, f, 0, "a makefile was added, which is read in the place of another one")
	}
	r.recipes(f)
	r.twofold(f)
	r.variables(f)
	r.phony(f)
}

// standsIn reports whether make reads a new makefile instead of one beside it.
func (r *report) standsIn(file string) bool {
	for _, name := range map[string][]string{
		"BSDmakefile": {"GNUmakefile", "makefile", "Makefile"}, "GNUmakefile": {"makefile", "Makefile"}, "makefile": {"Makefile"}, "justfile": {"Justfile", ".justfile"},
	}[path.Base(file)] {
		if _, there := r.content(path.Join(path.Dir(file), name)); there || r.in.Files == nil {
			return true
		}
	}
	return false
}

// recipes reports changes in the recipes of targets that check something. A target
// that is new takes nothing away, but in a file that others include.
func (r *report) recipes(f *file) {
	included := path.Ext(f.Path) == ".mk"
	for _, h := range f.hunks {
		current, known := r.targetsOf(h.heading), true
		reported := ""
		for _, l := range h.lines {
			if names := r.targetsOf(l.text); names != nil {
				current, known = names, l.op != '+' || included
			} else if !r.ofRecipe(l.text) {
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

// targetsOf returns the targets of a rule, nil when a line is none.
func (p places) targetsOf(text string) []string {
	m := p.target.groups(text)
	if m == nil || strings.HasPrefix(text, "\t") || strings.HasPrefix(m[1], ".") {
		return nil
	}
	return strings.Fields(m[1])
}

// ofRecipe reports whether a line may stand in a recipe.
func (p places) ofRecipe(text string) bool {
	return strings.TrimSpace(text) == "" || strings.IndexByte("\t #", text[0]) >= 0 || strings.HasPrefix(text, "if") || strings.HasPrefix(text, "else") || strings.HasPrefix(text, "endif")
}

// checking returns the first of some targets that checks something.
func (p places) checking(targets []string) string {
	if i := slices.IndexFunc(targets, p.check.match); i >= 0 {
		return targets[i]
	}
	return ""
}

// twofold reports targets that were there and are declared once more: the last
// recipe counts.
func (r *report) twofold(f *file) {
	if f.Status == loop.FileAdded {
		return
	}
	were, are := map[string]int{}, map[string]int{}
	f.all(func(l *line) {
		for _, name := range r.targetsOf(l.text) {
			if l.op != '+' {
				were[name]++
			}
			if l.op != '-' {
				are[name]++
			}
		}
	})
	f.each("+", func(l *line) {
		for _, name := range r.targetsOf(l.text) {
			if were[name] > 0 && are[name] > were[name] && r.check.match(name) {
				r.addf(CIChanged, f, l.at, "the target %s is declared once more, and the last recipe counts", Quote(name, maxName))
			}
		}
	})
}

// variables reports those that decide over recipes, and what tests are run by.
func (r *report) variables(f *file) {
	were := map[string]bool{}
	f.all(func(l *line) {
		if m := r.assigned.groups(l.text); m != nil && l.op != '+' {
			were[m[1]] = true
		}
	})
	f.each("+", func(l *line) {
		text := strings.TrimSpace(l.text)
		if strings.HasPrefix(l.text, "\t") {
			return
		}
		switch word, _, _ := strings.Cut(text, " "); word {
		case "include", "-include", "sinclude", "import":
			r.addf(RunnerChanged, f, l.at, "another file is included, whose targets may take the place of those here")
			return
		}
		for _, target := range []string{".IGNORE", ".ONESHELL", ".DEFAULT"} {
			if rest, ok := strings.CutPrefix(text, target); ok && strings.HasPrefix(strings.TrimSpace(rest), ":") {
				r.addf(FailureHidden, f, l.at, "`%s` was added, which hides a failure", target)
			}
		}
		if m := r.assigned.groups(l.text); m != nil {
			r.variable(f, l.at, m[1], strings.TrimSpace(m[2]), were[m[1]])
		}
	})
}

func (r *report) variable(f *file, at int, name, value string, known bool) {
	switch {
	case r.decides.match(name) && !r.harmless.match(name+"="+value):
		r.addf(FailureHidden, f, at, "`%s` was set, which decides how recipes are run", name)
	case known && (r.runs.match(name) || r.nothing.match(value)):
		r.addf(CIChanged, f, at, "the variable %s was changed", Quote(name, maxName))
	}
}

// phony reports targets that check something and are no longer declared to be no
// file: one of their name would keep them from being run.
func (r *report) phony(f *file) {
	left := map[string]bool{}
	declared := func(l *line) []string {
		names, ok := strings.CutPrefix(strings.TrimSpace(l.text), ".PHONY")
		if !ok {
			return nil
		}
		return strings.Fields(strings.TrimLeft(names, " :"))
	}
	f.all(func(l *line) {
		for _, name := range declared(l) {
			left[name] = left[name] || l.op != '-'
		}
	})
	f.each("-", func(l *line) {
		for _, name := range declared(l) {
			if !left[name] && r.check.match(name) {
				r.addf(CIChanged, f, l.at, "the target %s is not phony any more: a file of its name keeps it from being run", Quote(name, maxName))
			}
		}
	})
}
