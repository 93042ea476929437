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

// The saved state is in the work tree's own git directory: savedMagic, the
// CRC-32C of the rest, the length of the header in 4 bytes, the header, and what
// [scan.Dir.Save] makes of the state.
const (
	savedDir   = "codeloops"
	savedName  = savedDir + "/scan"
	savedMagic = "codeloops scan 2\n"
	savedAt    = len(savedMagic) + 4
	maxSaved   = 1 << 30 // bytes
)

// savedSlack is how long ago files outside the work tree must have been written
// for their times to tell of a later change, on the coarsest of file systems.
const savedSlack = 3 * time.Second

// A savedHeader says when a saved state holds.
type savedHeader struct {
	Context string // all that the state depends on besides the work tree's files
	Rules   []ignore.Saved
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

// recall takes the saved state for the last one if there is one that holds. At
// any doubt there is none. It returns the rules to go on with.
func (t *Tree) recall(ctx context.Context, s *scan.Scanner, current *rules, where string) *rules {
	if t.last != nil || where == "" {
		return current
	}
	data, _, err := file.Read(filepath.Join(t.GitDir(), filepath.FromSlash(savedName)), file.How{NoFollow: true, Max: maxSaved})
	if err != nil {
		return current
	}
	header, body, ok := parseSaved(data)
	if !ok || header.Context != where {
		return current
	}
	state, err := scan.Saved(body, t.tracked.root)
	if err != nil {
		return current
	}
	current.Inherit(header.Rules)
	if current.Changed() {
		return t.newRules(ctx, current.origin)
	}
	t.last, t.saved, t.savedContext, t.settings, t.rules = state, state, where, s.Settings, current
	return current
}

func parseSaved(data []byte) (header savedHeader, body []byte, ok bool) {
	rest, found := bytes.CutPrefix(data, []byte(savedMagic))
	if !found || len(rest) < 8 || crc32.Checksum(rest[4:], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(rest) {
		return header, nil, false
	}
	size, rest := uint64(binary.LittleEndian.Uint32(rest[4:])), rest[8:]
	if size > uint64(len(rest)) || json.Unmarshal(rest[:size], &header) != nil {
		return header, nil, false
	}
	return header, rest[size:], true
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
	header, err := json.Marshal(savedHeader{Context: t.lastContext, Rules: sources})
	if err != nil {
		return
	}
	data := append(make([]byte, 0, 1<<20), savedMagic...)
	data = append(data, 0, 0, 0, 0)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(header)))
	data = t.last.Save(append(data, header...), t.tracked.root)
	binary.LittleEndian.PutUint32(data[len(savedMagic):], crc32.Checksum(data[savedAt:], crc32.MakeTable(crc32.Castagnoli)))
	if t.replaceSaved(data) == nil {
		t.saved, t.savedContext = t.last, t.lastContext
	}
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
