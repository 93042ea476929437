// Package store reads and writes the objects of a git repository.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/shared"
)

// Limits of what a store holds in memory, in bytes.
const (
	// Large is the size above which a blob is never loaded.
	Large = 20 << 20

	keepFile  = 1 << 20
	keepTotal = 64 << 20
)

// ErrLarge is returned for the content of a blob above [Large].
var ErrLarge = errors.New("blob is too large to load")

// ErrForged is an object of which the content is not the one that its name is made
// of: whoever works in the repository can write what they like there.
var ErrForged = errors.New("the object has another content than its name says")

// A Git runs the git program in dir and returns its standard output; a
// command that fails is an error that carries what it said.
type Git interface {
	Run(ctx context.Context, dir string, args []string, stdin []byte) (stdout []byte, err error)
}

// Options say where the objects are.
type Options struct {
	// ObjectsDir is the repository's directory "objects".
	ObjectsDir string
	// Dir is where the git program is run, for objects that are to be fetched
	// from a promisor remote.
	Dir string
	Git Git // nil: such objects are missing
	// Shared are the permissions of what is written.
	Shared shared.Mode
	// Now is the clock that the file system's times are of. Nil: nothing that is
	// there is made newer.
	Now func() time.Time
}

// A Store is the object database of one repository with what this process
// remembers of it. It opens nothing before the first object is asked for that
// it does not remember. It is safe for concurrent use.
//
// Contents that a scan hashed are remembered, so that a later patch has its
// old side and a file can be put back: in memory up to 1 MiB each and 64 MiB
// together, beyond that as loose objects, which no reference protects and `git
// gc` removes in its time. What is above [Large] is not kept at all.
type Store struct {
	options Options

	mu    sync.Mutex // of what is remembered, and of writing
	kept  map[plumbing.Hash][]byte
	bytes int64 // in kept

	database *database
}

// New returns the store of a repository. It reads nothing yet.
func New(o Options) *Store {
	return &Store{
		options:  o,
		kept:     make(map[plumbing.Hash][]byte),
		database: newDatabase(place{objects: o.ObjectsDir, shared: o.Shared, now: o.Now}),
	}
}

// Close closes the pack files that were opened; the store may be used again.
func (s *Store) Close() error {
	return s.database.close()
}

// Keep remembers the content of a blob, which the store owns from then on.
// Content above [Large] is passed over.
func (s *Store) Keep(id plumbing.Hash, content []byte) error {
	if len(content) > Large {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.kept[id]; known {
		return nil
	}
	size := int64(len(content))
	if size <= keepFile && s.bytes+size <= keepTotal {
		s.kept[id] = content
		s.bytes += size
		return nil
	}
	if err := s.database.write(plumbing.BlobObject, id, content); err != nil {
		return fmt.Errorf("keep blob %s: %w", id, err)
	}
	return nil
}

// Persist writes a blob that is remembered in memory as a loose object. It
// reports false when it is not remembered there.
func (s *Store) Persist(id plumbing.Hash) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, kept := s.kept[id]
	if !kept {
		return false, nil
	}
	if err := s.database.write(plumbing.BlobObject, id, content); err != nil {
		return true, fmt.Errorf("write blob %s: %w", id, err)
	}
	return true, nil
}

// Stream adds a blob of size bytes, read from r, as a loose object without
// loading it. Content of another length is an error. The end of the context is
// one of the reading.
func (s *Store) Stream(ctx context.Context, r io.Reader, size int64) (plumbing.Hash, error) {
	id, err := s.database.place.stream(Until(ctx, r), size)
	if err != nil {
		return id, fmt.Errorf("write a blob of %d bytes: %w", size, err)
	}
	return id, nil
}

// Tree returns the content of a tree object.
func (s *Store) Tree(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.TreeObject, id)
}

// Commit returns the content of a commit object.
func (s *Store) Commit(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.CommitObject, id)
}

// Has reports whether the database holds an object, remembered or not.
func (s *Store) Has(ctx context.Context, id plumbing.Hash) bool {
	return s.database.has(ctx, id)
}

// Freshen reports, as Has does, whether the database holds an object, to which
// something is about to refer. What git holds for left over, and is about to remove,
// it spares then for the time that it spares what is new (gc.pruneExpire): it may
// have looked for what is referred to before.
func (s *Store) Freshen(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.database.freshen(ctx, kind, id)
}

// Blob returns the content of a blob, which the caller must not change. It is
// [ErrLarge] for one above [Large].
func (s *Store) Blob(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.BlobObject, id)
}

// Open returns a reader of a blob of any length that the database has. Where it
// would end there is an error if it was not the blob of that id. The end of the
// context is one of the reading. The caller closes it: until then no other object can
// be read that is made of deltas of such lengths.
func (s *Store) Open(ctx context.Context, id plumbing.Hash) (io.ReadCloser, error) {
	r, err := s.database.stream(ctx, plumbing.BlobObject, id)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	return r, nil
}

// read asks git for what the database has not: git may fetch it from the
// remote of a partial clone. What is forged git would take from the same place; and
// of what is large it would tell what stands in the header, which is not believed:
// only the database, which has by now what was fetched, reads all of it.
func (s *Store) read(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	content, err := s.local(ctx, kind, id)
	if err == nil || errors.Is(err, ErrLarge) {
		return content, err
	}
	if s.options.Git == nil || errors.Is(err, ErrForged) || ctx.Err() != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, id, err)
	}
	switch size, err := s.sizeByGit(ctx, id); {
	case err != nil:
		return nil, fmt.Errorf("read %s %s: %w", kind, id, err)
	case size > Large:
		return s.large(ctx, kind, id)
	}
	content, err = s.options.Git.Run(ctx, s.options.Dir, []string{"cat-file", kind.String(), id.String()}, nil)
	if err == nil && Sum(kind, content) != id {
		err = ErrForged
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, id, err)
	}
	return content, nil
}

// large returns [ErrLarge] for an object that is too large, and is in the database.
func (s *Store) large(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	content, err := s.local(ctx, kind, id)
	if err != nil && !errors.Is(err, ErrLarge) {
		err = fmt.Errorf("read %s %s: %w", kind, id, err)
	}
	return content, err
}

func (s *Store) sizeByGit(ctx context.Context, id plumbing.Hash) (int64, error) {
	out, err := s.options.Git.Run(ctx, s.options.Dir, []string{"cat-file", "-s", id.String()}, nil)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// Size returns the length of a blob in bytes.
func (s *Store) Size(ctx context.Context, id plumbing.Hash) (int64, error) {
	size, err := s.localSize(ctx, id)
	if err != nil && s.options.Git != nil {
		size, err = s.sizeByGit(ctx, id)
	}
	if err != nil {
		return 0, fmt.Errorf("read the size of blob %s: %w", id, err)
	}
	return size, nil
}

func (s *Store) local(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	if content, kept := s.remembered(id); kept {
		return content, nil
	}
	return s.database.content(ctx, kind, id)
}

func (s *Store) localSize(ctx context.Context, id plumbing.Hash) (int64, error) {
	if content, kept := s.remembered(id); kept {
		return int64(len(content)), nil
	}
	return s.database.size(ctx, id)
}

func (s *Store) remembered(id plumbing.Hash) (content []byte, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, kept = s.kept[id]
	return content, kept
}
