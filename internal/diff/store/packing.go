package store

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // packs have their SHA-1 at the end
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Where packs are among the objects, and how the names of unfinished ones and of
// their indexes begin: `git gc` removes such left-overs in time.
const (
	packDir   = "pack"
	tempPack  = packDir + "/tmp_pack_"
	tempIndex = packDir + "/tmp_idx_"
)

// packHeader is that of version 2, before the number of objects.
const packHeader = "PACK\x00\x00\x00\x02"

// writePack writes objects, no two of the same id, as a pack with its index, by
// gitformat-pack(5). What is not whole has the name of something unfinished. As
// git's, both are synced before they get theirs: in contrast to a loose object, a
// pack that a crash of the system has cut short would be in everyone's way.
func (p place) writePack(ctx context.Context, content []object) error {
	if err := p.mkdir(packDir); err != nil {
		return err
	}
	var made packing
	pack, err := p.createSynced(tempPack, func(w io.Writer) error { return made.writeObjects(ctx, w, content) })
	if err != nil {
		return err
	}
	index, err := p.createSynced(tempIndex, made.writeIndex)
	if err != nil {
		return errors.Join(err, os.Remove(pack))
	}
	return adoptPack(pack, index, filepath.Join(p.objects, packDir, "pack-"+hex.EncodeToString(made.sum)))
}

// adoptPack gives a finished pack and its index their names. The index, by which a
// pack is found, comes last: without it a pack that nobody finds, nor git removes,
// is not left there.
func adoptPack(pack, index, name string) error {
	err := os.Rename(pack, name+".pack")
	if err != nil {
		_, _ = os.Remove(pack), os.Remove(index)
		return err
	}
	if err = os.Rename(index, name+".idx"); err != nil {
		_ = os.Remove(index)
		if _, there := os.Lstat(name + ".idx"); errors.Is(there, fs.ErrNotExist) { // else another process wrote the same
			_ = os.Remove(name + ".pack")
		}
	}
	return err
}

// createSynced writes a new file, down to the disk.
func (p place) createSynced(prefix string, write func(io.Writer) error) (name string, err error) {
	return p.create(prefix, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 64<<10)
		if err := write(w); err != nil {
			return err
		}
		return errors.Join(w.Flush(), f.Sync())
	})
}

// A packing is a pack that is being written.
type packing struct {
	entries []packEntry
	sum     []byte // of the pack
}

// A packEntry is what the index says of an object.
type packEntry struct {
	id     plumbing.Hash
	crc    uint32 // of what stands in the pack
	offset uint32
}

// A summed writer writes what ends in its own checksum.
type summed struct {
	io.Writer
	sum hash.Hash
}

func newSummed(w io.Writer) summed {
	sum := sha1.New() //nolint:gosec // see the import
	return summed{Writer: io.MultiWriter(w, sum), sum: sum}
}

// end writes the checksum and returns it.
func (s summed) end() ([]byte, error) {
	sum := s.sum.Sum(nil)
	_, err := s.Write(sum)
	return sum, err
}

// writeObjects writes the pack, in which no object is a delta.
func (p *packing) writeObjects(ctx context.Context, to io.Writer, objects []object) (err error) {
	w := newSummed(to)
	header := binary.BigEndian.AppendUint32([]byte(packHeader), uint32(len(objects)))
	if _, err := w.Write(header); err != nil {
		return err
	}
	at := len(header)
	var entry bytes.Buffer
	deflate, err := zlib.NewWriterLevel(&entry, zlib.BestSpeed)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry.Reset()
		entry.Write(makeEntryHeader(o.kind, len(o.content)))
		deflate.Reset(&entry)
		if _, err := deflate.Write(o.content); err != nil {
			return err
		}
		if err := deflate.Close(); err != nil {
			return err
		}
		p.entries = append(p.entries, packEntry{id: o.id, crc: crc32.ChecksumIEEE(entry.Bytes()), offset: uint32(at)})
		n, err := w.Write(entry.Bytes())
		if err != nil {
			return err
		}
		at += n
	}
	p.sum, err = w.end()
	return err
}

// makeEntryHeader is the other way round than entryHeader.
func makeEntryHeader(kind plumbing.ObjectType, size int) (b []byte) {
	c, rest := byte(kind)<<4|byte(size&15), size>>4
	for ; rest > 0; rest >>= 7 {
		b = append(b, c|0x80)
		c = byte(rest & 0x7f)
	}
	return append(b, c)
}

// writeIndex writes an index of version 2: how many names there are up to each
// first byte; the names in order; their checksums; where they are; the checksum
// of the pack.
func (p *packing) writeIndex(to io.Writer) error {
	slices.SortFunc(p.entries, func(a, b packEntry) int { return bytes.Compare(a.id[:], b.id[:]) })
	var fanout [256]uint32
	for _, e := range p.entries {
		fanout[e.id[0]]++
	}
	b, total := []byte(indexHeader), uint32(0)
	for _, n := range fanout {
		total += n
		b = binary.BigEndian.AppendUint32(b, total)
	}
	for _, e := range p.entries {
		b = append(b, e.id[:]...)
	}
	for _, e := range p.entries {
		b = binary.BigEndian.AppendUint32(b, e.crc)
	}
	for _, e := range p.entries {
		b = binary.BigEndian.AppendUint32(b, e.offset)
	}
	w := newSummed(to)
	if _, err := w.Write(append(b, p.sum...)); err != nil {
		return err
	}
	_, err := w.end()
	return err
}
