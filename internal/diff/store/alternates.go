package store

import (
	"bufio"
	"bytes"
	"path/filepath"
	"slices"
	"strconv"

	"codeloops/internal/diff/repo/file"
)

const (
	// alternatesDepth is how many repositories a chain of alternates may lead
	// to, as in git.
	alternatesDepth = 6

	maxAlternates = 1 << 20 // bytes of info/alternates
)

// withAlternates returns a directory of objects and those it borrows from.
func withAlternates(objects string) []string { return borrow(nil, objects, alternatesDepth) }

func borrow(dirs []string, objects string, depth int) []string {
	if resolved, err := filepath.EvalSymlinks(objects); err == nil {
		objects = resolved
	}
	if slices.Contains(dirs, objects) {
		return dirs
	}
	dirs = append(dirs, objects)
	if depth > 0 {
		for _, more := range alternates(objects) {
			dirs = borrow(dirs, more, depth-1)
		}
	}
	return dirs
}

// alternates reads info/alternates as gitrepository-layout(5) describes it: a
// path in each line, which may be quoted as in C.
func alternates(objects string) []string {
	text, _, err := file.Read(filepath.Join(objects, "info", "alternates"), file.How{Max: maxAlternates})
	if err != nil {
		return nil
	}
	var dirs []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		dir := lines.Text()
		if dir == "" || dir[0] == '#' {
			continue
		}
		if plain, err := strconv.Unquote(dir); err == nil && dir[0] == '"' {
			dir = plain
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(objects, dir)
		}
		dirs = append(dirs, filepath.Clean(dir))
	}
	return dirs
}
