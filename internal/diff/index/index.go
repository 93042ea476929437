// Package index reads git's index file, the list of tracked files.
//
// The format is that of gitformat-index(5), versions 2 to 4 with SHA-1. The
// index is never written and its checksum not verified, as git itself does on
// reading.
package index

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"codeloops/internal/diff/repo/file"
)

// Indexes that are sound but that this package leaves to git.
var (
	// ErrSparse: whole directories stand as single entries (sparse index).
	ErrSparse = errors.New("index has sparse directories")
	// ErrExtension: the index needs an extension that is not known here.
	ErrExtension = errors.New("index has an unknown required extension")
)

// ErrCorrupt is a file that is cut short or is not an index.
var ErrCorrupt = errors.New("index is corrupt")

// maxIndex bounds what is read: some twenty million entries.
const maxIndex = 2 << 30

// An ID is the SHA-1 name of an object.
type ID [20]byte

// The modes of entries.
const (
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeGitlink    uint32 = 0o160000
)

// A Flag is a mark on an entry.
type Flag uint8

// The flags, as in git-update-index(1) and git-add(1) -N.
const (
	AssumeValid Flag = 1 << iota
	SkipWorktree
	IntentToAdd
)

// A Time is a file's time as the index keeps it, cut to 32 bits.
type Time struct {
	Sec, Nsec uint32
}

// An Entry is a tracked path, with what stat said of the file when git last
// compared it with the blob.
type Entry struct {
	Path  string // slash-separated, safe to join to the work tree's root
	ID    ID
	Mode  uint32
	Size  uint32 // of the file in the work tree, modulo 2^32
	Ctime Time
	Mtime Time
	Dev   uint32
	Ino   uint32
	Stage uint8 // 0; 1 to 3 in a conflict
	Flags Flag
}

// A Tree is a directory whose tracked content is, entry for entry, the tree
// object ID: the valid part of the index's cache tree.
type Tree struct {
	Path    string // "" for the root
	ID      ID
	Entries int // below it, in all subdirectories
}

// An Index is the content of an index file. Its parts may be shared, but must
// not be changed.
type Index struct {
	Version uint32     // 0 when there is no index file
	Entries []Entry    // ordered by path, then stage
	Trees   []Tree     // in depth-first order
	Stamp   file.Stamp // of the index file; zero when there is none
	Trailer ID         // the checksum at the end; zero under index.skipHash
}

// Read reads the index at path; a split index has its other half in gitDir. A
// missing file is an empty index. Errors wrap ErrCorrupt, ErrSparse or
// ErrExtension, or say why the file could not be read.
func Read(path, gitDir string) (*Index, error) {
	d, stamp, err := readFile(path)
	if file.Missing(err) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, err
	}
	if d.link != nil {
		if err := d.join(gitDir); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return &Index{
		Version: d.version,
		Entries: d.entries,
		Trees:   d.trees,
		Stamp:   stamp,
		Trailer: d.trailer,
	}, nil
}

// join completes a split index with the shared half that it names.
func (d *decoder) join(gitDir string) error {
	if d.link.base == (ID{}) {
		return nil
	}
	name := "sharedindex." + hex.EncodeToString(d.link.base[:])
	shared, _, err := readFile(filepath.Join(gitDir, name))
	if err != nil {
		return err
	}
	if shared.link != nil {
		return corrupt("%s is itself split", name)
	}
	d.entries, err = d.link.merge(shared.entries, d.entries)
	return err
}

// readFile reads one file and decodes it.
func readFile(path string) (*decoder, file.Stamp, error) {
	data, stamp, err := file.Read(path, file.How{Max: maxIndex})
	if err != nil {
		return nil, stamp, err
	}
	d, err := decode(data)
	if err != nil {
		return nil, stamp, fmt.Errorf("read %s: %w", path, err)
	}
	return d, stamp, nil
}

// Racy reports whether the file of e may have been written after git looked at
// it without this showing in its times, so that only its content tells
// (git's Documentation/technical/racy-git.txt).
func (x *Index) Racy(e *Entry) bool {
	sec, nsec := x.Stamp.Mtime/1e9, x.Stamp.Mtime%1e9
	if at := int64(e.Mtime.Sec); at != sec || e.Mtime.Nsec == 0 {
		return at >= sec
	}
	return int64(e.Mtime.Nsec) >= nsec
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
