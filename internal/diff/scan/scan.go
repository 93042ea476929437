// Package scan finds the state of a work tree: what git would record of every
// file in scope.
//
// In scope is what is tracked now, what is untracked and not ignored, what was in
// scope when the session began, and what decides over the scope (see [Decides]). HEAD and the commits play no part. A
// file is read only when its stat does not prove that it is what was known.
package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/repo"
)

var errNotRegular = errors.New("no longer a regular file")

// Blobs remember contents. A [codeloops/internal/diff/store.Store] does.
type Blobs interface {
	Blob(ctx context.Context, id plumbing.Hash) ([]byte, error)
	Keep(id plumbing.Hash, content []byte) error
}

// A Head is what a directory is as a repository of its own.
type Head struct {
	Repository bool
	Commit     plumbing.Hash // zero on a branch without commits
}

// A Scanner finds the states of one work tree. Its fields must not change
// during a scan.
type Scanner struct {
	Root   string // absolute path of the work tree
	Within string // the path of Root for people, with a slash at its end; "": none stands before names
	FileSystem

	// Since is when the session began; zero before it has. What has been written since
	// is read each time: whoever has a file mapped can write to it again without a
	// trace, for as long as the system has not written it to the disk. Those above
	// [store.Large] alone are believed by their times.
	Since      time.Time
	Clock      Clock // without times that count every file is read
	Now        func() time.Time
	Blobs      Blobs
	Rules      *ignore.Rules
	Conversion attr.Conversion // without a Reader files are what they are on the disk
	Inside     Repositories
	Alone      bool // it takes one processor, and leaves the others to whoever is at work
	// Hash stores files through git, which alone can convert them, and
	// returns the ids of their blobs.
	Hash func(context.Context, []Unconverted) ([]plumbing.Hash, error)
}

// A FileSystem is what the configuration says of the one that the work tree is on.
type FileSystem struct {
	FileMode   bool // core.fileMode: the executable bit counts
	Symlinks   bool // core.symlinks: a symlink is not checked out as a file
	IgnoreCase bool // core.ignoreCase
}

// FileSystemOf reads it.
func FileSystemOf(c *repo.Config) (f FileSystem, err error) {
	for key, field := range map[string]*bool{
		"core.fileMode": &f.FileMode, "core.symlinks": &f.Symlinks, "core.ignoreCase": &f.IgnoreCase,
	} {
		if *field, err = c.Bool(key, key != "core.ignoreCase"); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Repositories know those inside the work tree. They get paths from the root with a
// slash at their end, in several goroutines.
type Repositories interface {
	// Head looks at a directory that a gitlink stands for as a repository.
	Head(path string) (Head, error)
	// Embedded looks at one with a .git that none stands for; scoped says that it has
	// files which are in scope by themselves, so that it is none.
	Embedded(path string, scoped bool) (Head, error)
	// Nest reports whether a directory has a scan of its own.
	Nest(path string) bool
}

// An Unconverted file is one that only git can convert.
type Unconverted struct {
	Path string
	// Before is what it was when it was known last, if that has CRLF: git may
	// then convert it otherwise. Else nil.
	Before *File
}

// Known is what is known before a scan. Any part may be nil.
type Known struct {
	Base *Dir // the state when the session began: all of it is in scope
	// Index are the tracked files: all of them are in scope. What it says of their
	// contents is taken as git takes it, but only where there is no Base: later on
	// it can be the word of whoever is looked at (a filter that is there for one
	// "git add" makes an entry with another content and the file's own stat).
	Index *Dir
	// Names: the contents of Index are not at hand, even when a session begins. It says
	// which names are in scope, and no more.
	Names bool
	Then  *Dir // what Index was when the session began; nil where that is not known
	Last  *Dir // the last state that was found; reading is spared by it
	Also  *Dir // more that is in scope
}

// A State is what a scan found.
type State struct {
	Root *Dir
	// Warnings name what could not be read, ordered, as sentences. Such paths
	// are in the state as they were last known.
	Warnings []string
	// Hidden are the directories, with a slash at their end, of which ignore files
	// of their own hide all, themselves included. They are ordered.
	Hidden []string
	// Passed are the directories, with a slash at their end, that git ignores with all that
	// is in them: nothing there was looked at. They are ordered.
	Passed []string
}

// Scan finds the state of the work tree. It returns an error when the root
// cannot be read, when contents cannot be kept, when git fails, or when ctx
// ends.
func (s *Scanner) Scan(ctx context.Context, k Known) (State, error) {
	w := &walk{Scanner: s, known: k}
	w.busy.Store(1)
	if s.Alone {
		w.busy.Store(int32(runtime.GOMAXPROCS(0)))
	}
	found, err := w.visitPlace(ctx, place{base: k.Base, index: k.Index, also: k.Also, last: k.Last}, nil)
	if err != nil {
		return State{}, err
	}
	if found.dir == nil {
		return State{}, fmt.Errorf("read work tree %s: %w", s.Root, fs.ErrNotExist)
	}
	if err := w.hashByGit(ctx, found.dir); err != nil {
		return State{}, err
	}
	if err := ctx.Err(); err != nil { // what was asked of contents may not have been answered
		return State{}, err
	}
	found.dir.Seal() // what waited for git
	slices.Sort(w.warnings)
	slices.Sort(w.hidden)
	slices.Sort(w.passed)
	return State{Root: found.dir, Warnings: slices.Compact(w.warnings), Hidden: w.hidden, Passed: w.passed}, nil // some are looked at twice
}

func (w *walk) hashByGit(ctx context.Context, root *Dir) error {
	if len(w.pending) == 0 {
		return nil
	}
	ids, err := w.Hash(ctx, w.pending)
	if err != nil {
		return fmt.Errorf("convert files through git: %w", err)
	}
	for i, f := range w.pending {
		if found := root.Find(f.Path); found != nil { // it may be hidden
			found.ID = ids[i]
		}
	}
	return nil
}
