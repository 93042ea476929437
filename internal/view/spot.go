package view

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// A layer is a directory of the user's with what commands write above it, or with its copy.
type layer struct {
	dir    string // the user's
	own    string // what is written, or the copy
	prefix string // the path of dir in the work tree or the git directory: "", or with a slash at the end
	git    bool   // dir is in a git directory outside the work tree
}

// A spot is a path in a layer.
type spot struct {
	in   *layer
	name string
}

func (s spot) user() string { return filepath.Join(s.in.dir, s.name) }

func (s spot) own() string { return filepath.Join(s.in.own, s.name) }

// path returns the slash-separated path from the root of the work tree or the git directory.
func (s spot) path() string { return s.in.prefix + filepath.ToSlash(s.name) }

// top returns the path of a new file, or of the uppermost new directory that it is in, with a slash
// at the end.
func (s spot) top() string {
	names := strings.Split(filepath.ToSlash(s.name), "/")
	for i := 1; i < len(names); i++ {
		dir := strings.Join(names[:i], "/")
		if _, err := os.Lstat(filepath.Join(s.in.dir, dir)); file.Missing(err) {
			return s.in.prefix + dir + "/"
		}
	}
	return s.path()
}

// inGit reports whether the spot is in a git directory, and returns its path from there.
func (s spot) inGit() (path string, is bool) {
	if s.in.git {
		return s.path(), true
	}
	return inRepository(s.path())
}

// A change is a file of the view that was written, or one of the user's that is hidden.
type change struct {
	spot
	was  bool // the user has a file there
	is   bool // the view has a file there
	same bool // both are the same, or neither exists
}

// summary sums up changes for a person.
func (p *Place) summary(changes []change) (w loop.Written) {
	add := func(list *[]string, name string) {
		if n := len(*list); n == 0 || (*list)[n-1] != name { // walks keep directories together
			*list = append(*list, name)
		}
	}
	for _, c := range changes {
		inside, git := c.inGit()
		switch {
		case c.same:
		case git:
			switch part := c.part(inside); {
			case part == "":
			case changesGit(part):
				add(&w.Settings, part)
			default:
				add(&w.Repository, part)
			}
		case p.Ignored(c.path()):
		case c.was:
			w.Changed = append(w.Changed, c.path())
		default:
			add(&w.Added, c.top())
		}
	}
	for _, list := range [][]string{w.Changed, w.Added, w.Repository, w.Settings} {
		slices.Sort(list)
	}
	w.Added, w.Repository, w.Settings = slices.Compact(w.Added), slices.Compact(w.Repository), slices.Compact(w.Settings)
	return w
}
