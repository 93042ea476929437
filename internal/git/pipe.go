package git

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// unhurried is how long git may take before it is asked why: work trees may be large.
const unhurried = time.Second

// unblocked lets git, run in a directory, go on if it waits for a pipe, until the context ends. Git opens the files that
// it reads in a work tree before it looks at what they are, and anybody who works there can put a pipe in their place:
// it counts as an empty file.
func unblocked(ctx context.Context, dir string) {
	look := time.NewTimer(unhurried)
	defer look.Stop()
	var pipes []string
	for again := false; ; again = true {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if !again {
			pipes = pipesIn(ctx, dir)
		}
		if len(pipes) == 0 {
			return
		}
		for _, pipe := range pipes {
			endPipe(pipe)
		}
		look.Reset(unhurried / 10)
	}
}

// pipesIn finds the pipes that have the name of a file of git's.
func pipesIn(ctx context.Context, dir string) (found []string) {
	names := []string{".gitignore", ".gitattributes", ".gitmodules", ".mailmap"}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeNamedPipe != 0 && slices.Contains(names, d.Name()):
			found = append(found, path)
		}
		return nil //nolint:nilerr // what cannot be read holds none that git reads
	})
	return found
}
