package view

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/diff/index"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// What is in a git directory (gitrepository-layout(5)) and is told of. Objects are
// not, nor what git keeps for itself. A submodule may have any character in its name.
var (
	private   = wording.Pattern(`(?s)^(.*/)?(logs|objects|lfs)/`)
	reference = wording.Pattern(`(?s)^(.*/)?(packed-refs|refs/.+)$`)
	replaced  = wording.Pattern(`(?s)^(.*/)?refs/replace/`)
	setting   = wording.Pattern(`(?s)^(.*/)?(config|config\.worktree|shallow|hooks/.+|info/(attributes|exclude|grafts|sparse-checkout))$`)
	borrowed  = wording.Pattern(`(?s)^(.*/)?objects/info/alternates$`)
	config    = wording.Pattern(`(?s)^(.*/)?config(\.worktree)?$`)
	pointer   = wording.Pattern(`(?s)^(.*/)?HEAD$`)
	staged    = wording.Pattern(`(?s)^(.*/)?index$`)
)

// The parts of a repository that a path does not name by itself.
const (
	partHead  = "HEAD"
	partIndex = "index"
	partMarks = "marks in the index" // as of git update-index --assume-unchanged
	partRefs  = "refs"
)

// partOf names what a file of a git directory, by its path there, is a part of; "" is
// what need not be told.
func partOf(path string) string {
	switch {
	case borrowed().MatchString(path):
		return path
	case private().MatchString(path), strings.HasSuffix(path, ".lock"), strings.HasSuffix(path, ".sample"):
		return ""
	case replaced().MatchString(path):
		return path
	case reference().MatchString(path):
		return partRefs
	case setting().MatchString(path):
		return path
	case pointer().MatchString(path):
		return partHead
	case staged().MatchString(path):
		return partIndex
	}
	return ""
}

// changesGit reports whether git may show something else because of a part.
func changesGit(part string) bool { return part != partHead && part != partIndex && part != partRefs }

// configPart names a setting in which two configuration files differ and that changes what
// git shows; "" is none. A file that cannot be read differs.
func configPart(name, a, b string) string {
	x, errX := settings(a)
	y, errY := settings(b)
	if errX != nil || errY != nil {
		return name
	}
	for _, entries := range [][]repo.Entry{x.Entries(), y.Entries()} {
		for _, e := range entries {
			if diff.Overrides(e.Key) && !slices.Equal(x.All(e.Key), y.All(e.Key)) {
				return name + ": " + e.Key
			}
		}
	}
	return ""
}

func settings(name string) (*repo.Config, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return repo.Parse(string(text))
}

// inRepository splits a path at the git directory that it is in.
func inRepository(path string) (inside string, ok bool) {
	if rest, found := strings.CutPrefix(path, ".git/"); found {
		return rest, true
	}
	_, inside, ok = strings.Cut(path, "/.git/")
	return inside, ok
}

// indexPart says in what two index files differ, whatever else git keeps in them: in
// nothing (""), in how files are marked, or in what is staged.
func indexPart(a, b string) string {
	x, errX := index.Read(a)
	y, errY := index.Read(b)
	if errX != nil || errY != nil {
		return partIndex
	}
	type key struct {
		path  string
		stage uint8
	}
	entries := make(map[key]index.Entry, len(x.Entries))
	for _, e := range x.Entries {
		entries[key{e.Path, e.Stage}] = e
	}
	part := ""
	for _, e := range y.Entries {
		was, there := entries[key{e.Path, e.Stage}]
		switch {
		case there && was.Flags != e.Flags:
			return partMarks // that hides files
		case !there || was.ID != e.ID || was.Mode != e.Mode:
			part = partIndex
		}
	}
	if len(x.Entries) != len(y.Entries) {
		part = partIndex
	}
	return part
}
