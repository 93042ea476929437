// Package store keeps the objects of sessions in a private repository, and copies objects into it
// from the user's repository. The user's repository is never written to. It is read by the git
// program, in a process of its own, because agents can write anything there. The private
// repository is read by go-git. Every returned content matches its id.
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
	// Large is the size above which a blob is never loaded into memory.
	Large = 20 << 20

	keepFile  = 1 << 20
	keepTotal = 64 << 20
)

// ErrLarge is returned for the content of a blob above [Large].
var ErrLarge = errors.New("blob is too large to load")

// ErrForged is an object whose content does not match its id. Agents can write such objects into
// the user's repository.
var ErrForged = errors.New("the content of the object does not match its id")

// A Git runs the git program and returns its standard output. If the command fails, the error has
// its messages.
type Git interface {
	Run(context.Context, Call) (stdout []byte, err error)
}

// A Call is one run of the git program.
type Call struct {
	Dir   string
	Args  []string
	Env   []string // "NAME=value", in addition to the user's own
	Stdin []byte
}

// Options say where the objects are.
type Options struct {
	// ObjectsDir is the directory "objects" of the user's repository.
	ObjectsDir string
	Git        Git // nil: the user's repository cannot be read
	// Dir is where Promised runs, to fetch missing objects of a partial clone.
	Dir      string
	Promised Git // nil: such objects stay missing
	// Sync syncs a file or a directory. Nil: File.Sync.
	Sync func(*os.File) error
}

// A Store reads the objects of the user's repository and the private one. It is safe for
// concurrent use.
//
// It keeps contents that a scan has hashed, so that a later patch has its old side and a file can
// be put back: in memory up to 1 MiB each and 64 MiB in all, and beyond that in the private
// repository. Contents above [Large] are not kept.
type Store struct {
	o       Options
	own     *private
	blobs   blobs
	large   sync.Map // ids of large blobs whose content was verified
	beneath *Store   // where to look for what this one does not have, or nil
}

// New returns the store of a repository. Unless [Store.KeepIn] is called, the private repository is
// temporary, and Close removes it.
func New(o Options) *Store {
	if o.Sync == nil {
		o.Sync = (*os.File).Sync
	}
	return &Store{o: o, own: &private{sync: o.Sync}, blobs: blobs{kept: make(map[plumbing.Hash][]byte)}}
}

// Temporary returns a temporary store on top of s. It has the objects of s, and never changes s.
// Promised is as in [Options].
func (s *Store) Temporary(promised Git) *Store {
	o := s.o
	o.Promised, o.Sync = promised, func(*os.File) error { return nil }
	t := New(o)
	t.beneath = s
	return t
}

// Close closes all files, and removes a temporary repository.
func (s *Store) Close() error { return s.own.close() }

// Keep stores the content of a blob, which the caller must not change after that. It ignores a
// content above [Large].
func (s *Store) Keep(id plumbing.Hash, content []byte) error {
	if s.blobs.add(id, content) || len(content) > Large {
		return nil
	}
	return s.own.write(id, content)
}

// Persist writes a blob from memory into the private repository, where git finds it with the
// variables of [Store.Environ].
func (s *Store) Persist(id plumbing.Hash) error {
	if content, kept := s.kept(id); kept {
		return s.own.write(id, content)
	}
	return nil
}

// Tree returns the content of a tree object.
func (s *Store) Tree(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.TreeObject, id)
}

// Commit returns the content of a commit object.
func (s *Store) Commit(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.CommitObject, id)
}

// Blob returns the content of a blob, which the caller must not change. The error is [ErrLarge] for
// one above [Large].
func (s *Store) Blob(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	return s.read(ctx, plumbing.BlobObject, id)
}

// Open returns a reader of a blob of any size, which the caller closes. It ends with an error if the
// content does not match the id, or if the context ends.
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

// read looks in memory, in the private repository, in the user's, and in the source of a partial clone.
func (s *Store) read(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	content, err := s.local(ctx, kind, id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		var found object
		found, err = s.find(ctx, kind, id, true)
		content = found.content
		if err == nil && found.size > Large { // local returns [ErrLarge] if it really is that large
			if err = s.copyWhole(ctx, id); err == nil {
				content, err = s.local(ctx, kind, id)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, id, err)
	}
	return content, nil
}

// Owns reports whether an object is in the private repository.
func (s *Store) Owns(id plumbing.Hash) bool { return s.own.directory().has(id) }

// Has reports whether one of the repositories has an object.
func (s *Store) Has(ctx context.Context, id plumbing.Hash) bool {
	if s.Owns(id) {
		return true
	}
	found, err := s.headers(ctx, []plumbing.Hash{id})
	return err == nil && len(found) > 0
}

// Size returns the length of a blob in bytes.
func (s *Store) Size(ctx context.Context, id plumbing.Hash) (int64, error) {
	if content, kept := s.kept(id); kept {
		return int64(len(content)), nil
	}
	if size, err := s.own.directory().size(id); err == nil {
		return size, nil
	}
	found, err := s.find(ctx, plumbing.BlobObject, id, false)
	if err != nil {
		return 0, fmt.Errorf("read the size of blob %s: %w", id, err)
	}
	return found.size, nil
}

// kept returns the content of a blob that is in memory.
func (s *Store) kept(id plumbing.Hash) ([]byte, bool) {
	content, kept := s.blobs.get(id)
	if !kept && s.beneath != nil {
		return s.beneath.kept(id)
	}
	return content, kept
}

// local returns the content of an object that can be read without running git.
func (s *Store) local(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (content []byte, err error) {
	if content, kept := s.kept(id); kept {
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

// atHand reports whether local has a blob.
func (s *Store) atHand(id plumbing.Hash) bool {
	_, kept := s.kept(id)
	return kept || s.Owns(id) || s.beneath != nil && s.beneath.atHand(id)
}

// blobs are contents in memory, up to a limit.
type blobs struct {
	mu    sync.Mutex
	kept  map[plumbing.Hash][]byte
	bytes int64 // in kept
}

func (b *blobs) get(id plumbing.Hash) (content []byte, kept bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, kept = b.kept[id]
	return content, kept
}

// add reports whether it has kept a blob, now or earlier.
func (b *blobs) add(id plumbing.Hash, content []byte) (kept bool) {
	size := int64(len(content))
	b.mu.Lock()
	defer b.mu.Unlock()
	_, kept = b.kept[id]
	if !kept && size <= keepFile && b.bytes+size <= keepTotal {
		b.kept[id], kept = content, true
		b.bytes += size
	}
	return kept
}
