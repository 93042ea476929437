package store

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// worthPacking is the number of objects from which they are written as one pack.
// `git gc --auto` repacks where there are 6,700 loose objects or 50 packs: packs
// of fewer objects than that would make it do so sooner than loose ones.
const worthPacking = 6700 / 50

// maxPack is the size of contents, in bytes, above which they are not packed: the
// offsets in a pack are then of another form.
const maxPack = 1 << 30

// A Batch gathers objects that are written together, in the order in which they
// were added: whatever one refers to is there before it. It is not safe for
// concurrent use.
type Batch struct {
	store   *Store
	known   map[plumbing.Hash]bool
	objects []object
	size    int64 // of all contents
}

// An object is what a database is to have.
type object struct {
	kind    plumbing.ObjectType
	id      plumbing.Hash
	content []byte
}

// Batch returns an empty batch.
func (s *Store) Batch() *Batch { return &Batch{store: s, known: make(map[plumbing.Hash]bool)} }

// Add adds an object, which the batch owns from then on.
func (b *Batch) Add(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	id := Sum(kind, content)
	b.add(object{kind: kind, id: id, content: content})
	return id
}

// Persist adds a blob that is remembered in memory. It reports false when it is
// not remembered there.
func (b *Batch) Persist(id plumbing.Hash) bool {
	b.store.mu.Lock()
	content, kept := b.store.kept[id]
	b.store.mu.Unlock()
	if kept {
		b.add(object{kind: plumbing.BlobObject, id: id, content: content})
	}
	return kept
}

func (b *Batch) add(o object) {
	if !b.known[o.id] {
		b.known[o.id] = true
		b.objects = append(b.objects, o)
		b.size += int64(len(o.content))
	}
}

// Write writes what was added: many objects as one pack, which is there as a
// whole or not at all, few as loose ones. The end of the context is one of the
// writing.
func (b *Batch) Write(ctx context.Context) error {
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	if len(b.objects) >= worthPacking && b.size <= maxPack {
		if err := b.store.database.writePack(ctx, b.objects); err != nil {
			return fmt.Errorf("write a pack of %d objects: %w", len(b.objects), err)
		}
		return nil
	}
	for _, o := range b.objects {
		err := ctx.Err()
		if err == nil {
			err = b.store.database.write(o.kind, o.id, o.content)
		}
		if err != nil {
			return fmt.Errorf("write %s %s: %w", o.kind, o.id, err)
		}
	}
	return nil
}

// writePack adds objects as a pack. It is there at once for whoever reads.
func (d *database) writePack(ctx context.Context, objects []object) error {
	err := unpruned(func() error { return d.place.writePack(ctx, objects) })
	_ = d.close() // they were opened for reading
	return err
}
