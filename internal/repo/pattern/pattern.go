// Package pattern matches paths against the patterns of .gitignore and .gitattributes files.
package pattern

import "strings"

// A Pattern is a parsed pattern.
type Pattern struct {
	Negated bool // began with "!"
	DirOnly bool // ended with "/"

	text     string // without the marks above
	literal  int    // length of the part before the first special character
	baseName bool   // has no slash: matches the last element at any depth
}

// Parse parses a pattern as it is in a file, without the blanks around it.
func Parse(s string) Pattern {
	var p Pattern
	if rest, ok := strings.CutPrefix(s, "!"); ok {
		p.Negated, s = true, rest
	}
	p.text, p.DirOnly = strings.CutSuffix(s, "/")
	if p.literal = strings.IndexAny(p.text, `*?[\`); p.literal < 0 {
		p.literal = len(p.text)
	}
	p.baseName = !strings.Contains(p.text, "/")
	return p
}

// Match reports whether the pattern matches a path, relative to the directory of the file that has
// the pattern. Base is the last element of the path.
func (p *Pattern) Match(path, base string, isDir, fold bool) bool {
	switch {
	case p.DirOnly && !isDir:
		return false
	case p.baseName:
		return Glob(p.text, base, fold, false)
	default:
		return p.matchPath(path, fold)
	}
}

// matchPath compares the literal prefix and passes only the rest to Glob. This matters: a "**" right
// after the prefix is then at the start of a pattern, so that "a**/b" matches "a/x/b", as in git.
func (p *Pattern) matchPath(path string, fold bool) bool {
	text, literal := p.text, p.literal
	if text[0] == '/' {
		text, literal = text[1:], literal-1
	}
	if literal > 0 {
		if literal > len(path) || !equal(text[:literal], path[:literal], fold) {
			return false
		}
		text, path = text[literal:], path[literal:]
		if text == "" && path == "" {
			return true
		}
	}
	return Glob(text, path, fold, true)
}

func equal(a, b string, fold bool) bool {
	if !fold || len(a) != len(b) {
		return a == b
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
