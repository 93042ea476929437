package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// A Batch collects objects for the private repository, to write them together. It is not safe for
// concurrent use.
type Batch struct {
	store *Store
	new   memory.ObjectStorage
	order []plumbing.Hash // of the new objects
	loose []plumbing.Hash // existing loose objects that may not be synced
	// Blobs to copy from the user's repository, and a path of each.
	small, large []plumbing.Hash
	paths        map[plumbing.Hash]string
}

// Batch returns an empty batch.
func (s *Store) Batch() (*Batch, error) {
	return &Batch{store: s, new: memory.NewStorage().ObjectStorage, paths: make(map[plumbing.Hash]string)}, s.own.open()
}

// Add adds an object.
func (b *Batch) Add(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	_, _ = o.Write(content) // to memory
	id := o.Hash()
	if _, known := b.new.Objects[id]; known {
		return id, nil
	}
	b.order = append(b.order, id)
	return b.new.SetEncodedObject(o)
}

// Owns reports whether the private repository has an object. If so, Write makes sure that it is on
// the disk.
func (b *Batch) Owns(id plumbing.Hash) bool {
	if !b.store.own.objects.has(id) {
		return false
	}
	if _, err := os.Lstat(b.store.own.loose(id)); err == nil {
		b.loose = append(b.loose, id)
	}
	return true
}

// Take adds a blob from memory or from the user's repository. Size is a hint, 0 if not known.
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
	if err := b.store.own.syncLoose(b.loose); err != nil {
		return err
	}
	if len(b.order) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := b.store.own.pack(ctx, b.new, b.order); err != nil {
		return fmt.Errorf("write a pack of %d objects: %w", len(b.order), err)
	}
	return nil
}

// take lets git copy the blobs of Take, which reuses most of the compressed data. If that fails, as
// with a partial clone, it copies them one by one.
func (b *Batch) take(ctx context.Context) error {
	if b.store.users.copy(ctx, b.small) == nil && b.store.users.copyWhole(ctx, b.large...) == nil {
		return nil
	}
	for _, id := range slices.Concat(b.small, b.large) {
		if b.store.own.objects.has(id) {
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
	return nil
}

// pack writes objects as a pack with its index. Until both are synced, they have temporary names:
// git would fail on an incomplete pack.
func (p *private) pack(ctx context.Context, objects memory.ObjectStorage, ids []plumbing.Hash) error {
	dir := filepath.Join(p.objects.path, "pack")
	var sum plumbing.Hash
	index := &idxfile.Writer{}
	pack, err := p.create(dir, "tmp_pack_", func(f *os.File) (err error) {
		w := bufio.NewWriter(f)
		sum, err = packfile.NewEncoder(w, &memory.Storage{ObjectStorage: objects}, false).Encode(ids, 0)
		return errors.Join(err, w.Flush(), p.indexed(ctx, f, index), f.Chmod(0o400), p.sync(f))
	})
	if err != nil {
		return err
	}
	list, err := p.create(dir, "tmp_idx_", func(f *os.File) error {
		made, err := index.Index()
		if err != nil {
			return err
		}
		w := bufio.NewWriter(f)
		_, err = idxfile.NewEncoder(w).Encode(made)
		return errors.Join(err, w.Flush(), f.Chmod(0o400), p.sync(f))
	})
	name := filepath.Join(dir, "pack-"+sum.String())
	if err == nil {
		err = errors.Join(os.Rename(pack, name+".pack"), os.Rename(list, name+".idx"), p.syncDir(dir))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(pack), os.RemoveAll(list))
	}
	return p.objects.close() // it does not know the pack yet
}

// indexed parses a written pack to fill its index.
func (p *private) indexed(ctx context.Context, f *os.File, index *idxfile.Writer) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	parser, err := packfile.NewParser(packfile.NewScanner(f), index)
	if err == nil {
		_, err = parser.Parse()
	}
	return err
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
