package diff

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// What is saved of a work tree is one file in [Options.SavedDir]: savedMagic, the
// CRC-32 of the header and its length in 4 bytes each, the header, and a
// [scan.Saved].
const (
	savedMagic = "codeloops scan 7\n"
	savedHead  = len(savedMagic) + 2*4
	maxSaved   = 1 << 30 // bytes
	savedFor   = 30 * 24 * time.Hour
)

// A savedHeader says when what is saved holds.
type savedHeader struct {
	Index savedIndex
	savedIn
	Rules     []ignore.Saved
	Converted []string // paths of files that git has converted
}

// savedIn is what a state was saved in.
type savedIn struct {
	Context string // all that the state depends on besides the work tree's files
	// Session is the checkpoint that the session began with; "" when none was
	// made. Another session may have begun later, and have believed the index of
	// what the actor of the one before has made of it.
	Session string
}

// as reports whether what was saved in other need not be saved again: whoever
// belongs to no session leaves it to the one that it is of.
func (in savedIn) as(other savedIn) bool {
	return in.Context == other.Context && (in.Session == other.Session || in.Session == "")
}

// A savedIndex is an index file without its entries.
type savedIndex struct {
	Stamp   file.Stamp
	Trailer index.ID
	Entries int
	Partial bool
	Ignores []savedIgnore
	Marked  marked
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
	settled := t.looked().Add(-file.Slack)
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
	dir, name := t.savedAt()
	if dir == "" {
		return false
	}
	f, size, err := file.Open(filepath.Join(dir, name), file.How{NoFollow: true, Max: maxSaved})
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
		root: saved.Index, entries: header.Index.Entries, partial: header.Index.Partial, ignores: make(map[string]index.ID),
		marked: header.Index.Marked,
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
	p := packer{b: text, reading: true}
	h.pack(&p)
	return h, int64(savedHead) + length, !p.bad && len(p.b) == 0
}

// recall takes the saved state for the last one if there is one that holds, in a
// session that was resumed one of its own. At any doubt there is none. It returns
// the rules to go on with.
func (t *Tree) recall(ctx context.Context, s *scan.Scanner, current *rules, where string) *rules {
	saved := t.recalled
	t.recalled = nil
	if saved == nil || t.last != nil || where == "" || saved.Context != where || t.base != nil && saved.Session != t.session {
		return current
	}
	current.Inherit(saved.Rules)
	if current.Changed() {
		return t.newRules(ctx, current.origin)
	}
	t.last, t.saved, t.foreign = saved.state, saved.state, saved.state
	t.savedIn, t.settings, t.rules = saved.savedIn, s.Settings, current
	t.convertedBy(saved.Converted)
	return current
}

// save saves the last state. That is a help for the next process: a failure
// does no harm.
func (t *Tree) save() {
	dir, name := t.savedAt()
	if dir == "" || t.last == nil || t.lastContext == "" {
		return
	}
	in := savedIn{Context: t.lastContext, Session: t.session}
	if t.saved != nil && in.as(t.savedIn) && t.last.Saves(t.saved, t.tracked.root) {
		return
	}
	sources, ok := t.rules.Save()
	if !ok {
		return
	}
	header, p := savedHeader{Index: t.tracked.save(), savedIn: in, Rules: sources, Converted: slices.Sorted(maps.Keys(t.conversions))}, packer{}
	header.pack(&p)
	data := binary.LittleEndian.AppendUint32([]byte(savedMagic), crc32.ChecksumIEEE(p.b))
	data = binary.LittleEndian.AppendUint32(data, uint32(len(p.b)))
	data = scan.Saved{Index: t.tracked.root, State: t.last}.Append(append(data, p.b...))
	if replaceSaved(dir, name, data) == nil {
		t.saved, t.savedIn = t.last, in
		removeOlder(dir, t.options.Now().Add(-savedFor))
	}
}

func (t *tracked) save() savedIndex {
	s := savedIndex{Stamp: t.stamp, Trailer: t.trailer, Entries: t.entries, Partial: t.partial, Marked: t.marked}
	for path, id := range t.ignores {
		s.Ignores = append(s.Ignores, savedIgnore{Path: []byte(path), ID: id})
	}
	return s
}

// savedAt returns the directory and the name of the work tree's file there; "" for
// none. A directory in the work tree itself is within reach of whoever works there.
func (t *Tree) savedAt() (dir, name string) {
	if t.options.Saved == Off || t.options.SavedDir == "" {
		return "", ""
	}
	dir = t.options.SavedDir
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	if below, err := filepath.Rel(t.Root(), dir); err == nil && filepath.IsLocal(below) {
		return "", ""
	}
	sum := sha256.Sum256([]byte(t.GitDir()))
	return dir, hex.EncodeToString(sum[:16])
}

// replaceSaved writes the file beside the old one and renames it.
func replaceSaved(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := filepath.Join(dir, name+"-"+rand.Text())
	err := os.WriteFile(temp, data, 0o600)
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// removeOlder removes the files of a directory that were written before: the work
// trees may be gone.
func removeOlder(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
