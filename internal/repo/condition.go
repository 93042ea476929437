package repo

import (
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/repo/pattern"
)

// holds reports whether the condition of an includeIf section in the file origin is true, by the
// section "Conditional includes" of git-config(1). Unknown kinds of conditions are false.
func (l *loader) holds(condition, origin string) (bool, error) {
	kind, text, ok := strings.Cut(condition, ":")
	if !ok {
		return false, nil
	}
	switch kind {
	case "gitdir", "gitdir/i":
		return l.gitDirMatches(text, origin, kind == "gitdir/i")
	case "onbranch":
		head, err := (&Repository{GitDir: l.gitDirs[0], CommonDir: l.commonDir}).Head() // its branch may be without commits
		return head.Branch != "" && pattern.Glob(withBelow(text), head.Branch, false, true), err
	case "hasconfig":
		glob, ok := strings.CutPrefix(text, "remote.*.url:")
		l.pending = l.pending || ok && l.gather
		return ok && !l.gather && slices.ContainsFunc(l.urls, func(url string) bool { return pattern.Glob(glob, url, false, true) }), nil
	}
	return false, nil
}

// gitDirMatches matches a glob against the git directory, first with symbolic links resolved, then
// as the caller named it.
func (l *loader) gitDirMatches(glob, origin string, fold bool) (bool, error) {
	literal := 0 // length of the part that is a real path, not a glob
	switch rest, ok := strings.CutPrefix(glob, "./"); {
	case ok && origin == "":
		return false, nil
	case ok:
		dir, err := filepath.EvalSymlinks(filepath.Dir(origin))
		if err != nil {
			return false, err
		}
		dir = filepath.ToSlash(dir) + "/"
		glob, literal = dir+rest, len(dir)
	case strings.HasPrefix(glob, "~/"):
		dir, err := filepath.EvalSymlinks(home(l.env))
		if err != nil {
			return false, nil //nolint:nilerr // without a home, nothing is below it
		}
		glob = filepath.ToSlash(dir) + glob[1:]
	case !filepath.IsAbs(glob):
		glob = "**/" + glob
	}
	glob = withBelow(glob)
	for _, dir := range l.gitDirs {
		dir = filepath.ToSlash(dir)
		if len(dir) < literal || dir[:literal] != glob[:literal] && !(fold && strings.EqualFold(dir[:literal], glob[:literal])) {
			continue
		}
		if pattern.Glob(glob[literal:], dir[literal:], fold, true) {
			return true, nil
		}
	}
	return false, nil
}

// withBelow makes a glob that ends in a slash match everything below.
func withBelow(glob string) string {
	if strings.HasSuffix(glob, "/") {
		return glob + "**"
	}
	return glob
}
