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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/shown"
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
	Root       string // absolute path of the work tree
	Within     string // the path of Root for people, with a slash at its end; "": none stands before names
	FileMode   bool   // core.fileMode: the executable bit counts
	Symlinks   bool   // core.symlinks: a symlink is not checked out as a file
	IgnoreCase bool   // core.ignoreCase

	Now func() time.Time
	// Content: the file system does not keep times, see [Keeps]: every file is read.
	Content bool
	// Since is when the session began; zero before it has. What has been written since
	// is read each time: whoever has a file mapped can write to it again without a
	// trace, for as long as the system has not written it to the disk. Those above
	// [store.Large] alone are believed by their times.
	Since      time.Time
	Blobs      Blobs
	Rules      *ignore.Rules // the ones of the last scan if they still hold
	Attributes *attr.Reader  // nil: files are what they are on the disk
	Settings   attr.Settings

	// Head looks at a directory that a gitlink stands for as a repository, and
	// Embedded at one with a .git that none stands for; scoped says that it has files
	// which are in scope by themselves, so that it is none. Both get the path from the
	// root with a slash at its end, in several goroutines.
	Head     func(path string) (Head, error)
	Embedded func(path string, scoped bool) (Head, error)
	// Nest reports whether a directory, named likewise, has a scan of its own. May be
	// nil.
	Nest func(path string) bool
	// Hash stores files through git, which alone can convert them, and
	// returns the ids of their blobs.
	Hash func(context.Context, []Unconverted) ([]plumbing.Hash, error)
}

// An Unconverted file is one that only git can convert.
type Unconverted struct {
	Path string
	// Before is what it was when it was known last, if that has CRLF: git may
	// then convert it otherwise. Else nil.
	Before *File
}

// ownModes reports whether nothing but a file itself says what its mode is: what is
// known of the file does elsewhere.
func (s *Scanner) ownModes() bool { return s.FileMode && s.Symlinks }

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
	// Listed: the rules are those of the last scan, so that a directory that
	// has not changed since need not be listed.
	Listed bool
	Also   *Dir // more that is in scope
	// Same: Listed, and Last was found with the same Base, Index, Also and
	// settings. What it says of names that are still there then needs no other
	// source.
	Same bool
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
}

// Scan finds the state of the work tree. It returns an error when the root
// cannot be read, when contents cannot be kept, when git fails, or when ctx
// ends.
func (s *Scanner) Scan(ctx context.Context, k Known) (State, error) {
	w := &walk{
		Scanner: s,
		clock:   clockOf(s.Root),
		known:   k,
	}
	full := strings.TrimSuffix(s.Root, string(filepath.Separator)) + "/"
	found, err := w.run(ctx, &place{full: full, listed: k.Listed, last: k.Last, scope: scope{base: k.Base, index: k.Index, also: k.Also}})
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
	return State{Root: found.dir, Warnings: slices.Compact(w.warnings), Hidden: w.hidden}, nil // some are looked at twice
}

// A walk is one scan. Its goroutines share the queue and what the mutex guards.
type walk struct {
	*Scanner
	clock clock
	known Known
	queue
	root found
	open atomic.Int32 // directories that are held open

	shared   sync.Mutex
	warnings []string
	hidden   []string      // see State.Hidden
	pending  []Unconverted // files without an id yet: git is to give them
}

// indexed reports whether the index counts for contents, see Known.Index.
func (w *walk) indexed() bool { return w.known.Base == nil && !w.known.Names && !w.Content }

func (w *walk) warn(path string, err error) {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	w.shared.Lock()
	defer w.shared.Unlock()
	path = w.Within + strings.TrimSuffix(path, "/")
	w.warnings = append(w.warnings, shown.In(fmt.Sprintf("cannot read %s: %v; what has changed there is not seen", path, err), path))
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

// absolute returns the path that the operating system knows, without a slash at
// its end.
func (w *walk) absolute(p *place) string {
	if p.path == "" {
		return w.Root
	}
	return p.full[:len(p.full)-1]
}
