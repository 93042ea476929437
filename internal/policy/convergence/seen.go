package convergence

import (
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// place matches a file with a line number, as critics name what is wrong.
var place = wording.Pattern(`([\pL\pN_./-]*[\pL\pN_-]):([0-9]+)`)

// seenBefore reports whether a new finding is about lines that have not changed since the critic's last
// look, so that it could have been raised then. One that names no line is not.
func seenBefore(r loop.Round, text string) bool {
	found := place().FindAllStringSubmatch(text, -1)
	if r.Own == nil || len(found) == 0 {
		return false
	}
	for _, m := range found {
		at, err := strconv.Atoi(m[2])
		if err != nil || changed(*r.Own, m[1], at) {
			return false
		}
	}
	return true
}

// changed reports whether a change has touched a line of a file.
func changed(c loop.Change, file string, at int) bool {
	file = strings.TrimPrefix(file, "./")
	return slices.ContainsFunc(c.Files, func(f loop.FileChange) bool {
		return (f.Path == file || strings.HasSuffix(f.Path, "/"+file)) && touches(f, at)
	})
}

// touches reports whether a patch adds a line, or removes one beside it. Without a text to look at it
// does.
func touches(f loop.FileChange, at int) bool {
	if f.Status != loop.FileModified || f.Binary || f.Patch == "" {
		return true
	}
	for l := range loop.PatchLines(f.Patch) {
		if l.Op == '+' && l.New == at || l.Op == '-' && (l.New == at || l.New-1 == at) {
			return true
		}
	}
	return false
}
