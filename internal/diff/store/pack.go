package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/repo/file"
)

// errNotHere is an object that is not where it was looked for, or not in a form
// that is read here: the storage knows them all.
var errNotHere = errors.New("not found the short way")

// maxPacks is how many packs are looked into without the storage.
const maxPacks = 64

// Packs are the packs of one directory of objects as they were when first
// looked at. In contrast to the storage they do not load whole indexes, which
// takes longer than all the objects that a capture asks for. What they return is
// checked against its name.
type packs struct {
	objects string
	looked  bool
	stamp   file.Stamp // of their directory before that
	more    bool       // packs that are not in the list
	list    []*pack
	inflate inflater
}

func (p *packs) open() {
	if p.looked {
		return
	}
	p.looked, p.stamp = true, p.look()
	names, err := filepath.Glob(filepath.Join(escapeGlob(p.objects), "pack", "pack-*.idx"))
	if p.more = err != nil || len(names) > maxPacks; p.more {
		return
	}
	for _, name := range names {
		pack, err := openPack(name)
		if err != nil {
			p.more = true
			continue
		}
		p.list = append(p.list, pack)
	}
}

// escapeGlob keeps the characters of a path from being a pattern. On Windows
// there is no such way: a path with brackets in it has no packs here.
func escapeGlob(path string) string {
	if filepath.Separator != '/' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (p *packs) close() error {
	var errs []error
	for _, pack := range p.list {
		errs = append(errs, pack.index.Close(), pack.data.Close())
	}
	*p = packs{objects: p.objects}
	return errors.Join(errs...)
}

// changed reports whether there is a pack that was not there, or one is gone: git
// may have removed objects with it, which can still be read from the open file.
func (p *packs) changed() bool {
	return p.looked && (p.stamp != p.look() || slices.ContainsFunc(p.list, func(pack *pack) bool {
		_, err := os.Lstat(pack.data.Name())
		return err != nil
	}))
}

// look returns what tells that packs have come or gone.
func (p *packs) look() file.Stamp {
	info, err := os.Stat(filepath.Join(p.objects, "pack"))
	if err != nil {
		return file.Stamp{}
	}
	return file.StampOf(info)
}

// has reports whether a pack has the object; the storage may know of more.
func (p *packs) has(id plumbing.Hash) bool {
	p.open()
	for _, pack := range p.list {
		if _, err := pack.find(id); err == nil {
			return true
		}
	}
	return false
}

// read returns an object of a pack.
func (p *packs) read(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	p.open()
	for _, pack := range p.list {
		at, err := pack.find(id)
		if err != nil {
			continue
		}
		found, content, err := pack.object(&p.inflate, at, 0)
		if err != nil || found != kind || Sum(kind, content) != id {
			return nil, errNotHere
		}
		return content, nil
	}
	return nil, errNotHere
}

// A pack is a pack file with its index, by gitformat-pack(5).
type pack struct {
	index, data *os.File
	fanout      [256]uint32 // how many objects have a name up to this first byte
	names       [few * nameSize]byte
}

// few is how many names are read at once: looking for one among them costs less
// than another call of the system.
const few = 256

// Parts of an index of version 2.
const (
	indexHeader = "\xfftOc\x00\x00\x00\x02"
	namesAt     = int64(len(indexHeader) + 256*4)
	nameSize    = 20
	sumSize     = 4
	offsetSize  = 4
)

func openPack(name string) (*pack, error) {
	index, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	p := &pack{index: index}
	if err := p.readFanout(); err != nil {
		return nil, errors.Join(err, index.Close())
	}
	p.data, err = os.Open(strings.TrimSuffix(name, ".idx") + ".pack")
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return p, nil
}

func (p *pack) readFanout() error {
	header := make([]byte, namesAt)
	if _, err := p.index.ReadAt(header, 0); err != nil {
		return err
	}
	table, found := bytes.CutPrefix(header, []byte(indexHeader))
	if !found {
		return errNotHere
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(table[4*i:])
	}
	return nil
}

// find returns where in the pack an object begins.
func (p *pack) find(id plumbing.Hash) (int64, error) {
	low, high := int64(0), int64(p.fanout[id[0]])
	if id[0] > 0 {
		low = int64(p.fanout[id[0]-1])
	}
	var name [nameSize]byte
	for high-low > few {
		middle := low + (high-low)/2
		if _, err := p.index.ReadAt(name[:], namesAt+middle*nameSize); err != nil {
			return 0, err
		}
		if bytes.Compare(name[:], id[:]) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	if low >= high {
		return 0, errNotHere
	}
	names := p.names[:(high-low)*nameSize]
	if _, err := p.index.ReadAt(names, namesAt+low*nameSize); err != nil {
		return 0, err
	}
	i, found := sort.Find(len(names)/nameSize, func(i int) int {
		return bytes.Compare(id[:], names[i*nameSize:(i+1)*nameSize])
	})
	if !found {
		return 0, errNotHere
	}
	return p.offset(low + int64(i))
}

// offset returns where the object of that number begins. Offsets of more than 31
// bits are in a table of their own.
func (p *pack) offset(number int64) (int64, error) {
	const long = 1 << 31
	offsetsAt := namesAt + int64(p.fanout[255])*(nameSize+sumSize)
	var b [8]byte
	if _, err := p.index.ReadAt(b[:offsetSize], offsetsAt+number*offsetSize); err != nil {
		return 0, err
	}
	at := int64(binary.BigEndian.Uint32(b[:]))
	if at < long {
		return at, nil
	}
	_, err := p.index.ReadAt(b[:], offsetsAt+int64(p.fanout[255])*offsetSize+(at-long)*int64(len(b)))
	return int64(binary.BigEndian.Uint64(b[:])), err
}

// Types of entries in a pack that are deltas.
const (
	offsetDelta = 6
	nameDelta   = 7
)

// maxChain is how many deltas may build on each other.
const maxChain = 512

// object returns the object that begins at an offset.
func (p *pack) object(z *inflater, at int64, depth int) (plumbing.ObjectType, []byte, error) {
	if depth > maxChain || at <= 0 {
		return 0, nil, errNotHere
	}
	const longest = 10 + nameSize // of what stands before the compressed data
	head := make([]byte, longest)
	n, err := p.data.ReadAt(head, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	kind, size, used := entryHeader(head[:n])
	if used == 0 || size > Large {
		return 0, nil, errNotHere
	}
	base, more, err := p.base(kind, at, head[used:n])
	if err != nil {
		return 0, nil, err
	}
	content, err := z.inflate(io.NewSectionReader(p.data, at+int64(used+more), 1<<62), size)
	if err != nil || base == 0 {
		return plumbing.ObjectType(kind), content, err
	}
	found, before, err := p.object(z, base, depth+1)
	if err != nil {
		return 0, nil, err
	}
	content, err = patch(before, content)
	return found, content, err
}

// base returns where the object begins on which a delta at an offset builds, and
// how many bytes say so; 0 for what is no delta.
func (p *pack) base(kind byte, at int64, head []byte) (base int64, used int, err error) {
	switch kind {
	case offsetDelta:
		back, used := offsetVarint(head)
		if used == 0 || back <= 0 || back >= at {
			return 0, 0, errNotHere
		}
		return at - back, used, nil
	case nameDelta:
		if len(head) < nameSize {
			return 0, 0, errNotHere
		}
		base, err := p.find(plumbing.Hash(head[:nameSize]))
		return base, nameSize, err
	}
	return 0, 0, nil
}
