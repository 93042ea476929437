package logpatch

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"codeloops/internal/diff/lines"
	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// mostLines bounds the lines of a file that is partly rebuilt: a hunk may claim any position.
const mostLines = 500_000

// gitContext is how many lines git prints around a change.
const gitContext = 3

var (
	errNotText = errors.New("the log does not hold enough of it to tell what this iteration changed")
	errOther   = errors.New("its patches do not begin with the same file")
)

// sparse compares two versions of a text if the patches hold only the surroundings of the
// changes. Both patches begin with the same base, of which each hunk tells some lines. The
// lines that no hunk tells are the same in both versions and are replaced by stand-ins. Since
// git prints three lines around each change, no stand-in gets near one.
func sparse(path string, was, is []Part) ([]loop.FileChange, error) {
	if len(was) != 1 || len(is) > 1 || !textual(was[0]) || len(is) == 1 && !textual(is[0]) {
		return nil, errNotText
	}
	if len(is) == 0 { // it is as at the session's beginning
		is = []Part{{Path: path, Old: was[0].Old, New: was[0].Old}}
	}
	named(&was[0], is[0].Old.ID)
	named(&is[0], was[0].Old.ID)
	if was[0].Old != is[0].Old {
		return nil, errOther
	}
	base, standIn, err := rebuilt(was[0], is[0])
	if err != nil {
		return nil, err
	}
	before, err := was[0].apply(base)
	if err != nil {
		return nil, err
	}
	after, err := is[0].apply(base)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(before, after) {
		return patch.File(path, sideOf(was[0].New, []byte{}), sideOf(is[0].New, []byte{})), nil // the mode, if at all
	}
	hunks, insertions, deletions := lines.Append(nil, before, after)
	text, err := without(string(hunks), standIn)
	return []loop.FileChange{{
		Path: path, Status: loop.FileModified, OldMode: was[0].New.Mode, NewMode: is[0].New.Mode,
		Patch: header(path, was[0].New, is[0].New) + text, Insertions: insertions, Deletions: deletions,
	}}, err
}

// named sets the missing ids of a part that changes no content to that of its old side.
func named(p *Part, id string) {
	if p.Old.ID == "" && p.New.ID == "" {
		p.Old.ID, p.New.ID = id, id
	}
}

// textual reports whether a part changes a text file that exists on both sides.
func textual(p Part) bool {
	return p.Old.Exists() && p.New.Exists() && p.forward == nil && !p.missing
}

// header is the header of the patch between two texts. It has no index line if the ids are
// abbreviated, since git would look for such objects.
func header(path string, before, after Version) string {
	a, b := sideOf(before, nil), sideOf(after, nil)
	a.Content, b.Content = []byte("a\n"), []byte("b\n")
	if a.ID == b.ID { // as far as they are known
		b.ID[0]++
	}
	text := patch.File(path, a, b)[0].Patch
	text = text[:strings.Index(text, "\n@@ ")+1]
	if len(before.ID) == len(blobID(nil)) && len(after.ID) == len(before.ID) && before.ID != after.ID {
		return text
	}
	at := strings.Index(text, "\nindex ") + 1
	return text[:at] + text[at+strings.Index(text[at:], "\n")+1:]
}

// rebuilt returns the base of two patches, as far as they tell it, and the prefix of the
// stand-ins for other lines.
func rebuilt(parts ...Part) (base []byte, standIn string, err error) {
	k := known{lines: map[int64]string{}, standIn: "_\x1a"}
	for _, p := range parts {
		for _, hunk := range p.text {
			if err := k.take(hunk); err != nil {
				return nil, "", err
			}
		}
	}
	if k.last > mostLines {
		return nil, "", fmt.Errorf("it has more than %d lines", mostLines)
	}
	return k.fill(), k.standIn, nil
}

// known is what hunks tell of their base.
type known struct {
	lines   map[int64]string
	last    int64  // the last line that is known
	ended   bool   // it is the last line of the file
	standIn string // a prefix that no known line has
}

func (k *known) take(hunk *gitdiff.TextFragment) error {
	at := hunk.OldPosition
	if at == 0 { // the file is empty
		k.ended = true
		return nil
	}
	for _, line := range hunk.Lines {
		for strings.HasPrefix(line.Line, k.standIn) {
			k.standIn += "\x1a"
		}
		if !line.Old() {
			continue
		}
		if other, ok := k.lines[at]; ok && other != line.Line {
			return errOther
		}
		k.lines[at] = line.Line
		at++
	}
	// With less context after its last change, the file ends there.
	ended := hunk.TrailingContext < gitContext || hunk.Lines[len(hunk.Lines)-1].NoEOL()
	if last := at - 1; last > k.last {
		k.last, k.ended = last, ended
	} else if last == k.last {
		k.ended = k.ended || ended
	}
	return nil
}

func (k *known) fill() (base []byte) {
	for n := int64(1); n <= k.last; n++ {
		line, ok := k.lines[n]
		if !ok {
			line = k.standIn + strconv.FormatInt(n, 36) + "\n"
		}
		base = append(base, line...)
	}
	if !k.ended {
		base = append(base, k.standIn+"\n"...)
	}
	return base
}

// without removes stand-ins from hunks, where they may be context or the name of the function.
func without(hunks, standIn string) (string, error) {
	hunks = regexp.MustCompile(`(?m)^(@@ [^@]+ @@) `+regexp.QuoteMeta(standIn)+`.*$`).ReplaceAllString(hunks, "$1")
	if !strings.Contains(hunks, "\n "+standIn) {
		return hunks, nil
	}
	file, err := parse(hunks)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, hunk := range file.TextFragments {
		for _, piece := range pieces(hunk, standIn) {
			b.WriteString(piece.String())
		}
	}
	return b.String(), nil
}

// pieces returns what is left of a hunk without stand-ins.
func pieces(hunk *gitdiff.TextFragment, standIn string) (all []*gitdiff.TextFragment) {
	before, after := hunk.OldPosition, hunk.NewPosition
	p := &gitdiff.TextFragment{}
	for _, line := range append(hunk.Lines, gitdiff.Line{Line: standIn}) {
		if strings.HasPrefix(line.Line, standIn) {
			if p.LinesAdded+p.LinesDeleted > 0 {
				all = append(all, p)
			}
			before, after = before+1, after+1
			p = &gitdiff.TextFragment{Comment: hunk.Comment}
			continue
		}
		if len(p.Lines) == 0 {
			p.OldPosition, p.NewPosition = before, after
		}
		p.Lines = append(p.Lines, line)
		if line.Old() {
			before, p.OldLines = before+1, p.OldLines+1
		}
		if line.New() {
			after, p.NewLines = after+1, p.NewLines+1
		}
		switch line.Op {
		case gitdiff.OpAdd:
			p.LinesAdded++
		case gitdiff.OpDelete:
			p.LinesDeleted++
		case gitdiff.OpContext:
		}
	}
	return all
}
