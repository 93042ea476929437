// Package difftest makes changes for tests, as git prints them.
package difftest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// A File is a file before or after a change. The zero value is none.
type File struct {
	Mode    uint32 // as git has it
	Content string // or the target of a link
}

// Change returns the difference between two trees of files by path. It panics if there is no git.
func Change(before, after map[string]File) loop.Change {
	dir, err := os.MkdirTemp("", "codeloops-difftest-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	if err := errors.Join(write(dir, "a", before), write(dir, "b", after)); err != nil {
		panic(err)
	}
	out, err := git.Git{Environ: git.Alone(os.Environ())}.Run(context.Background(), git.Call{
		Dir: dir, Args: []string{"diff", "--no-index", "--no-prefix", "--binary", "--full-index", "--no-renames", "a", "b"}, Env: []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)},
	})
	if exit, ok := errors.AsType[*proc.ExitError](err); err != nil && (!ok || exit.ExitCode != 1) { // 1: they differ
		panic(err)
	}
	sections := strings.Split("\n"+string(out), "\ndiff --git ")[1:]
	all := maps.Clone(before)
	if all == nil {
		all = map[string]File{}
	}
	maps.Copy(all, after)
	var c loop.Change
	for _, path := range slices.Sorted(maps.Keys(all)) {
		was, is := before[path], after[path]
		parts := [][2]File{{was, is}}
		if was.Mode != 0 && is.Mode != 0 && was.Mode&0o170000 != is.Mode&0o170000 {
			parts = [][2]File{{was, {}}, {{}, is}}
		}
		for _, part := range parts {
			if part[0] != part[1] {
				c.Files = append(c.Files, change(path, part[0], part[1], "diff --git "+strings.TrimSuffix(sections[0], "\n")+"\n"))
				sections = sections[1:]
			}
		}
	}
	return c.Counted()
}

func change(path string, was, is File, text string) loop.FileChange {
	f := loop.FileChange{Path: path, Status: loop.FileModified, OldMode: was.Mode, NewMode: is.Mode, OldSize: int64(len(was.Content)), NewSize: int64(len(is.Content)), Patch: text}
	switch {
	case was.Mode == 0:
		f.Status = loop.FileAdded
	case is.Mode == 0:
		f.Status = loop.FileDeleted
	}
	if head, _, binary := strings.Cut(text, "\nGIT binary patch\n"); binary {
		f.Binary, f.BinaryPatch, f.Patch = true, text+"\n", head+"\nBinary files differ\n"
	} else if _, hunks, is := strings.Cut(text, "\n@@ "); is {
		f.Insertions, f.Deletions = strings.Count(hunks, "\n+"), strings.Count(hunks, "\n-")
	}
	return f
}

func write(dir, version string, files map[string]File) error {
	err := os.Mkdir(filepath.Join(dir, version), 0o700)
	for path, f := range files {
		name := filepath.Join(dir, version, filepath.FromSlash(path))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o700))
		switch f.Mode {
		case 0o120000:
			err = errors.Join(err, os.Symlink(f.Content, name))
		case 0o100755:
			err = errors.Join(err, os.WriteFile(name, []byte(f.Content), 0o755)) //nolint:gosec // it is to be executable
		case 0o100644:
			err = errors.Join(err, os.WriteFile(name, []byte(f.Content), 0o600))
		}
	}
	return err
}
