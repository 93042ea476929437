package ignore

import (
	"strings"

	"codeloops/internal/diff/ignore/pattern"
)

// fileName is the name of the rules that belong to a directory.
const fileName = ".gitignore"

// A list is the rules of one file.
type list struct {
	patterns []pattern.Pattern // the last match counts
}

// A candidate is a path that is asked about.
type candidate struct {
	path  string // from the root
	name  string // its last element
	isDir bool
	fold  bool
}

// judge returns what the list says about c; ok is false when it says nothing.
// base is the length of the list's own directory in the path.
func (l *list) judge(c candidate, base int) (ignored, ok bool) {
	for i := len(l.patterns) - 1; i >= 0; i-- {
		p := &l.patterns[i]
		if p.Match(c.path[base:], c.name, c.isDir, c.fold) {
			return !p.Negated, true
		}
	}
	return false, false
}

// parse reads the rules in a file, by the section "PATTERN FORMAT" of
// gitignore(5).
func parse(text string) list {
	var l list
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		line, _, _ = strings.Cut(line, "\x00")
		if line = trimSpaces(line); line == "" || line[0] == '#' {
			continue
		}
		l.patterns = append(l.patterns, pattern.Parse(line))
	}
	return l
}

// trimSpaces cuts the spaces at the end of a line, up to one behind a
// backslash.
func trimSpaces(line string) string {
	end := len(strings.TrimRight(line, " "))
	if end == len(line) {
		return line
	}
	slashes := end - len(strings.TrimRight(line[:end], `\`))
	if slashes%2 == 1 {
		end++
	}
	return line[:end]
}
