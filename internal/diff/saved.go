package diff

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/index"
	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/scan"
)

// A Switch turns something on or off that has a sensible choice of its own.
type Switch uint8

// The positions of a Switch.
const (
	Auto Switch = iota
	On
	Off
)

// worthSaving is the number of tracked files from which the state is saved
// without being asked: below, a scan takes no longer than the reading.
const worthSaving = 5_000

// What is saved is in the work tree's own git directory: savedMagic, the CRC-32
// of the header and its length in 4 bytes each, the header, and a [scan.Saved].
const (
	savedDir   = "codeloops"
	savedName  = savedDir + "/scan"
	savedMagic = "codeloops scan 3\n"
	savedHead  = len(savedMagic) + 2*4
	maxSaved   = 1 << 30 // bytes
)

// savedSlack is how long ago files outside the work tree must have been written
// for their times to tell of a later change, on the coarsest of file systems.
const savedSlack = 3 * time.Second

// A savedHeader says when what is saved holds.
type savedHeader struct {
	Index   savedIndex
	Context string // all that the state depends on besides the work tree's files
	Rules   []ignore.Saved
}

// A savedIndex is an index file without its entries.
type savedIndex struct {
	Stamp   file.Stamp
	Trailer index.ID
	Entries int
	Ignores []savedIgnore
}

// A savedIgnore is one of tracked.ignores.
type savedIgnore struct {
	Path []byte // any bytes
	ID   index.ID
}

// A recalled state is one that was saved with the index as it is, and holds in
// the context that its header says.
type recalled struct {
	savedHeader
	state *scan.Dir
}

// saves reports whether states are saved and saved ones used. An index that
// may still change without a trace, or has no checksum, is not worth it.
func (t *Tree) saves() bool {
	switch t.options.Saved {
	case Off:
		return false
	case On:
	case Auto:
		if t.tracked.entries < worthSaving {
			return false
		}
	}
	return t.tracked.trailer != index.ID{} && t.tracked.stamp.Before(t.tracked.read)
}

// context returns a digest of what a state depends on besides the files in the
// work tree and the ignore rules: in another context it does not hold.
func (t *Tree) context(r *repo.Repository, s *scan.Scanner, o origin) (string, error) {
	info, err := os.Stat(t.Root())
	if err != nil {
		return "", err
	}
	files, err := r.AttributesFiles()
	if err != nil {
		return "", err
	}
	root := file.StampOf(info)
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %d %d %v %v %v\n", t.Root(), root.Dev, root.Ino, s.FileMode, s.Symlinks, s.IgnoreCase)
	_, _ = fmt.Fprintf(sum, "%#v\n%#v\n%x %v\n", s.Settings, o, t.tracked.trailer, t.tracked.stamp)
	settled := t.options.Now().Add(-savedSlack)
	for _, name := range []string{files.System, files.User, files.Info} {
		stamp := stampOf(name)
		if !stamp.Before(settled) {
			return "", errUnsettled
		}
		_, _ = fmt.Fprintf(sum, "%q %v\n", name, stamp)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// recallIndex takes what is saved for the index, and the state that is saved with
// it for one that may hold. It reports false when there is none, or another index.
func (t *Tree) recallIndex(at time.Time) bool {
	if t.options.Saved == Off {
		return false
	}
	f, size, err := file.Open(filepath.Join(t.GitDir(), filepath.FromSlash(savedName)), file.How{NoFollow: true, Max: maxSaved})
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // opened for reading: nothing to lose
	header, from, ok := readHeader(f, size.Size)
	if !ok {
		return false
	}
	stamp, trailer, err := index.Identity(t.repo.IndexFile())
	if err != nil || stamp != header.Index.Stamp || trailer != header.Index.Trailer || !stamp.Before(at) {
		return false
	}
	saved, err := scan.ReadSaved(io.NewSectionReader(f, from, size.Size-from), size.Size-from)
	if err != nil {
		return false
	}
	t.tracked = tracked{
		read: at, stamp: stamp, trailer: trailer,
		root: saved.Index, entries: header.Index.Entries, ignores: make(map[string]index.ID),
	}
	for _, i := range header.Index.Ignores {
		t.tracked.ignores[string(i.Path)] = i.ID
	}
	t.recalled = &recalled{savedHeader: header, state: saved.State}
	return true
}

// readHeader reads the header of a file of that size, and returns where it ends.
func readHeader(f io.ReaderAt, size int64) (h savedHeader, end int64, ok bool) {
	head := make([]byte, savedHead)
	if _, err := f.ReadAt(head, 0); err != nil {
		return h, 0, false
	}
	numbers, ours := bytes.CutPrefix(head, []byte(savedMagic))
	if !ours {
		return h, 0, false
	}
	sum, length := binary.LittleEndian.Uint32(numbers), int64(binary.LittleEndian.Uint32(numbers[4:]))
	if length > size-int64(savedHead) {
		return h, 0, false
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, int64(savedHead)); err != nil || crc32.ChecksumIEEE(text) != sum {
		return h, 0, false
	}
	return h, int64(savedHead) + length, json.Unmarshal(text, &h) == nil
}

// recall takes the saved state for the last one if there is one that holds. At
// any doubt there is none. It returns the rules to go on with.
func (t *Tree) recall(ctx context.Context, s *scan.Scanner, current *rules, where string) *rules {
	saved := t.recalled
	t.recalled = nil
	if saved == nil || t.last != nil || where == "" || saved.Context != where {
		return current
	}
	current.Inherit(saved.Rules)
	if current.Changed() {
		return t.newRules(ctx, current.origin)
	}
	t.last, t.saved, t.foreign = saved.state, saved.state, saved.state
	t.savedContext, t.settings, t.rules = where, s.Settings, current
	return current
}

// save saves the last state. That is a help for the next process: a failure
// does no harm.
func (t *Tree) save() {
	if t.last == nil || t.last == t.saved || t.lastContext == "" {
		return
	}
	if t.saved != nil && t.lastContext == t.savedContext && t.last.Saves(t.saved, t.tracked.root) {
		return
	}
	sources, ok := t.rules.Save()
	if !ok {
		return
	}
	header, err := json.Marshal(savedHeader{Index: t.tracked.save(), Context: t.lastContext, Rules: sources})
	if err != nil {
		return
	}
	data := binary.LittleEndian.AppendUint32([]byte(savedMagic), crc32.ChecksumIEEE(header))
	data = binary.LittleEndian.AppendUint32(data, uint32(len(header)))
	data = scan.Saved{Index: t.tracked.root, State: t.last}.Append(append(data, header...))
	if t.replaceSaved(data) == nil {
		t.saved, t.savedContext = t.last, t.lastContext
	}
}

func (t *tracked) save() savedIndex {
	s := savedIndex{Stamp: t.stamp, Trailer: t.trailer, Entries: t.entries}
	for path, id := range t.ignores {
		s.Ignores = append(s.Ignores, savedIgnore{Path: []byte(path), ID: id})
	}
	return s
}

// replaceSaved writes the file beside the old one and renames it. It does not
// leave the git directory, whatever stands in its place.
func (t *Tree) replaceSaved(data []byte) error {
	root, err := os.OpenRoot(t.GitDir())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written through it
	if err := root.MkdirAll(savedDir, 0o700); err != nil {
		return err
	}
	temp := savedName + "-" + rand.Text()
	err = root.WriteFile(temp, data, 0o600)
	if err == nil {
		err = root.Rename(temp, savedName)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}
