// Package logpatch works with the diffs in session logs.
//
// For each iteration, a log has everything that had changed since the session began, as
// patches, but no file. [Part.Apply] makes the file of an iteration from the one that the
// session began with.
package logpatch

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // git's object ids are SHA-1
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
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

// A patch is parsed without names, which do not matter to it and are hard to read if they are odd:
// plain are the other lines of a header, and moved names the old side of a rename or a copy.
var (
	plain = wording.Pattern(`^(old mode|new mode|new file mode|deleted file mode|index|Binary files) `)
	moved = wording.Pattern(`^(rename|copy) from (.*)`)
)

// Parse reads one file's part of a diff, as git writes it.
func Parse(f loop.FileChange) (Part, error) {
	p := Part{Path: f.Path, Old: Version{Mode: patch.Regular}, New: Version{Mode: patch.Regular}} // unless the header tells others
	var nameless strings.Builder
	text := cmp.Or(f.BinaryPatch, f.Patch)
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(line, "@@ ") || line == "GIT binary patch" {
			break
		}
		if plain().MatchString(line) {
			nameless.WriteString(line + "\n")
		} else if from := moved().FindStringSubmatch(line); from != nil {
			p.Copy, p.From = from[1] == "copy", unquoted(from[2])
		}
		text = rest
	}
	header, err := parse(nameless.String())
	if err != nil {
		return p, fmt.Errorf("%s: %w", f.Path, err)
	}
	p.told = header.OldMode != 0 || header.NewMode != 0
	was := cmp.Or(header.OldMode, fs.FileMode(patch.Regular))
	p.Old = Version{uint32(was), header.OldOIDPrefix}
	p.New = Version{uint32(cmp.Or(header.NewMode, was)), header.NewOIDPrefix}
	if header.IsNew {
		p.Old = Version{}
	}
	if header.IsDelete {
		p.New = Version{}
	}
	file, err := parse(nameless.String() + text)
	if err != nil { // what the header tells is known all the same
		return p, fmt.Errorf("%s: %w", f.Path, err)
	}
	p.text, p.forward, p.reverse = file.TextFragments, file.BinaryFragment, file.ReverseBinaryFragment
	p.missing = file.IsBinary && p.forward == nil
	return p, nil
}

// unquoted returns a path without git's quoting.
func unquoted(name string) string {
	if path, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return path
	}
	return name
}

// parse parses the patch of one file, without the lines that name it.
func parse(nameless string) (*gitdiff.File, error) {
	files, _, err := gitdiff.Parse(strings.NewReader("diff --git a/f b/f\n" + nameless))
	if err != nil {
		return nil, fmt.Errorf("read the diff: %w", err)
	}
	if len(files) != 1 {
		return nil, errors.New("read the diff: it is not of one file")
	}
	return files[0], nil
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

// start returns the content at the session's beginning, if a patch holds it in full; then it
// is not nil.
func start(was, is []Part) (content []byte, ok bool) {
	if !was[0].Old.Exists() {
		return []byte{}, true
	}
	for _, parts := range [][]Part{was, is} {
		if len(parts) == 0 {
			continue
		}
		p := parts[0]
		switch {
		case p.Old.Mode == patch.Gitlink:
			return []byte{}, true
		case p.reverse != nil:
			now, _ := p.apply(nil) // enough for a literal patch
			if content, err := p.back(now); err == nil && p.Old.Has(content) {
				return content, true
			}
		case !p.New.Exists() && !p.missing:
			return removed(p), true
		}
	}
	return nil, false
}

// removed returns the content that a textual deletion removes.
func removed(p Part) []byte {
	content := []byte{}
	for _, hunk := range p.text {
		for _, line := range hunk.Lines {
			content = append(content, line.Line...)
		}
	}
	return content
}

// side is the new side of a path's parts, if they and base determine it fully.
func side(parts []Part, base []byte, known bool) (patch.Side, bool) {
	last := parts[len(parts)-1]
	switch {
	case !last.New.Exists():
		return patch.Side{}, true
	case last.New.Mode == patch.Gitlink:
		return sideOf(last.New, nil), true
	case !last.Old.Exists():
		base, known = []byte{}, true
	}
	if !known && last.forward == nil || last.missing {
		return patch.Side{}, false
	}
	content, err := last.apply(base)
	if err != nil || !last.New.Has(content) {
		return patch.Side{}, false
	}
	return sideOf(last.New, content), true
}

func sideOf(v Version, content []byte) patch.Side {
	if !v.Exists() {
		return patch.Side{}
	}
	id := v.ID
	if v.Mode != patch.Gitlink && content != nil {
		id = blobID(content) // the patch may abbreviate it
	}
	s := patch.Side{Mode: v.Mode, Content: content}
	_, _ = hex.Decode(s.ID[:], []byte(id)) // an abbreviated one fills the beginning
	return s
}
