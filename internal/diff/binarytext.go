package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// Limits of what is shown of files that are binary to git, in bytes.
const (
	maxLegible     = 4 << 20   // of a file
	maxLegibleText = 256 << 10 // of the text shown
)

// binaryTexts returns the binary files of a change that are text except for some bytes, and those that were text when
// the session began, with the text that git would show if it took them for text.
func (c *capture) binaryTexts(ctx context.Context) (all []loop.Unshown, err error) {
	before, after := map[string]*object.TreeEntry{}, map[string]*object.TreeEntry{}
	for _, f := range c.changed {
		if !f.Binary || c.withheld[f.Path] {
			continue
		}
		u := loop.Unshown{Path: f.Path, Why: loop.BinaryText, Status: f.Status}
		was, err := c.wasText(f)
		if err != nil {
			return nil, err
		}
		if was && f.NewMode != 0 {
			u.Why = loop.TurnedBinary
		}
		all = append(all, u)
		if max(f.OldSize, f.NewSize) <= maxLegible {
			if err := errors.Join(c.take(before, c.basis.state, f.Path), c.take(after, c.sight.state, f.Path)); err != nil {
				return nil, err
			}
		}
	}
	texts := map[string]string{}
	if len(before)+len(after) > 0 {
		was, errWas := c.objects.edited(emptyTree(), before)
		is, errIs := c.objects.edited(emptyTree(), after)
		files, errFiles := c.render(ctx, &state{tree: was}, &state{tree: is}, nil, "--text")
		if err := errors.Join(errWas, errIs, errFiles); err != nil {
			return nil, err
		}
		for _, f := range files {
			texts[f.Path] = legible(f.Patch)
		}
	}
	some := all[:0]
	for _, u := range all {
		if u.Text = cutText(texts[u.Path]); u.Text != "" || u.Why == loop.TurnedBinary { // otherwise it really is binary
			some = append(some, u)
		}
	}
	return some, nil
}

// take adds what a state has at a path to a tree, if it is a file.
func (c *capture) take(tree map[string]*object.TreeEntry, s *state, name string) error {
	e, err := c.objects.entry(s, name)
	if err == nil && e != nil && e.isFile() {
		tree[name] = &object.TreeEntry{Mode: filemode.FileMode(e.Mode), Hash: e.ID}
	}
	return err
}

// wasText reports whether a file was a text, and not an empty one, when the session began.
func (c *capture) wasText(f loop.FileChange) (bool, error) {
	e, err := c.objects.entry(c.basis.state, f.Path)
	if err != nil || e == nil || e.Mode == Gitlink || f.OldSize == 0 || f.OldSize > Large {
		return false, err
	}
	content, err := c.objects.blob(e.ID)
	return err == nil && !patch.Binary(content), err
}

// legible returns a patch of bytes with those escaped that are no text, as in Go. Lines that hold little else are left
// out and counted. It returns "" if hardly anything is left.
func legible(text string) string {
	head, hunks, _ := strings.Cut(text, "\n@@ ")
	if hunks == "" {
		return ""
	}
	b := strings.Builder{}
	b.WriteString(head + "\n")
	shown, dropped := 0, 0
	for line := range bytes.Lines([]byte("@@ " + hunks)) {
		if line[0] == '@' || line[0] == '\\' {
			b.Write(line)
			continue
		}
		escaped, printable, zeros, odd := escape(bytes.TrimSuffix(line[1:], []byte("\n")))
		const some, share = 2, 8 // a line of text may well have a zero byte or two
		if odd*share <= printable && (zeros <= some || zeros*share <= printable) {
			shown += printable
			fmt.Fprintf(&b, "%c%s\n", line[0], escaped)
			continue
		}
		dropped += printable + zeros + odd
		fmt.Fprintf(&b, "%c[%d bytes that are no text]\n", line[0], len(line)-1)
	}
	const least = 10 // percent
	if shown*100 < (shown+dropped)*least {
		return ""
	}
	return b.String()
}

// escape returns a line with its control characters, and what is no UTF-8, escaped. It counts the printable characters,
// the zeros and the others; a run of one counts once. The zeros and the mark of UTF-16 are left out: what remains of
// Latin letters is the text.
func escape(line []byte) (escaped []byte, printable, zeros, odd int) {
	const alternate = 3 // every second byte, or a little less
	if bytes.Count(line, []byte{0})*alternate > len(line) && !bytes.Contains(line, []byte("\x00\x00\x00")) {
		line = bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("\xff\xfe")), []byte("\xfe\xff"))
		line = bytes.ReplaceAll(line, []byte{0}, nil)
	}
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		control := r < ' ' && !strings.ContainsRune("\t\r\f", r) || r == 0x7f
		if !control && (r != utf8.RuneError || size > 1) {
			escaped, line = append(escaped, line[:size]...), line[size:]
			printable++
			continue
		}
		run := 1
		for run < len(line) && line[run] == line[0] {
			run++
		}
		if line[0] == 0 {
			zeros++
		} else {
			odd++
		}
		escaped = fmt.Appendf(escaped, `\x%02x`, line[0])
		if run > 1 {
			escaped = fmt.Appendf(escaped, "(×%d)", run)
		}
		line = line[run:]
	}
	return escaped, printable, zeros, odd
}

// cutText cuts a text that is too long to read, at the end of a line.
func cutText(text string) string {
	if len(text) <= maxLegibleText {
		return text
	}
	end := strings.LastIndexByte(text[:maxLegibleText], '\n') + 1
	return text[:end] + fmt.Sprintf("\\ %d more bytes are not shown here\n", len(text)-end)
}
