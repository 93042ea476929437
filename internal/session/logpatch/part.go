// Package logpatch works with the diffs in session logs.
//
// For each iteration, a log has everything that had changed since the session began, as
// patches, but no file. [Part.Apply] makes the file of an iteration from the one that the
// session began with. Logs of earlier versions do not hold what one iteration changed:
// [Between] computes it from the patches before and after it.
package logpatch

import (
	"crypto/sha1" //nolint:gosec // git's object ids are SHA-1
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

var (
	// ErrNoContent is a patch that names a file without its content, for instance
	// a binary file too large for a log.
	ErrNoContent = errors.New("the log does not hold its content")
	// ErrOtherOrigin is an old side that the patch was not made from.
	ErrOtherOrigin = errors.New("it is not what the session began with")
	// ErrNotRecorded is a result that is not what was recorded, for instance
	// because a secret was redacted in the patch.
	ErrNotRecorded = errors.New("the diff in the log does not give the file that was recorded: a secret may have been redacted in it")
)

// A Version is what a path is on one side of a patch.
type Version struct {
	Mode uint32 // as git writes it; 0: there is no file
	ID   string // of the blob, in hexadecimal; may be abbreviated; "" if the patch does not tell
}

// Exists reports whether there is a file.
func (v Version) Exists() bool { return v.Mode != 0 }

// Has reports whether content is that of the version, as far as its id tells.
func (v Version) Has(content []byte) bool { return strings.HasPrefix(blobID(content), v.ID) }

// blobID is git's id of a blob.
func blobID(content []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// A Part is one file's part of a diff, parsed.
type Part struct {
	Path     string
	From     string // the path of the old side of a rename or a copy, else ""
	Copy     bool   // it is a copy
	Old, New Version

	text             []*gitdiff.TextFragment
	forward, reverse *gitdiff.BinaryFragment
	missing          bool // the patch lacks the file's content
	told             bool // the patch tells the modes
}

// Parse reads one file's part of a diff, as git writes it.
func Parse(f loop.FileChange) (Part, error) {
	p := Part{Path: f.Path, Old: Version{Mode: patch.Regular}, New: Version{Mode: patch.Regular}} // unless the patch tells others
	text := f.Patch
	if f.BinaryPatch != "" {
		text = f.BinaryPatch
	}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(line, "@@ ") || line == "GIT binary patch" {
			break
		}
		if err := p.header(line); err != nil {
			return p, fmt.Errorf("%s: %w", f.Path, err)
		}
		text = rest
	}
	if err := p.body(text); err != nil {
		return p, fmt.Errorf("%s: %w", f.Path, err)
	}
	return p, nil
}

// Only returns the only side of a file that was added or deleted. whole is false if the patch
// does not hold its content.
func Only(f loop.FileChange) (only patch.Side, whole bool) {
	p, err := Parse(f)
	version := p.New
	if !p.New.Exists() {
		version = p.Old
	}
	switch {
	case version.Mode == patch.Gitlink:
		return sideOf(version, nil), true
	case err != nil:
	case p.New.Exists():
		if only, whole = side([]Part{p}, nil, false); whole {
			return only, true
		}
	default:
		if content, ok := start([]Part{p}, nil); ok && version.Has(content) {
			return sideOf(version, content), true
		}
	}
	return sideOf(version, nil), false
}

func (p *Part) header(line string) (err error) {
	for _, field := range []struct {
		prefix string
		take   func(string) error
	}{
		{"old mode ", p.modeInto(&p.Old.Mode)},
		{"new mode ", p.modeInto(&p.New.Mode)},
		{"new file mode ", func(s string) error { p.Old = Version{}; return p.modeInto(&p.New.Mode)(s) }},
		{"deleted file mode ", func(s string) error { p.New = Version{}; return p.modeInto(&p.Old.Mode)(s) }},
		{"rename from ", p.from},
		{"copy from ", func(s string) error { p.Copy = true; return p.from(s) }},
		{"index ", p.index},
		{"Binary files ", func(string) error { p.missing = true; return nil }},
	} {
		if value, ok := strings.CutPrefix(line, field.prefix); ok {
			return field.take(value)
		}
	}
	return nil
}

func (p *Part) modeInto(mode *uint32) func(string) error {
	return func(text string) error {
		bits, err := strconv.ParseUint(text, 8, 32)
		*mode, p.told = uint32(bits), true
		if err != nil {
			return fmt.Errorf("%q is not a file mode", text)
		}
		return nil
	}
}

func (p *Part) from(name string) error {
	p.From = name
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		p.From = plain
	}
	return nil
}

// index reads "<old>..<new>", followed by the mode if that is the same on both sides.
func (p *Part) index(text string) error {
	ids, mode, same := strings.Cut(text, " ")
	before, after, ok := strings.Cut(ids, "..")
	if !ok {
		return fmt.Errorf("%q is not a pair of object ids", ids)
	}
	if p.Old.Exists() {
		p.Old.ID = before
	}
	if p.New.Exists() {
		p.New.ID = after
	}
	if !same {
		return nil
	}
	if err := p.modeInto(&p.Old.Mode)(mode); err != nil {
		return err
	}
	p.New.Mode = p.Old.Mode
	return nil
}

// body reads the hunks. It replaces the names: they do not matter here, and odd ones are hard
// to parse.
func (p *Part) body(hunks string) error {
	if hunks == "" {
		return nil
	}
	files, _, err := gitdiff.Parse(strings.NewReader("diff --git a/f b/f\n--- a/f\n+++ b/f\n" + hunks))
	if strings.HasPrefix(hunks, "GIT") {
		files, _, err = gitdiff.Parse(strings.NewReader("diff --git a/f b/f\nindex 0000000..1111111 100644\n" + hunks))
	}
	if err != nil {
		return fmt.Errorf("read the diff: %w", err)
	}
	if len(files) != 1 {
		return errors.New("read the diff: it is not of one file")
	}
	p.text, p.forward, p.reverse = files[0].TextFragments, files[0].BinaryFragment, files[0].ReverseBinaryFragment
	p.missing = files[0].IsBinary && p.forward == nil
	return nil
}
