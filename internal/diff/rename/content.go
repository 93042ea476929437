package rename

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"io"
	"strconv"
	"strings"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// newCandidate reads what the patch of a deleted or added file says of it. Size
// is that of a content that the patch does not hold.
func newCandidate(f *loop.FileChange, at int, mode uint32, size int64) *candidate {
	c := &candidate{FileChange: f, at: at, side: patch.Side{Mode: mode, Size: size}}
	sign := byte('+')
	if f.Status == loop.FileDeleted {
		sign = '-'
	}
	head, hunks := cut(f.Patch)
	c.side.ID = idIn(head, sign)
	if mode == 0 {
		c.side.Mode = modeIn(head)
	}
	text, whole := f.Patch, f.BinaryPatch
	if whole == "" {
		whole = text
	}
	switch {
	case strings.Contains(whole, "\nGIT binary patch\n"):
		c.side.Content, c.read = literal(whole, sign)
	case f.Binary:
	case mode == patch.Gitlink:
		c.read = true // there is none
	default:
		c.side.Content, c.read = lines(hunks, sign), true
	}
	c.side.TooLarge = !c.read
	return c
}

// cut parts a patch in its header and its hunks.
func cut(text string) (head, hunks string) {
	if i := strings.Index(text, "\n@@ "); i >= 0 {
		return text[:i+1], text[i+1:]
	}
	return text, ""
}

// idIn finds the id in the line "index <before>..<after>".
func idIn(head string, sign byte) (id [20]byte) {
	for line := range strings.Lines(head) {
		ids, ok := strings.CutPrefix(strings.TrimSpace(line), "index ")
		before, after, found := strings.Cut(ids, "..")
		if !ok || !found {
			continue
		}
		if sign == '-' {
			after = before
		}
		after, _, _ = strings.Cut(after, " ")
		// One that was shortened is good enough to be compared.
		_, _ = hex.Decode(id[:], []byte(after[:min(len(after)&^1, 2*len(id))]))
	}
	return id
}

// modeIn finds the mode in the line "new file mode 100644" or "deleted file
// mode 100644".
func modeIn(head string) uint32 {
	for line := range strings.Lines(head) {
		if _, mode, ok := strings.Cut(strings.TrimSpace(line), " file mode "); ok {
			n, _ := strconv.ParseUint(mode, 8, 32)
			return uint32(n)
		}
	}
	return patch.Regular
}

// lines returns the content that hunks show on one side.
func lines(hunks string, sign byte) []byte {
	content := make([]byte, 0, len(hunks))
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case sign:
			content = append(content, line[1:]...)
		case '\\': // No newline at end of file
			content = bytes.TrimSuffix(content, []byte{'\n'})
		}
	}
	return content
}

// literal returns the content in a binary patch: the first part is the new side,
// the second the old one.
func literal(text string, sign byte) ([]byte, bool) {
	_, rest, _ := strings.Cut(text, "\nGIT binary patch\n")
	added, deleted, _ := strings.Cut(rest, "\n\n")
	part := added
	if sign == '-' {
		part = deleted
	}
	size, digits, _ := strings.Cut(part, "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(size, "literal "))
	if err != nil || n < 0 || n > patch.MaxContent {
		return nil, false
	}
	deflated, ok := patch.Base85(digits)
	if !ok {
		return nil, false
	}
	r, err := zlib.NewReader(bytes.NewReader(deflated))
	if err != nil {
		return nil, false
	}
	content, err := io.ReadAll(io.LimitReader(r, int64(n)+1))
	return content, err == nil && len(content) == n
}
