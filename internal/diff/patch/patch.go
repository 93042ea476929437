// Package patch writes the patch text of one changed path, byte for byte as
// `git diff-tree -p -r --full-index --no-renames` does with git's defaults.
//
// There are two exceptions. A file that is [Side.TooLarge] is not compared. And
// what .gitattributes says of a path, that it is binary or which lines of it
// start functions, is not asked.
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

// kindMask takes the kind of file (regular, symlink, gitlink) out of a mode.
const kindMask = 0o170000

// sniffed is how far git looks for a NUL to tell a binary file, in bytes.
const sniffed = 8000

// A Side is what one path is before or after a change. The zero value is a
// path that does not exist.
type Side struct {
	Mode uint32
	ID   [20]byte // of the blob, or of a gitlink's commit
	// Content is the file's bytes or the symlink's target; it is only read.
	// It may be nil when both sides have the same ID, when the side is
	// TooLarge, and for a gitlink.
	Content []byte
	// Size is the content's length in bytes; needed when Content is nil.
	Size int64
	// TooLarge keeps a file's content out of the comparison. Its patch names
	// both IDs, ends as that of a binary file does, and has the sizes on one
	// more line that `git apply` skips. It has no BinaryPatch, so it cannot
	// be applied: use `git apply --exclude`.
	TooLarge bool
}

// File returns the change of the file at path from before to after: nothing
// when they are equal, a deletion followed by an addition when the kind of
// file changes, otherwise one change. A file that is TooLarge counts as
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

// Renamed returns the change of a file that has another path after it, as git
// writes it. Both sides exist. Similarity is in percent.
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
		// The names are taken back when no line differs, as between an empty
		// file and none.
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
		_ = w.Close() // into memory
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

// text is the content as it is compared: git compares gitlinks as if each
// were a file with one line.
func (s Side) text() []byte {
	if s.Mode != Gitlink {
		return s.Content
	}
	return fmt.Appendf(nil, "Subproject commit %x\n", s.ID)
}
