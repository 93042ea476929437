package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// An ending context ends when it has been asked so many times.
type ending struct {
	context.Context //nolint:containedctx // it is one
	left            int
}

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// copying returns a delta that makes many copies of all of its base.
func copying(base, copies int) []byte {
	delta := binary.AppendUvarint(nil, uint64(base))
	delta = binary.AppendUvarint(delta, uint64(base*copies))
	one := []byte{0xf0, byte(base), byte(base >> 8), byte(base >> 16)}
	return append(delta, bytes.Repeat(one, copies)...)
}

// TestReadingEnds: the end of the context is that of a reading which would go on for
// long, as few bytes as it may be of: deltas on each other, many instructions, and
// much that is decompressed.
func TestReadingEnds(t *testing.T) {
	t.Parallel()
	o := object{kind: plumbing.BlobObject, id: plumbing.Hash{0xff}}
	deltaOn := func(base byte, delta []byte) []byte {
		id := plumbing.Hash{base}
		head := append(makeEntryHeader(plumbing.REFDeltaObject, len(delta)), id[:]...)
		return append(head, deflated(delta)...)
	}
	blob := func(size int) []byte {
		return append(makeEntryHeader(plumbing.BlobObject, size), deflated(make([]byte, size))...)
	}
	var deep [][]byte
	for base := range byte(250) {
		deep = append(deep, deltaOn(base+1, copying(1<<20, 1)))
	}
	for what, c := range map[string]struct {
		entries [][]byte
		asked   []int // times, before it ends
	}{
		"deep":  {append(deep, blob(1<<20)), []int{0, 1, 200, 300, 700}},
		"long":  {[][]byte{deltaOn(1, copying(16, Large/16)), blob(16)}, []int{50, 5000}},
		"large": {[][]byte{blob(4 * Large)}, []int{1, 10}},
	} {
		d := rawPack(t, o, c.entries...)
		for _, times := range c.asked {
			if _, err := d.content(&ending{t.Context(), times}, o.kind, o.id); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d times: %v", what, times, err)
			}
			r, err := d.stream(&ending{t.Context(), times}, o.kind, o.id)
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				err = errors.Join(err, r.Close())
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s as a stream, %d times: %v", what, times, err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(d.objects, "tmp_*")); len(left) > 0 {
			t.Errorf("%s: left behind: %s", what, left)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWritingEnds: the end of the context is that of writing many objects, of which
// nothing unfinished is left.
func TestWritingEnds(t *testing.T) {
	t.Parallel()
	for _, objects := range []int{worthPacking - 1, worthPacking} {
		s := New(Options{ObjectsDir: t.TempDir()})
		for _, asked := range []int{0, 1, objects - 1} {
			b := s.Batch()
			for i := range objects {
				b.Add(plumbing.BlobObject, []byte{byte(asked), byte(i)})
			}
			if err := b.Write(&ending{t.Context(), asked}); !errors.Is(err, context.Canceled) {
				t.Errorf("%d objects, %d times: %v", objects, asked, err)
			}
		}
		for _, pattern := range []string{"tmp_*", "pack/*"} {
			if left, _ := filepath.Glob(filepath.Join(s.options.ObjectsDir, pattern)); len(left) > 0 {
				t.Errorf("left behind: %s", left)
			}
		}
	}
}

// TestDiskOfOne: what is made of deltas and is too large for memory is made when there is
// nothing of that kind on the disk any more; what is not, at once.
func TestDiskOfOne(t *testing.T) {
	t.Parallel()
	const size = 1 << 16
	delta := func(copies int) []byte {
		id, content := plumbing.Hash{2}, copying(size, copies)
		return slices.Concat(makeEntryHeader(plumbing.REFDeltaObject, len(content)), id[:], deflated(content))
	}
	large, small := plumbing.Hash{0xff}, plumbing.Hash{1}
	d := rawPack(t, object{kind: plumbing.BlobObject, id: large}, delta(Large/size+1), delta(2),
		append(makeEntryHeader(plumbing.BlobObject, size), deflated(make([]byte, size))...))
	open := func(ctx context.Context, id plumbing.Hash) (io.Closer, error) {
		return d.stream(ctx, plumbing.BlobObject, id)
	}
	first, err := open(t.Context(), large)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := open(t.Context(), small)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
	}
	short, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if _, err := open(short, large); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := d.content(short, plumbing.BlobObject, large); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second one as a whole: %v", err)
	}
	next := make(chan error)
	go func() {
		r, err := open(t.Context(), large)
		if err == nil {
			err = r.Close()
		}
		next <- err
	}()
	if err := errors.Join(first.Close(), <-next); err != nil {
		t.Error(err)
	}
	_ = first.Close() // once more is harmless
	if left, _ := filepath.Glob(filepath.Join(d.objects, "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
