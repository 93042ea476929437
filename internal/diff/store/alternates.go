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

	// maxDirectories is how many directories are looked at, twice the same or missing
	// as they may be: each is for each object.
	maxDirectories = 256

	maxAlternates = 1 << 18 // bytes of info/alternates
)

// withAlternates returns a directory of objects and those it borrows from.
func withAlternates(objects string) []string {
	b := borrowing{left: maxDirectories}
	b.from(objects, alternatesDepth)
	return b.dirs
}

// A borrowing gathers directories of objects.
type borrowing struct {
	dirs []string
	left int // directories to be looked at
}

func (b *borrowing) from(objects string, depth int) {
	if b.left--; b.left < 0 {
		return
	}
	if resolved, err := filepath.EvalSymlinks(objects); err == nil {
		objects = resolved
	}
	if slices.Contains(b.dirs, objects) {
		return
	}
	b.dirs = append(b.dirs, objects)
	if depth > 0 {
		for _, more := range alternates(objects) {
			b.from(more, depth-1)
		}
	}
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
