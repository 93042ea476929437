package view

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"codeloops/internal/diff/patch"
	"codeloops/internal/file"
)

// Limits on a patch of what was changed in a view, in bytes.
const (
	mostPatched  = 1 << 20  // of a file
	mostCompared = 16 << 20 // of all files
	mostPatch    = 64 << 10
)

// patchOf shows how some existing files were changed. It is for reading only.
func patchOf(ctx context.Context, home string, changes []change, paths []string) (string, error) {
	var texts []patch.Texts
	var heads []string
	read := 0
	for _, c := range changes {
		if _, is := slices.BinarySearch(paths, c.path()); !is || c.same || read > mostCompared {
			continue
		}
		before, was := shown(c.user())
		after, is := shown(c.own())
		heads = append(heads, fmt.Sprintf("--- %s (%s)\n+++ %s (%s)\n", patch.Quote("a/"+c.path()), was, patch.Quote("b/"+c.path()), is))
		texts = append(texts, patch.Texts{Before: before, After: after})
		read += len(before) + len(after)
	}
	hunks, err := patch.Hunks(ctx, home, 3, texts...)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for i, head := range heads {
		if text.Len() <= mostPatch {
			text.WriteString(head + hunks[i])
		}
	}
	return text.String(), nil
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
