package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/repo/file"
)

// A pack is a pack file with its index, by gitformat-pack(5). The files are
// opened when first needed; of the index only what is looked for is read, for a
// whole one takes longer than all the objects that a capture asks for.
type pack struct {
	path        string     // of both, without ".idx" and ".pack"
	cruft       bool       // it has what nothing refers to, by gitformat-pack(5)
	mu          sync.Mutex // of the opening
	index, data *os.File
	bad         error       // what keeps the index from being read
	fanout      [256]uint32 // how many objects have a name up to this first byte
	version1    bool        // of the index: each name has its offset before it
}

// few is how many names are read at once: looking for one among them costs less
// than another call of the system.
const few = 256

// Parts of an index, which has a header since version 2.
const (
	indexMagic  = "\xfftOc"
	indexHeader = indexMagic + "\x00\x00\x00\x02"
	fanoutSize  = 256 * 4
	nameSize    = 20
	sumSize     = 4
	offsetSize  = 4
)

var errIndex = errors.New("it is an index of an unknown version")

func (p *pack) openIndex() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index != nil || p.bad != nil {
		return p.bad
	}
	if p.index, p.bad = openWhole(p.path + ".idx"); p.bad != nil {
		return p.bad
	}
	if err := p.readFanout(); err != nil {
		p.bad = fmt.Errorf("read %s: %w", p.index.Name(), err)
	}
	return p.bad
}

// openWhole opens a regular file of any size.
func openWhole(path string) (*os.File, error) {
	f, _, err := file.Open(path, file.How{Max: math.MaxInt64})
	return f, err
}

func (p *pack) openData() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.data == nil {
		p.data, err = openWhole(p.path + ".pack")
	}
	return err
}

// close closes the files, which nobody uses any more.
func (p *pack) close() error {
	var errs []error
	for _, f := range []*os.File{p.index, p.data} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

func (p *pack) readFanout() error {
	header := make([]byte, len(indexHeader)+fanoutSize)
	n, err := p.index.ReadAt(header, 0)
	if n < fanoutSize {
		return err
	}
	table, version2 := bytes.CutPrefix(header[:n], []byte(indexHeader))
	p.version1 = !version2
	if p.version1 && bytes.HasPrefix(table, []byte(indexMagic)) {
		return errIndex
	}
	if len(table) < fanoutSize {
		return err
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(table[4*i:])
	}
	return nil
}

// names returns where the first name is, and how far the next one is from it.
func (p *pack) names() (at, apart int64) {
	if p.version1 {
		return fanoutSize + offsetSize, offsetSize + nameSize
	}
	return int64(len(indexHeader) + fanoutSize), nameSize
}

// find returns where in the pack an object begins.
func (p *pack) find(id plumbing.Hash) (int64, error) {
	if err := p.openIndex(); err != nil {
		return 0, err
	}
	low, high := int64(0), int64(p.fanout[id[0]])
	if id[0] > 0 {
		low = int64(p.fanout[id[0]-1])
	}
	at, apart := p.names()
	var b [few * (offsetSize + nameSize)]byte
	for high-low > few {
		middle := low + (high-low)/2
		name := b[:nameSize]
		if _, err := p.index.ReadAt(name, at+middle*apart); err != nil {
			return 0, err
		}
		if bytes.Compare(name, id[:]) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	if low >= high {
		return 0, plumbing.ErrObjectNotFound
	}
	names := b[:(high-low-1)*apart+nameSize]
	if _, err := p.index.ReadAt(names, at+low*apart); err != nil {
		return 0, err
	}
	i, found := sort.Find(int(high-low), func(i int) int {
		return bytes.Compare(id[:], names[i*int(apart):][:nameSize])
	})
	if !found {
		return 0, plumbing.ErrObjectNotFound
	}
	return p.offset(low + int64(i))
}

// offset returns where the object of that number begins. Since version 2, offsets of
// more than 31 bits are in a table of their own.
func (p *pack) offset(number int64) (int64, error) {
	const long = 1 << 31
	offsetsAt, apart := p.names()
	if p.version1 {
		offsetsAt -= offsetSize
	} else {
		offsetsAt, apart = offsetsAt+int64(p.fanout[255])*(nameSize+sumSize), offsetSize
	}
	var b [8]byte
	if _, err := p.index.ReadAt(b[:offsetSize], offsetsAt+number*apart); err != nil {
		return 0, err
	}
	at := int64(binary.BigEndian.Uint32(b[:]))
	if at < long || p.version1 {
		return at, nil
	}
	_, err := p.index.ReadAt(b[:], offsetsAt+int64(p.fanout[255])*offsetSize+(at-long)*int64(len(b)))
	return int64(binary.BigEndian.Uint64(b[:])), err
}
