package session

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The index of a store is a file beside the logs that remembers what they say
// of themselves, so that ten thousand of them need not be opened for a list.
// It is derived and never the truth: whoever loses it loses some time. What it
// says of a log counts only while the log is the very file that was read.
//
// It holds indexMagic, a number of logs, for each of them its id, its stamp and
// its overview as a [packer] writes them, and the CRC-32C of all that, four
// bytes, little-endian.
const (
	indexName    = ".index"
	indexDraft   = indexName + "-" // and a number: one that is being written
	indexVersion = "6"             // grows with every change of what is packed
	indexMagic   = "codeloops session index " + indexVersion + "\n"
	indexLimit   = 512 << 20 // bytes; a larger one is not ours
	entryLimit   = 64 << 10  // bytes of the texts of a log that is remembered
)

// coarsest is how much older than the index a log must be for the index to
// count: one that is written to at the time that it is read may change once
// more without another stamp. No file system's clock is coarser.
const coarsest = 2 * time.Second

// A stamp tells one state of a file from another.
type stamp struct {
	size    int64
	written int64 // nanoseconds, as changed
	changed int64
	number  uint64
}

func stampOf(st fs.FileInfo) stamp {
	s := stamp{size: st.Size(), written: st.ModTime().UnixNano()}
	s.changed, s.number = inner(st)
	return s
}

// indexed is one log as an index remembers it.
type indexed struct {
	id       string
	stamp    stamp
	overview Overview
}

func (p *packer) indexed(e *indexed) {
	p.text(&e.id)
	p.num(&e.stamp.size)
	p.num(&e.stamp.written)
	p.num(&e.stamp.changed)
	number := int64(e.stamp.number)
	p.num(&number)
	e.stamp.number = uint64(number)
	p.overview(&e.overview)
}

// writeIndex writes an index of n logs. It holds one of them at a time.
func writeIndex(out io.Writer, n int, logs iter.Seq[indexed]) error {
	buf := bufio.NewWriterSize(out, 64<<10)
	sum := crc32.New(castagnoli())
	w := io.MultiWriter(buf, sum)
	p := &packer{out: []byte(indexMagic)}
	p.count(&n)
	_, err := w.Write(p.out)
	for one := range logs {
		p.out = p.out[:0]
		p.indexed(&one)
		_, e := w.Write(p.out)
		err = errors.Join(err, e)
	}
	_, e := buf.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return errors.Join(err, e, buf.Flush())
}

// castagnoli is the polynomial that processors know.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

var errNoIndex = errors.New("not an index of this version")

// unpackIndex is the inverse of packIndex. The entries keep text alive.
func unpackIndex(text string) (map[string]*indexed, error) {
	body, ok := strings.CutPrefix(text, indexMagic)
	if !ok || len(body) < crc32.Size {
		return nil, errNoIndex
	}
	end := len(text) - crc32.Size
	sum := crc32.New(castagnoli())
	_, _ = io.WriteString(sum, text[:end]) // a hash takes everything
	if sum.Sum32() != binary.LittleEndian.Uint32([]byte(text[end:])) {
		return nil, errNoIndex
	}
	p := &packer{reading: true, in: body[:len(body)-crc32.Size]}
	n := 0
	p.count(&n)
	if n < 0 || n > len(p.in) { // an entry has many bytes
		return nil, errNoIndex
	}
	logs := make([]indexed, n)
	byID := make(map[string]*indexed, n)
	for i := range logs {
		if p.indexed(&logs[i]); p.bad {
			return nil, errNoIndex
		}
		byID[logs[i].id] = &logs[i]
	}
	if p.in != "" {
		return nil, errNoIndex
	}
	return byID, nil
}

// An index is what a store remembers of its logs.
type index struct {
	logs  map[string]*indexed // by id; nil: there is no index
	until int64               // what has changed since, in nanoseconds, is to be read
}

// loadIndex reads the index of the store. One that is missing, torn, old or not
// ours remembers nothing.
func (s *Store) loadIndex() index {
	path := filepath.Join(s.dir, indexName)
	// Looked at first: to open a pipe would wait for somebody to write to it.
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return index{}
	}
	f, err := os.Open(path)
	if err != nil {
		return index{}
	}
	defer f.Close() //nolint:errcheck // only read
	st, err := f.Stat()
	if err != nil || st.Size() > indexLimit {
		return index{}
	}
	var text strings.Builder
	text.Grow(int(st.Size()) + 1)
	if _, err := io.Copy(&text, io.LimitReader(f, indexLimit)); err != nil {
		return index{}
	}
	logs, err := unpackIndex(text.String())
	if err != nil {
		return index{}
	}
	written, _ := inner(st)
	return index{logs: logs, until: written - int64(s.racy)}
}

// recall returns what the index says of a log in the state that a stamp stands
// for, nil when it says nothing of it.
func (x index) recall(id string, now stamp) *indexed {
	if one := x.logs[id]; one != nil && one.stamp == now && now.changed < x.until {
		return one
	}
	return nil
}

// saveIndex writes the index anew. Whoever reads meanwhile has the old one or
// the new one; of two who write, the last one's counts. A store that cannot be
// written to has no index. Drafts are the names of others' that were seen.
func (s *Store) saveIndex(n int, logs iter.Seq[indexed], drafts []string) {
	path := filepath.Join(s.dir, indexName)
	if n == 0 {
		_ = os.Remove(path)
		return
	}
	f, err := os.CreateTemp(s.dir, indexDraft+"*") // 0600
	if err != nil {
		return
	}
	err = writeIndex(f, n, logs)
	st, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	s.sweep(drafts, st.ModTime())
}

// sweep removes, of the files that were to become an index, those whose writers
// were killed long ago.
func (s *Store) sweep(drafts []string, now time.Time) {
	for _, name := range drafts {
		path := filepath.Join(s.dir, name)
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() && now.Sub(st.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
	}
}
