package diff

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/legible"
	"codeloops/internal/diff/patch"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// maxConvertedText limits the text that is shown of a file, in bytes.
const maxConvertedText = 256 << 10

// converted returns the files of which a diff does not show the real content, because git
// converts them. It leaves out files that nobody has touched since the session began.
func (c *capture) converted(ctx context.Context) (all []unseen, err error) {
	touched := scan.Moved(c.base, c.state.Root)
	if len(touched) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(c.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	for _, f := range touched {
		was := c.base.Find(f.Path)
		if f.Mode == scan.Symlink || f.Mode == scan.Gitlink || c.withheld[f.Path] || was != nil && was.ID == f.ID && f.UntouchedSince(c.beganBy) ||
			!c.how.NeedsGit(c.how.Of(f.Path)) {
			continue
		}
		if told := c.report(ctx, root, f.Path, was, &f.File); told != nil {
			all = append(all, *told)
		}
	}
	return all, ctx.Err()
}

// report reports on a file that git converts. It returns nil if the diff shows a reader the
// same as the file itself. Was is the file when the session began, or nil.
func (c *capture) report(ctx context.Context, root *os.Root, path string, was, now *scan.File) *unseen {
	attrs, same := c.how.Of(path), was != nil && was.ID == now.ID
	told := &unseen{Unshown: loop.Unshown{Path: path, Why: loop.Converted, Status: loop.FileModified, Via: via(attrs)}}
	if was == nil {
		told.Status = loop.FileAdded
	}
	if same && filteredAndLarge(now, attrs) {
		return nil
	}
	disk, err := readIn(root, path, store.Large)
	if err != nil {
		return told
	}
	stored, err := c.store.Blob(ctx, now.ID)
	if err != nil {
		return told
	}
	text := disk
	if decoded, wide := legible.FromUTF16(disk); wide {
		text = decoded
	}
	otherCharset := attrs[attr.Encoding].State == attr.Valued && !utf8.Valid(text)
	switch {
	case bytes.Equal(plain(text, attrs), plain(stored, attrs)), same && pointsTo(stored, disk):
		return nil
	case (same || otherCharset) && c.isCheckout(ctx, path, now, disk, attrs):
		return nil // a checkout would write the same
	}
	told.pair = c.real(ctx, path, was, text)
	return told
}

// filteredAndLarge reports whether a file is so large that its filter stores it elsewhere.
func filteredAndLarge(f *scan.File, attrs attr.Attrs) bool {
	return f.Size() > store.Large && attrs[attr.Ident].State != attr.Set && attrs[attr.Encoding].State != attr.Valued
}

// pointsTo reports whether a blob is a Git LFS pointer to some content.
func pointsTo(stored, content []byte) bool {
	return len(stored) < 1<<10 && bytes.HasPrefix(stored, []byte("version https://git-lfs.github.com/spec/v1\n")) &&
		bytes.Contains(stored, fmt.Appendf(nil, "\noid sha256:%x\n", sha256.Sum256(content)))
}

// isCheckout reports whether a checkout of the file would write the bytes on the disk.
func (c *capture) isCheckout(ctx context.Context, path string, f *scan.File, disk []byte, attrs attr.Attrs) bool {
	out, err := c.checkedOut(ctx, "to see what a checkout would write", path, f.ID)
	return err == nil && bytes.Equal(plain(out, attrs), plain(disk, attrs))
}

// expanded is what git writes for "$Id$".
var expanded = wording.Pattern(`\$Id: [0-9a-f]{40,64} \$`)

// plain returns content without differences that do not matter to a reader: the kind of line
// ends, a byte order mark, and the id that git expands "$Id$" to, which is out of date once the
// file has changed.
func plain(content []byte, attrs attr.Attrs) []byte {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	if attrs[attr.Ident].State == attr.Set {
		content = expanded().ReplaceAll(content, []byte("$$Id$$"))
	}
	return content
}

// via names what converts a file.
func via(a attr.Attrs) string {
	var names []string
	if a[attr.Filter].State == attr.Valued {
		names = append(names, "filter "+a[attr.Filter].Text)
	}
	if a[attr.Ident].State == attr.Set {
		names = append(names, "ident")
	}
	if a[attr.Encoding].State == attr.Valued {
		names = append(names, "working-tree-encoding="+a[attr.Encoding].Text)
	}
	return strings.Join(names, ", ")
}

// real returns what git had of a file when the session began, and what is in it now. The zero pair
// is nothing that can be read.
func (c *capture) real(ctx context.Context, path string, was *scan.File, now []byte) patch.Pair {
	before, err := sideOf(ctx, c.store, was)
	if err != nil || was != nil && (was.Mode == scan.Symlink || was.Mode == scan.Gitlink) {
		before = patch.Side{}
	}
	return readableOnly(path, before, patch.Side{Mode: scan.Regular, ID: store.Sum(plumbing.BlobObject, now), Content: now})
}

// readableOnly returns a pair with readable sides, the zero pair if the new one cannot be read.
func readableOnly(path string, before, after patch.Side) patch.Pair {
	readable(&before)
	if !readable(&after) {
		return patch.Pair{}
	}
	return patch.Pair{Path: path, Before: before, After: after}
}

// cutText cuts a text that is too long to read, at the end of a line.
func cutText(text string) string {
	if len(text) <= maxConvertedText {
		return text
	}
	end := strings.LastIndexByte(text[:maxConvertedText], '\n') + 1
	return text[:end] + fmt.Sprintf("\\ %d more bytes are not shown here\n", len(text)-end)
}
