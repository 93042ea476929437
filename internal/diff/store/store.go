// Package store keeps the objects of sessions in a private repository, and fetches into
// it what it is asked for and the user's repository has. That one git reads, in a
// process of its own: whoever works there can write what they like, and nothing is
// written there. The private one go-git reads. No content is returned that is not what
// its id says.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
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

// ErrForged reports an object whose content does not match its name: whoever works in
// the repository can write what they like there.
var ErrForged = errors.New("the object has another content than its name says")

// A Git runs the git program and returns its standard output; a command that
// fails is an error that carries what it said.
type Git interface {
	Run(context.Context, Call) (stdout []byte, err error)
}

// A Call is one run of the git program.
type Call struct {
	Dir   string
	Args  []string
	Env   []string // "NAME=value", beyond the user's own
	Stdin []byte
}

// Options say where the objects are.
type Options struct {
	// ObjectsDir is the directory "objects" of the user's repository.
	ObjectsDir string
	Git        Git // nil: what stands there cannot be read
	// Dir is where Promised is run, for objects of a partial clone that are elsewhere.
	Dir      string
	Promised Git // nil: such objects are missing
	// Sync writes a file or a directory to the disk. Nil: as the system does it.
	Sync func(*os.File) error
}

// A Store gives access to the objects of one repository and of the private one, and
// remembers some of them. It is safe for concurrent use.
//
// Contents that a scan hashed are remembered, so that a later patch has its
// old side and a file can be put back: in memory up to 1 MiB each and 64 MiB
// together, beyond that in the private repository. What is above [Large] is not kept
// at all.
type Store struct {
	options Options
	own     *private
	others  []string // directories of more objects, which git reads
	large   sync.Map // the ids of what has been read as a whole
	beneath *Store   // has what this one has not; nil: there is none

	mu    sync.Mutex
	kept  map[plumbing.Hash][]byte // blobs in memory, up to a limit
	bytes int64                    // in kept
}

// New returns the store of a repository. It reads nothing yet, and writes into a
// private repository that is gone when it is closed, unless there is [Store.KeepIn].
func New(o Options) *Store {
	if o.Sync == nil {
		o.Sync = (*os.File).Sync
	}
	return &Store{options: o, own: &private{sync: o.Sync}, kept: make(map[plumbing.Hash][]byte)}
}

// Beside returns a store that has what s has. What it is given, and what it fetches, is
// gone when it is closed: s is as it would be without it. Git and promised are as
// [Options.Git] and [Options.Promised].
func (s *Store) Beside(git, promised Git) *Store {
	o := s.options
	o.Git, o.Promised, o.Sync = git, promised, func(*os.File) error { return nil }
	b := New(o)
	b.beneath = s
	if objects := s.own.directory(); objects != nil {
		b.others = append(b.others, objects.path)
	}
	return b
}

// Close closes the files that were opened.
func (s *Store) Close() error { return s.own.close() }

// remembered returns the content of a blob that is kept in memory.
func (s *Store) remembered(id plumbing.Hash) (content []byte, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, kept = s.kept[id]
	return content, kept
}

// Keep remembers the content of a blob, which the store owns from then on.
// Content above [Large] is passed over.
func (s *Store) Keep(id plumbing.Hash, content []byte) error {
	size := int64(len(content))
	s.mu.Lock()
	_, kept := s.kept[id]
	if !kept && size <= keepFile && s.bytes+size <= keepTotal {
		s.kept[id], kept = content, true
		s.bytes += size
	}
	s.mu.Unlock()
	if kept || size > Large {
		return nil
	}
	return s.own.write(id, content)
}

// Persist writes a blob that is remembered in memory into the private repository,
// where git finds it with the variables of [Store.Environ].
func (s *Store) Persist(id plumbing.Hash) error {
	content, kept := s.remembered(id)
	if !kept && s.beneath != nil {
		content, kept = s.beneath.remembered(id)
	}
	if !kept {
		return nil
	}
	return s.own.write(id, content)
}

// Tree returns the content of a tree object.
func (s *Store) Tree(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.TreeObject, id)
}

// Commit returns the content of a commit object.
func (s *Store) Commit(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.CommitObject, id)
}

// Blob returns the content of a blob, which the caller must not change. It is
// [ErrLarge] for one above [Large].
func (s *Store) Blob(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.BlobObject, id)
}

// Open returns a reader of a blob of any length that is in one of the repositories.
// Where it would end there is an error if it was not the blob of that id. The end of
// the context is one of the reading. The caller closes it.
func (s *Store) Open(ctx context.Context, id plumbing.Hash) (io.ReadCloser, error) {
	r, err := s.own.directory().stream(ctx, plumbing.BlobObject, id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		if err = s.copyWhole(ctx, id); err == nil {
			r, err = s.own.directory().stream(ctx, plumbing.BlobObject, id)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", id, err)
	}
	return r, nil
}

// read looks in the private repository, then in the user's, then where that one has
// objects from.
func (s *Store) read(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	content, err := s.local(ctx, kind, id)
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return content, err
	}
	found, err := s.find(ctx, kind, id)
	if err == nil && found.size <= Large {
		return found.content, nil
	}
	if err == nil { // it is [ErrLarge] if it is as large as it is said to be
		err = s.copyWhole(ctx, id)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, id, err)
	}
	return s.local(ctx, kind, id)
}

// Owns reports whether an object is in the private repository.
func (s *Store) Owns(id plumbing.Hash) bool { return s.own.directory().has(id) }

// Has reports whether there is an object in one of the repositories.
func (s *Store) Has(ctx context.Context, id plumbing.Hash) bool {
	if s.Owns(id) {
		return true
	}
	found, err := s.sizes(ctx, []plumbing.Hash{id})
	return err == nil && len(found) > 0
}

// Size returns the length of a blob in bytes.
func (s *Store) Size(ctx context.Context, id plumbing.Hash) (size int64, err error) {
	if content, kept := s.remembered(id); kept {
		return int64(len(content)), nil
	}
	if size, err = s.own.directory().size(id); err == nil {
		return size, nil
	}
	found, err := s.sizes(ctx, []plumbing.Hash{id})
	switch o, ok := found[id]; {
	case err == nil && ok:
		return o.size, nil
	case s.options.Promised != nil:
		size, err = s.sizeByGit(ctx, id)
	case err == nil:
		err = plumbing.ErrObjectNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("read the size of blob %s: %w", id, err)
	}
	return size, nil
}

func (s *Store) local(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (content []byte, err error) {
	if content, kept := s.remembered(id); kept {
		return content, nil
	}
	if _, known := s.large.Load(id); known {
		return nil, ErrLarge
	}
	if content, err = s.own.directory().content(ctx, kind, id); errors.Is(err, ErrLarge) {
		s.large.Store(id, true)
	}
	if s.beneath != nil && errors.Is(err, plumbing.ErrObjectNotFound) {
		return s.beneath.local(ctx, kind, id)
	}
	return content, err
}

// atHand reports whether a blob can be read without asking git.
func (s *Store) atHand(id plumbing.Hash) bool {
	_, kept := s.remembered(id)
	return kept || s.Owns(id) || s.beneath != nil && s.beneath.atHand(id)
}
