// Package patch writes the patches of changed paths as `git diff-tree -p -r --full-index
// --no-renames` does with git's defaults. Git compares the texts, see [Hunks].
//
// There are two exceptions. A file that is [Side.TooLarge] is not compared. And .gitattributes is
// ignored: it cannot make a path binary, or say which of its lines start functions.
package patch

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"codeloops/internal/loop"
)

// Modes of a [Side], as a git tree has them.
const (
	Absent     uint32 = 0
	Regular    uint32 = 0o100644
	Executable uint32 = 0o100755
	Symlink    uint32 = 0o120000
	Gitlink    uint32 = 0o160000
)

// kindMask extracts the kind of file (regular, symlink, gitlink) from a mode.
const kindMask = 0o170000

// sniffed is how many bytes git searches for a NUL to recognize a binary file.
const sniffed = 8000

// A Side is a file before or after a change. The zero value is a file that does not exist.
type Side struct {
	Mode uint32
	ID   [20]byte // of the blob, or of a gitlink's commit
	// Content is the content of the file or the target of the symlink; it is not modified. It
	// may be nil if both sides have the same ID, if the side is TooLarge, and for a gitlink.
	Content []byte
	// Size is the length of the content in bytes, needed if Content is nil.
	Size int64
	// TooLarge means that the content is not compared. The patch names both IDs, ends like that
	// of a binary file, and has the sizes on another line, which `git apply` skips. It has no
	// BinaryPatch, so it cannot be applied: use `git apply --exclude`.
	TooLarge bool
}

// A Pair is a path before and after a change.
type Pair struct {
	Path          string
	Before, After Side
}

// Files returns the changes of some paths, in their order: nothing for one whose sides are equal, a
// deletion and an addition where the kind of file changes, and otherwise one change. A file that is
// TooLarge counts as binary. The directory is that of [Hunks].
func Files(ctx context.Context, dir string, pairs ...Pair) (files []loop.FileChange, err error) {
	var texts []Texts
	var at []int       // the files of these texts
	var names []string // the lines before their hunks
	for _, p := range pairs {
		for _, p := range p.parts() {
			if p.textual() {
				texts, at, names = append(texts, Texts{p.Before.text(), p.After.text()}), append(at, len(files)), append(names, p.named())
			}
			files = append(files, p.change())
		}
	}
	hunks, err := Hunks(ctx, dir, usual, texts...)
	if err != nil {
		return nil, err
	}
	for i, text := range hunks {
		if text == "" { // as between an empty file and none
			continue
		}
		f := &files[at[i]]
		f.Patch += names[i] + text
		f.Insertions, f.Deletions = strings.Count(text, "\n+"), strings.Count(text, "\n-")
	}
	return files, nil
}

// usual is how many lines git prints around a change.
const usual = 3

// parts returns the changes that git makes of one.
func (p Pair) parts() []Pair {
	switch {
	case p.Before.Mode == p.After.Mode && p.Before.ID == p.After.ID:
		return nil
	case p.Before.exists() && p.After.exists() && p.Before.Mode&kindMask != p.After.Mode&kindMask:
		return []Pair{{Path: p.Path, Before: p.Before}, {Path: p.Path, After: p.After}}
	}
	return []Pair{p}
}

// textual reports whether git compares the sides line by line.
func (p Pair) textual() bool {
	return !p.same() && !p.Before.TooLarge && !p.After.TooLarge && !Binary(p.Before.Content) && !Binary(p.After.Content)
}

// change returns the change without hunks.
func (p Pair) change() loop.FileChange {
	before, after := p.Before, p.After
	f := loop.FileChange{
		Path: p.Path, Status: loop.FileModified,
		OldMode: before.Mode, NewMode: after.Mode, OldSize: before.size(), NewSize: after.size(),
	}
	f.Patch = fmt.Sprintf("diff --git %s %s\n", Quote("a/"+p.Path), Quote("b/"+p.Path)) + p.header()
	switch {
	case !before.exists():
		f.Status = loop.FileAdded
	case !after.exists():
		f.Status = loop.FileDeleted
	}
	was, is := p.names()
	differ := fmt.Sprintf("Binary files %s and %s differ\n", was, is)
	switch {
	case p.same(), p.textual():
	case before.TooLarge || after.TooLarge:
		f.Binary = true
		f.Patch += differ + tooLarge(before, after)
	default:
		f.Binary = true
		f.BinaryPatch = f.Patch + binary(before.Content, after.Content)
		f.Patch += differ
	}
	return f
}

// same reports whether both sides have the same content.
func (p Pair) same() bool { return p.Before.exists() == p.After.exists() && p.Before.ID == p.After.ID }

// binary returns a "GIT binary patch" with both contents in full, so that it applies in both
// directions. The format is that of `git diff --binary`; the deflated bytes differ from git's.
func binary(before, after []byte) string {
	var text strings.Builder
	text.WriteString("GIT binary patch\n")
	for _, content := range [][]byte{after, before} {
		var b bytes.Buffer
		w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed) // a capture waits for it
		_, _ = w.Write(content)
		_ = w.Close() // to memory
		literal := gitdiff.BinaryFragment{Method: gitdiff.BinaryPatchLiteral, Size: int64(len(content)), RawData: b.Bytes()}
		text.WriteString(literal.String())
	}
	return text.String()
}

func (s Side) exists() bool { return s.Mode != Absent }

func (s Side) size() int64 {
	if s.TooLarge || s.Content == nil {
		return s.Size
	}
	return int64(len(s.Content))
}

// Binary reports whether content is binary to git.
func Binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffed)], 0) >= 0
}

// text returns the content to compare. A gitlink is compared as a file with one line.
func (s Side) text() []byte {
	if s.Mode != Gitlink {
		return s.Content
	}
	return fmt.Appendf(nil, "Subproject commit %x\n", s.ID)
}
