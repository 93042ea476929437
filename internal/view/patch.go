package view

import (
	"fmt"
	"io/fs"
	"os"
	"slices"

	"codeloops/internal/diff/lines"
	"codeloops/internal/diff/patch"
	"codeloops/internal/file"
)

// Limits on a patch of what was changed in a view, in bytes.
const (
	mostPatched = 1 << 20 // of a file
	mostPatch   = 64 << 10
)

// patchOf shows how some existing files were changed. It is for reading only.
func patchOf(changes []change, paths []string) string {
	var text []byte
	for _, c := range changes {
		if _, is := slices.BinarySearch(paths, c.path()); !is || c.same || len(text) > mostPatch {
			continue
		}
		before, was := shown(c.user())
		after, is := shown(c.own())
		text = fmt.Appendf(text, "--- %s (%s)\n+++ %s (%s)\n", patch.Quote("a/"+c.path()), was, patch.Quote("b/"+c.path()), is)
		text, _, _ = lines.Append(text, before, after)
	}
	return string(text)
}

// shown returns the text of a file, and says what the file is.
func shown(name string) (text []byte, what string) {
	info, err := os.Lstat(name)
	switch {
	case err != nil, whiteout(info), info.IsDir():
		return nil, "no file"
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(name) // it is only shown
		return []byte(target), "link"
	}
	if text, _, err = file.Read(name, file.Options{Max: mostPatched}); err != nil || patch.Binary(text) {
		return nil, fmt.Sprintf("%v, %d bytes", info.Mode(), info.Size())
	}
	return text, info.Mode().String()
}
