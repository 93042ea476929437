// Package patch writes the patch of one changed path, byte for byte as
// `git diff-tree -p -r --full-index --no-renames` does with git's defaults.
//
// There are two exceptions. A file that is [Side.TooLarge] is not compared. And .gitattributes is
// ignored: it cannot make a path binary, or say which of its lines start functions.
package patch

import (
	"bytes"
	"compress/zlib"
	"fmt"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"codeloops/internal/diff/lines"
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

// File returns the change of a file: nothing if both sides are equal, a deletion and an addition
// if the kind of file changes, and otherwise one change. A file that is TooLarge counts as
// binary.
func File(path string, before, after Side) []loop.FileChange {
	switch {
	case before.Mode == after.Mode && before.ID == after.ID:
		return nil
	case before.exists() && after.exists() && before.Mode&kindMask != after.Mode&kindMask:
		return []loop.FileChange{
			change(path, path, before, Side{}, ""),
			change(path, path, Side{}, after, ""),
		}
	default:
		return []loop.FileChange{change(path, path, before, after, "")}
	}
}

// Renamed returns the change of a renamed file. Both sides must exist. Similarity is in percent.
func Renamed(from, to string, before, after Side, similarity int) loop.FileChange {
	c := change(from, to, before, after,
		fmt.Sprintf("similarity index %d%%\nrename from %s\nrename to %s\n", similarity, Quote(from), Quote(to)))
	c.Status, c.OldPath = loop.FileRenamed, from
	return c
}

func change(from, to string, before, after Side, rename string) loop.FileChange {
	c := loop.FileChange{
		Path:    to,
		Status:  loop.FileModified,
		OldMode: before.Mode,
		NewMode: after.Mode,
		OldSize: before.size(),
		NewSize: after.size(),
	}
	was, is := Quote("a/"+from), Quote("b/"+to)
	head := appendHeader(fmt.Appendf(nil, "diff --git %s %s\n", was, is), before, after, rename)
	if !before.exists() {
		was, c.Status = devNull, loop.FileAdded
	}
	if !after.exists() {
		is, c.Status = devNull, loop.FileDeleted
	}
	differ := fmt.Sprintf("Binary files %s and %s differ\n", was, is)
	switch {
	case before.exists() == after.exists() && before.ID == after.ID:
		c.Patch = string(head)
	case before.TooLarge || after.TooLarge:
		c.Binary = true
		c.Patch = string(head) + differ + tooLarge(before, after)
	case Binary(before.Content) || Binary(after.Content):
		c.Binary = true
		c.Patch = string(head) + differ
		c.BinaryPatch = string(appendBinary(head, before.Content, after.Content))
	default:
		// The names are dropped if no line differs, as between an empty file and none.
		named := fmt.Appendf(head, "--- %s%s\n+++ %s%s\n", was, tab(was), is, tab(is))
		text, insertions, deletions := lines.Append(named, before.text(), after.text())
		if len(text) == len(named) {
			text = head
		}
		c.Patch, c.Insertions, c.Deletions = string(text), insertions, deletions
	}
	return c
}

// appendBinary appends a "GIT binary patch" with both contents in full, so that
// it applies in both directions. The format is that of `git diff --binary`; the
// deflated bytes differ from git's.
func appendBinary(dst, before, after []byte) []byte {
	dst = append(dst, "GIT binary patch\n"...)
	for _, content := range [][]byte{after, before} {
		var b bytes.Buffer
		w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed) // a capture waits for it
		_, _ = w.Write(content)
		_ = w.Close() // to memory
		literal := gitdiff.BinaryFragment{Method: gitdiff.BinaryPatchLiteral, Size: int64(len(content)), RawData: b.Bytes()}
		dst = append(dst, literal.String()...)
	}
	return dst
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
