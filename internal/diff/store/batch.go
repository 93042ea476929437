package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// A Batch collects objects for the private repository, to write them together. It is not safe for
// concurrent use.
type Batch struct {
	store *Store
	new   *memory.Storage
	order []plumbing.Hash // of the new objects
	// Blobs for git to copy into a pack, and a path of each.
	small, large []plumbing.Hash
	paths        map[plumbing.Hash]string
}

// Batch returns an empty batch.
func (s *Store) Batch() (*Batch, error) {
	return &Batch{store: s, new: memory.NewStorage(), paths: make(map[plumbing.Hash]string)}, s.own.open()
}

// Add adds an object.
func (b *Batch) Add(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	_, _ = o.Write(content) // to memory
	if b.new.HasEncodedObject(o.Hash()) != nil {
		b.order = append(b.order, o.Hash())
	}
	return b.new.SetEncodedObject(o)
}

// Owns reports whether the private repository has an object on the disk. Only packs are synced.
func (b *Batch) Owns(id plumbing.Hash) bool {
	_, loose := os.Lstat(b.store.own.loose(id))
	return loose != nil && b.store.Owns(id)
}

// Take adds a blob from memory, or one that git finds in either repository. Size is a hint, 0 if not
// known.
func (b *Batch) Take(id plumbing.Hash, path string, size int64) error {
	if content, kept := b.store.blobs.get(id); kept {
		_, err := b.Add(plumbing.BlobObject, content)
		return err
	}
	if b.paths[id] = path; size > Large {
		b.large = append(b.large, id)
	} else {
		b.small = append(b.small, id)
	}
	return nil
}

// Write writes the new objects as one pack, all of them or none. When it returns, the whole batch
// is on the disk.
func (b *Batch) Write(ctx context.Context) error {
	if err := b.take(ctx); err != nil {
		return err
	}
	if len(b.order) > 0 {
		var pack bytes.Buffer
		_, err := packfile.NewEncoder(&pack, b.new, false).Encode(b.order, 0)
		if err == nil {
			err = b.store.pack(ctx, pack.Bytes(), "index-pack", "--stdin", "--threads=1", "--no-rev-index")
		}
		if err != nil {
			return fmt.Errorf("write a pack of %d objects: %w", len(b.order), err)
		}
	}
	for id := range b.paths {
		_ = os.Remove(b.store.own.loose(id)) // it is in a pack now, as git prune-packed would see
	}
	return nil
}

// take lets git copy the blobs of Take, which reuses most of the compressed data. If that fails, as
// with a partial clone, it copies them one by one.
func (b *Batch) take(ctx context.Context) error {
	if b.store.copy(ctx, b.small) == nil && b.store.copyWhole(ctx, b.large...) == nil {
		return ctx.Err()
	}
	for _, id := range slices.Concat(b.small, b.large) {
		if b.Owns(id) {
			continue
		}
		content, err := b.store.read(ctx, plumbing.BlobObject, id)
		if err == nil {
			_, err = b.Add(plumbing.BlobObject, content)
		}
		if err != nil && !errors.Is(err, ErrLarge) { // read has copied a large one
			return fmt.Errorf("keep %s: %w", b.paths[id], err)
		}
	}
	return ctx.Err()
}

// Refer makes a reference to a written object. If the name is taken, a number is appended to it.
func (b *Batch) Refer(name string, id plumbing.Hash) error {
	const most = 10_000
	err := b.store.own.refer(name, id)
	for n := 2; errors.Is(err, fs.ErrExist) && n < most; n++ {
		err = b.store.own.refer(fmt.Sprintf("%s-%d", name, n), id)
	}
	return err
}
