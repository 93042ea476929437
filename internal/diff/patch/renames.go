package patch

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// A File is a path with what is there.
type File struct {
	Path string
	Side
}

// Renames returns which of the files that are gone git takes to be which of the new ones, as pairs
// without hunks. A file whose content is not known is matched only with its equal.
func Renames(ctx context.Context, gone, added []File) (pairs []Pair, err error) {
	out, err := compare(ctx, "", func(dir string) error {
		for i, f := range gone {
			if err := f.place(filepath.Join(dir, "a", "gone"+strconv.Itoa(i))); err != nil {
				return err
			}
		}
		for i, f := range added {
			if err := f.place(filepath.Join(dir, "b", "added"+strconv.Itoa(i))); err != nil {
				return err
			}
		}
		return nil
	}, "--raw", "-z", "--find-renames", "--diff-filter=R")
	if err != nil {
		return nil, err
	}
	// As in ":100644 100644 ID ID R086", the old name, the new one.
	for fields := strings.Split(out, "\x00"); len(fields) > 2; fields = fields[3:] {
		_, score, _ := strings.Cut(fields[0], " R")
		similarity, err := strconv.Atoi(score)
		from, to := at(fields[1], "a/gone", len(gone)), at(fields[2], "b/added", len(added))
		if err != nil || from < 0 || to < 0 {
			return nil, fmt.Errorf("compare files: git printed %.80q", fields[:3])
		}
		pairs = append(pairs, Pair{
			Path: added[to].Path, From: gone[from].Path, Before: gone[from].Side, After: added[to].Side, Similarity: similarity,
		})
	}
	return pairs, nil
}

// place puts a file with its own last name into a directory of its own.
func (f File) place(dir string) error {
	name, content := filepath.Join(dir, path.Base(f.Path)), f.Content
	if f.TooLarge {
		content = []byte(hex.EncodeToString(f.ID[:]) + "\n")
	}
	err := os.MkdirAll(dir, 0o700)
	switch {
	case err != nil || f.Mode == Gitlink:
		return err
	case f.Mode == Symlink:
		return os.Symlink(string(content), name)
	}
	return os.WriteFile(name, content, 0o600|os.FileMode(f.Mode&0o100))
}

// at returns the number in a name such as "a/gone12/x", or -1 if there is none below n.
func at(name, begin string, n int) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, begin), "/")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= n {
		return -1
	}
	return i
}
