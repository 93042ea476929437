package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// A packedObject is an object that begins at an offset of a pack.
type packedObject struct {
	pack *pack
	at   int64
	tools
}

// Tools are what an object is made with, by one goroutine at a time.
type tools struct {
	z    *inflater
	temp string        // where temporary files are made
	disk chan struct{} // has room for the one whose files they are
}

// await waits until nobody else has temporary files, which done says of this one.
func (t tools) await(ctx context.Context) (done func(), err error) {
	select {
	case t.disk <- struct{}{}:
		return sync.OnceFunc(func() { <-t.disk }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An entry is what stands at an offset of a pack.
type entry struct {
	kind plumbing.ObjectType
	size int64 // of what is compressed
	body int64 // where that begins
	base int64 // of a delta: where the object begins on which it builds
}

// maxChain is how many entries may make up an object: git's deltas are at most
// 4095 deep. With [maxPiece] that is all that bounds the work, which somebody who
// writes packs by hand can make hours of: what git writes where pack.depth and
// core.bigFileThreshold are raised takes as much, and is read. The context ends it.
const maxChain = 4096

// chain returns the entries that make up an object of that type: the deltas, the
// last one first, and what they build on.
func (o packedObject) chain(ctx context.Context, want plumbing.ObjectType) ([]entry, error) {
	if err := o.pack.openData(); err != nil {
		return nil, err
	}
	var chain []entry
	for at := o.at; len(chain) < maxChain; {
		e, err := o.pack.entry(at)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return nil, err
		}
		chain = append(chain, e)
		switch at = e.base; {
		case e.kind == want:
			return chain, nil
		case !e.kind.IsDelta():
			return nil, errKind
		}
	}
	return nil, errDamaged
}

// entry reads what an entry begins with.
func (p *pack) entry(at int64) (entry, error) {
	if at <= 0 {
		return entry{}, errDamaged
	}
	const longest = 10 + nameSize
	head := make([]byte, longest)
	n, err := p.data.ReadAt(head, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return entry{}, err
	}
	head = head[:n]
	kind, size, used := entryHeader(head)
	if used == 0 {
		return entry{}, errDamaged
	}
	e := entry{kind: kind, size: size, body: at + int64(used)}
	if kind.IsDelta() {
		e.base, used, err = p.base(kind, at, head[used:])
		e.body += int64(used)
		return e, err
	}
	return e, nil
}

// base returns where the object begins on which a delta at an offset builds, and
// how many bytes say so.
func (p *pack) base(kind plumbing.ObjectType, at int64, head []byte) (base int64, used int, err error) {
	if kind == plumbing.OFSDeltaObject {
		back, used := offsetVarint(head)
		if used == 0 || back <= 0 || back >= at {
			return 0, 0, errDamaged
		}
		return at - back, used, nil
	}
	if len(head) < nameSize {
		return 0, 0, errDamaged
	}
	base, err = p.find(plumbing.Hash(head[:nameSize]))
	if errors.Is(err, plumbing.ErrObjectNotFound) { // that is not the object that was asked for
		err = errDamaged
	}
	return base, nameSize, err
}

// compressed returns what an entry has after its header, and what follows it.
func (e entry) compressed(data io.ReaderAt) io.Reader {
	return io.NewSectionReader(data, e.body, 1<<62)
}

func (o packedObject) size(ctx context.Context) (int64, error) {
	if err := o.pack.openData(); err != nil {
		return 0, err
	}
	e, err := o.pack.entry(o.at)
	if err != nil {
		return 0, err
	}
	return o.sizeOf(ctx, e)
}

// sizeOf returns the size of what an entry stands for.
func (o packedObject) sizeOf(ctx context.Context, e entry) (int64, error) {
	if !e.kind.IsDelta() {
		return e.size, nil
	}
	if err := o.z.reset(ctx, e.compressed(o.pack.data)); err != nil {
		return 0, err
	}
	_, size, err := deltaSizes(o.z.out)
	return size, err
}

func (o packedObject) load(ctx context.Context, want plumbing.ObjectType) ([]byte, error) {
	chain, err := o.chain(ctx, want)
	if err != nil {
		return nil, err
	}
	made, err := o.build(ctx, chain, Large)
	if err != nil {
		return nil, err
	}
	return made.memory, nil
}

// open opens the pack once more: it may be closed here before the reader is.
func (o packedObject) open(ctx context.Context, want plumbing.ObjectType) (io.ReadCloser, int64, error) {
	chain, err := o.chain(ctx, want)
	if err != nil {
		return nil, 0, err
	}
	if len(chain) > 1 {
		return o.openMade(ctx, chain)
	}
	data, err := openWhole(o.pack.data.Name())
	if err != nil {
		return nil, 0, err
	}
	var z inflater
	if err := z.reset(ctx, chain[0].compressed(data)); err != nil {
		return nil, 0, errors.Join(err, data.Close())
	}
	return reader{z.out, data}, chain[0].size, nil
}

// openMade returns a reader of what a chain makes. There is room on the disk for that of
// one that is large, and for what it is made of, not for any number of them.
func (o packedObject) openMade(ctx context.Context, chain []entry) (io.ReadCloser, int64, error) {
	done := func() {}
	made, err := o.build(ctx, chain, Large)
	if errors.Is(err, ErrLarge) {
		if done, err = o.await(ctx); err != nil {
			return nil, 0, err
		}
		made, err = o.build(ctx, chain, maxPiece)
	}
	if err != nil {
		done()
		return nil, 0, err
	}
	return reader{Until(ctx, io.NewSectionReader(made, 0, made.size)), closer{made, done}}, made.size, nil
}

// A closer is done when it has closed a piece.
type closer struct {
	*piece
	done func()
}

func (c closer) Close() error {
	defer c.done()
	return c.piece.Close()
}

// A reader reads from what Closer closes.
type reader struct {
	io.Reader
	io.Closer
}

// build returns what the entries of a chain make, one after the other; it is
// [ErrLarge] if one makes more than largest.
func (o packedObject) build(ctx context.Context, chain []entry, largest int64) (made *piece, err error) {
	for _, e := range slices.Backward(chain) {
		next, err := o.step(ctx, e, made, largest)
		if made != nil {
			_ = made.Close() // what it was for is done, or fails
		}
		if err != nil {
			return nil, err
		}
		made = next
	}
	return made, nil
}

// step returns what an entry makes of its base, which is nil when it has none.
func (o packedObject) step(ctx context.Context, e entry, base *piece, largest int64) (*piece, error) {
	in := o.z
	if err := in.reset(ctx, e.compressed(o.pack.data)); err != nil {
		return nil, err
	}
	size := e.size
	if base != nil {
		from, to, err := deltaSizes(in.out)
		if err == nil && from != base.size {
			err = errDamaged
		}
		if err != nil {
			return nil, err
		}
		size = to
	}
	if size > largest {
		return nil, ErrLarge
	}
	made, err := o.piece(size)
	if err != nil {
		return nil, err
	}
	if base != nil {
		err = patch(ctx, made, base, in.out)
	} else {
		err = made.copyFrom(in.out, size)
	}
	if err == nil {
		err = in.end()
	}
	if err = errors.Join(err, made.flush()); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	return made, nil
}
