package scan

import (
	"slices"
	"strings"
)

// list finds the names in the directory: those of the last time, if nothing has
// come or gone since.
func (v *visit) list() error {
	if v.unchanged() {
		v.recall()
		return nil
	}
	v.resolve(v.walk)
	if err := v.handle.ensure(); err != nil {
		return err
	}
	at := v.Now()
	entries, st, err := v.handle.list(v.scratch)
	if err != nil {
		return err
	}
	v.sort(entries)
	if v.clock.dirs && v.clock.settled(st, at) {
		v.listing.stat = st
	}
	// Rules that appear bear on all that is below; those that go or change
	// are noticed beforehand.
	v.listed = v.listed && v.last != nil && v.last.listing.hasIgnore == v.listing.hasIgnore
	return nil
}

// unchanged reports whether the names in scope are those of the last time.
func (v *visit) unchanged() bool {
	if !v.listed || v.last == nil || v.last.listing.stat == (Stat{}) {
		return false
	}
	if !v.known.Same {
		for _, d := range [...]*Dir{v.base, v.index, v.also} {
			if !v.last.covers(d) {
				return false
			}
		}
	}
	const many = 50 // files: a longer path for each of them takes longer than to open the directory
	st, k, err := v.handle.glance(len(v.last.Dirs) > 0 || len(v.last.files) > many)
	return err == nil && k == directory && st == v.last.listing.stat
}

// recall takes the names of the last time.
func (v *visit) recall() {
	v.listing = v.last.listing
	// What is a repository of its own, or becomes one, shows no trace of it here.
	v.again = (v.known.Same || v.settled()) && v.listing.others == "" && (v.path == "" || !v.listing.hasGit)
	if !v.again {
		v.recallNames()
	}
}

// recallNames is recall where it takes more than the last state to know what
// they are of.
func (v *visit) recallNames() {
	v.again = false
	v.resolve(v.walk)
	for v.listing.others != "" {
		var name string
		name, v.listing.others, _ = strings.Cut(v.listing.others, "/")
		v.dirs = append(v.dirs, name)
	}
	files := v.last.Files()
	for i := range files {
		if f := &files[i]; f.Mode == Gitlink {
			v.dirs = append(v.dirs, f.Name)
		} else {
			v.files = append(v.files, f.Name)
		}
	}
	recalled := len(v.dirs)
	for _, d := range v.last.Dirs {
		v.dirs = append(v.dirs, d.Name)
	}
	if recalled > 0 {
		sortDirs(v.dirs)
	}
}

// sort tells files from directories and drops what git never looks at.
func (v *visit) sort(entries []entry) {
	for _, e := range entries {
		switch {
		case v.isNamed(e.name, ".git"):
			v.listing.hasGit = true
		case e.kind == directory:
			v.dirs = append(v.dirs, e.name)
		case e.kind == regular, e.kind == executable, e.kind == symlink:
			v.files = append(v.files, e.name)
			if e.name[0] == '.' {
				v.listing.hasIgnore = v.listing.hasIgnore || v.isNamed(e.name, ".gitignore")
				v.listing.hasAttributes = v.listing.hasAttributes || v.isNamed(e.name, ".gitattributes")
			}
		}
	}
	slices.Sort(v.files)
	sortDirs(v.dirs)
}

func sortDirs(names []string) {
	slices.SortFunc(names, func(a, b string) int { return order(a, true, b, true) })
}

func (v *visit) isNamed(name, special string) bool {
	return name == special || v.IgnoreCase && strings.EqualFold(name, special)
}
