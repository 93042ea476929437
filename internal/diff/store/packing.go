package store

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // packs have their SHA-1 at the end
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// Names of unfinished packs and their indexes begin so: `git gc` removes such
// left-overs in time.
const (
	tempPack  = "tmp_pack_"
	tempIndex = "tmp_idx_"
)

// packHeader is that of version 2, before the number of objects.
const packHeader = "PACK\x00\x00\x00\x02"

// writePack writes objects, no two of the same id, as a pack with its index, by
// gitformat-pack(5). What is not whole has the name of something unfinished. As
// git's, both are synced before they get theirs: in contrast to a loose object, a
// pack that a crash of the system has cut short would be in everyone's way. The
// index, by which a pack is found, comes last.
func writePack(objects string, content []object) error {
	dir := filepath.Join(objects, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // the user's umask decides, as in git
		return err
	}
	var p packing
	pack, err := createSynced(dir, tempPack, func(w io.Writer) error { return p.writeObjects(w, content) })
	if err != nil {
		return err
	}
	index, err := createSynced(dir, tempIndex, p.writeIndex)
	name := filepath.Join(dir, "pack-"+hex.EncodeToString(p.sum))
	if err == nil {
		err = os.Rename(pack, name+".pack")
	}
	if err == nil {
		err = os.Rename(index, name+".idx")
	}
	if err != nil {
		_, _ = os.Remove(pack), os.Remove(index)
	}
	return err
}

// createSynced writes a new file that nobody is to change, down to the disk, and
// returns its name.
func createSynced(dir, prefix string, write func(io.Writer) error) (string, error) {
	f, err := createTemp(dir, prefix)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
	}
	return f.Name(), err
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
func (p *packing) writeObjects(to io.Writer, objects []object) (err error) {
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
		entry.Reset()
		entry.Write(appendEntryHeader(nil, o.kind, len(o.content)))
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

// appendEntryHeader is the other way round than entryHeader.
func appendEntryHeader(b []byte, kind plumbing.ObjectType, size int) []byte {
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
