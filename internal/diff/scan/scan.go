// Package scan finds the state of a work tree: what git would record of every
// file in scope.
//
// In scope are files that are tracked, or untracked and not ignored, or that were in scope when
// the session began, and those that decide about the scope (see [Decides]). HEAD plays no part. A
// file is not read if its stat proves that it has not changed.
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

// Blobs stores contents, as [codeloops/internal/diff/store.Store] does.
type Blobs interface {
	Blob(ctx context.Context, id plumbing.Hash) ([]byte, error)
	Keep(id plumbing.Hash, content []byte) error
}

// A Head says whether a directory is a repository, and at which commit it is.
type Head struct {
	Repository bool
	Commit     plumbing.Hash // zero on a branch without commits
}

// A Scanner finds the states of one work tree. Its fields must not change during a scan.
type Scanner struct {
	Root   string // absolute path of the work tree
	Within string // prefix of paths in what is found and asked: "", or the path of a nest with a slash at the end
	FileSystem

	// Since is when the session began; zero before that. Files written since then are read each
	// time: a program that has a file mapped can write to it without changing its stat, until
	// the system has written it to the disk. Only for files above [store.Large] are the times
	// trusted.
	Since      time.Time
	Clock      Clock // every file is read if its times cannot be trusted
	Now        func() time.Time
	Blobs      Blobs
	Rules      *ignore.Rules
	Conversion attr.Conversion // without a Reader, files are not converted
	Inside     Repositories
	Alone      bool // use one processor, and leave the others to those at work
	// Hash stores files that only git can convert, and returns the ids of their blobs.
	Hash func(context.Context, []Unconverted) ([]plumbing.Hash, error)
}

// A FileSystem is what the configuration says about the file system of the work tree.
type FileSystem struct {
	FileMode   bool // core.fileMode: the executable bit counts
	Symlinks   bool // core.symlinks: a symlink is not checked out as a file
	IgnoreCase bool // core.ignoreCase
}

// FileSystemOf reads the settings of a FileSystem.
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

// Repositories know the repositories inside the work tree. Paths begin with [Scanner.Within]. Several
// goroutines call the methods.
type Repositories interface {
	// Head opens the repository in the directory of a gitlink.
	Head(path string) (Head, error)
	// Embedded opens the repository in a directory with a .git and no gitlink. If scoped, the
	// directory has files that are in scope by themselves, so it does not count as one.
	Embedded(path string, scoped bool) (Head, error)
	// Nest reports whether a directory has a scan of its own.
	Nest(path string) bool
}

// An Unconverted file is one that only git can convert.
type Unconverted struct {
	Path string
	// Before is the last known version, if that has CRLF, on which git's conversion may
	// depend; else nil.
	Before *File
}

// Known is what is known before a scan. Any part may be nil.
type Known struct {
	Base *Dir // the state when the session began: all of it is in scope
	// Index has the tracked files: all of them are in scope. Its ids are trusted, as git does,
	// only if there is no Base. Later, an agent can have forged them: a filter that exists
	// during one "git add" makes an entry with another content and the file's own stat.
	Index *Dir
	Names bool // Index only says which names are in scope; its contents are not available
	Then  *Dir // Index when the session began; nil if not known
	Last  *Dir // the last state; files that have not changed since are not read
	Also  *Dir // more files that are in scope
}

// A State is what a scan found.
type State struct {
	Root *Dir
	// Unread are the paths that could not be read, sorted; directories end in a slash. They are in the
	// state as they were last known. Warnings are sentences about them.
	Unread, Warnings []string
	// SelfIgnored are the directories, each with a slash at the end, that ignore themselves through
	// .gitignore files inside. They are sorted.
	SelfIgnored []string
	// IgnoredDirs are the directories, each with a slash at the end, that git ignores as a whole, so
	// that they were not listed. They are sorted.
	IgnoredDirs []string
}

// Scan finds the state of the work tree. It fails if the root cannot be read, a content cannot be
// stored, git fails, or ctx ends.
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
	if err := ctx.Err(); err != nil { // some answers about contents may be wrong then
		return State{}, err
	}
	found.dir.Seal() // the directories that waited for git
	slices.Sort(w.warnings)
	slices.Sort(w.unread)
	slices.Sort(w.hidden)
	slices.Sort(w.passed)
	return State{Root: found.dir, Unread: slices.Compact(w.unread), Warnings: slices.Compact(w.warnings), SelfIgnored: w.hidden, IgnoredDirs: w.passed}, nil
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
