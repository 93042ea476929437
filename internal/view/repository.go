package view

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/wording"
)

// The files of a git directory, by gitrepository-layout(5). The names of submodules can have any
// character.
var (
	private   = wording.Pattern(`(?s)^(.*/)?(logs|objects|lfs|refs/(cline|kilo))/`) // agents keep their snapshots there
	reference = wording.Pattern(`(?s)^(.*/)?(packed-refs|refs/.+)$`)
	replaced  = wording.Pattern(`(?s)^(.*/)?refs/replace/`)
	setting   = wording.Pattern(`(?s)^(.*/)?(config|config\.worktree|shallow|hooks/.+|info/(attributes|exclude|grafts|sparse-checkout))$`)
	borrowed  = wording.Pattern(`(?s)^(.*/)?objects/info/alternates$`)
	config    = wording.Pattern(`(?s)^(.*/)?config(\.worktree)?$`)
	pointer   = wording.Pattern(`(?s)^(.*/)?HEAD$`)
	staged    = wording.Pattern(`(?s)^(.*/)?index$`)
)

// Names for parts of a repository whose path is not reported.
const (
	partHead  = "HEAD"
	partIndex = "index"
	partMarks = "marks in the index" // as by git update-index --assume-unchanged
	partRefs  = "refs"
)

// partOf names the part of the repository that a file of a git directory belongs to. It is "" for a
// file that is not reported, such as an object.
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

// part names what a change in a git directory has changed, given the path from there; see [partOf].
func (c change) part(inside string) string {
	switch part := partOf(inside); {
	case part == partIndex && c.was && c.is:
		return indexPart(c.user(), c.own())
	case part != "" && config().MatchString(inside):
		return configPart(part, c.user(), c.own())
	default:
		return part
	}
}

// changesGit reports whether a change of a part can change what git shows.
func changesGit(part string) bool { return part != partHead && part != partIndex && part != partRefs }

// configPart names a setting that differs between two configuration files and changes what git
// shows, or returns "". It returns the name if one cannot be read.
func configPart(name, a, b string) string {
	x, errX := settings(a)
	y, errY := settings(b)
	if errX != nil || errY != nil {
		return name
	}
	for _, entries := range [][]git.Entry{x.Entries(), y.Entries()} {
		for _, e := range entries {
			if diff.Overrides(e.Key) && !slices.Equal(x.All(e.Key), y.All(e.Key)) {
				return name + ": " + e.Key
			}
		}
	}
	return ""
}

func settings(name string) (*git.Config, error) {
	text, _, err := file.Read(name, file.Options{})
	if err != nil && !file.Missing(err) {
		return nil, err
	}
	return git.Parse(text)
}

// inRepository returns the part of a path after the git directory that it is in.
func inRepository(path string) (inside string, ok bool) {
	if rest, found := strings.CutPrefix(path, ".git/"); found {
		return rest, true
	}
	_, inside, ok = strings.Cut(path, "/.git/")
	return inside, ok
}

// indexPart returns how two index files differ: in the marks of files, in what is staged, or not at
// all (""), apart from what else git keeps in them.
func indexPart(a, b string) string {
	x, errX := entries(a, filepath.Dir(a))
	y, errY := entries(b, filepath.Dir(a)) // a view may have no more of a repository than what is different
	if errX != nil || errY != nil {
		return partIndex
	}
	part := ""
	for name, is := range y {
		switch was, there := x[name]; {
		case there && was[0] != is[0]:
			return partMarks
		case was != is:
			part = partIndex
		}
	}
	if len(x) != len(y) {
		part = partIndex
	}
	return part
}

// entries returns what git lists of an index, given a git directory: "<tag> <mode> <id>" by stage and path.
func entries(index, dir string) (map[string]string, error) {
	out, err := git.Git{Environ: git.Alone(os.Environ())}.Run(context.Background(), git.Call{
		Dir: dir, Args: []string{"--git-dir=" + dir, "--work-tree=" + dir, "ls-files", "-t", "-v", "--stage", "-z"}, Env: []string{"GIT_INDEX_FILE=" + index},
	})
	all := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, path, _ := strings.Cut(line, "\t")
		if last := strings.LastIndexByte(head, ' '); last > 0 {
			all[head[last:]+path] = head[:last]
		}
	}
	return all, err
}
