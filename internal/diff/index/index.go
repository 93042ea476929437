// Package index reads git's index file, the list of tracked files.
//
// The format is that of gitformat-index(5), versions 2 to 4 with SHA-1. The checksum is not
// verified, because git does not verify it either.
package index

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/file"
)

// ErrExtension is an index that only git can read, because it needs an extension: a split index
// ("link"), or a sparse one ("sdir").
var ErrExtension = errors.New("index needs an extension that only git can read")

// ErrCorrupt is a file that is cut short or is not an index.
var ErrCorrupt = errors.New("index is corrupt")

// maxIndex limits the size of the file, to some twenty million entries.
const maxIndex = 2 << 30

// A Flag is a mark on an entry.
type Flag uint16

// The flags, as in git-update-index(1) and git-add(1) -N. The values are the bits in the file, of
// the last two in the extended flags.
const (
	AssumeValid  Flag = 0x8000
	SkipWorktree Flag = 0x4000
	IntentToAdd  Flag = 0x2000
)

// An Entry is a tracked path, with what stat said of the file when git last
// compared it with the blob.
type Entry struct {
	Path  string // slash-separated, safe to join to the work tree's root
	ID    plumbing.Hash
	Mode  uint32
	Size  uint32 // of the file in the work tree, modulo 2^32
	Ctime int64  // nanoseconds since 1970, with the seconds cut to 32 bits
	Mtime int64  // likewise
	Dev   uint32
	Ino   uint32
	Stage uint8 // 0; 1 to 3 in a conflict
	Flags Flag
}

// An Index is the content of an index file. It must not be changed.
type Index struct {
	Version uint32        // 0 if there is no index file
	Entries []Entry       // ordered by path, then stage
	Stamp   file.Stamp    // of the index file; zero if there is none
	Trailer plumbing.Hash // the checksum at the end; zero under index.skipHash
}

// A Mark identifies a version of an index file by its content and stat.
type Mark struct {
	sum   [sha256.Size]byte
	stamp file.Stamp
}

// Read reads the index at path. A missing file is an empty index. The error wraps ErrCorrupt or
// ErrExtension, or says why the file could not be read.
func Read(path string) (*Index, error) {
	x, _, err := ReadNew(path, Mark{})
	return x, err
}

// ReadNew is [Read], but returns nil if the file has not changed since it had a known mark. It
// returns the current mark even with an error.
func ReadNew(path string, known Mark) (*Index, Mark, error) {
	data, stamp, err := file.Read(path, file.Options{Max: maxIndex})
	mark := Mark{sha256.Sum256(data), stamp}
	switch {
	case err != nil && !file.Missing(err):
		return nil, mark, err
	case mark == known:
		return nil, mark, nil
	case err != nil:
		return &Index{}, mark, nil //nolint:nilerr // there is no file
	}
	x, err := decode(data)
	if err != nil {
		return nil, mark, fmt.Errorf("read %s: %w", path, err)
	}
	x.Stamp = stamp
	return x, mark, nil
}

// Racy reports whether the file of e may have been written after git looked at it without a
// change of its times, so that only the content tells (git's
// Documentation/technical/racy-git.txt).
func (x *Index) Racy(e *Entry) bool {
	if e.Mtime%1e9 == 0 { // the file system may keep only seconds
		return e.Mtime/1e9 >= x.Stamp.Mtime/1e9
	}
	return e.Mtime >= x.Stamp.Mtime
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

func (e *Entry) compare(other *Entry) int {
	return cmp.Or(cmp.Compare(e.Path, other.Path), cmp.Compare(e.Stage, other.Stage))
}
