package tamper

import (
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// maxPatch bounds how much of one file's patch is read, in bytes. Nobody writes more by hand.
const maxPatch = 4 << 20

// A line is one line of a file, or of what a patch shows of it.
type line struct {
	op   byte // ' ', '-' or '+'
	at   int  // its number: for '-' in the old file, else in the new one
	text string
}

// lines returns the lines of a changed file on both sides: all of them if the file around the patch
// is known, else those of the patch.
func lines(f loop.FileChange, content string) (all []line) {
	var texts []string // of the whole file
	if content != "" && f.Status == loop.FileModified {
		texts = strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	}
	next := 1 // of them
	upTo := func(at int) {
		for ; next < at && next <= len(texts); next++ {
			all = append(all, line{' ', next, strings.TrimRight(texts[next-1], "\r")})
		}
	}
	for l := range loop.PatchLines(f.Patch[:min(len(f.Patch), maxPatch)]) {
		shown := line{l.Op, l.New, strings.TrimRight(l.Text, "\r\n")}
		switch l.Op {
		case '@':
			upTo(l.New)
			continue
		case '-':
			shown.at = l.Old
		case ' ', '+':
			if texts != nil && (next > len(texts) || next != l.New || strings.TrimRight(texts[next-1], "\r") != shown.text) {
				return lines(f, "") // the patch is not of this content
			}
			next++
		default:
			continue
		}
		all = append(all, shown)
	}
	upTo(len(texts) + 1)
	return all
}

// fate says what happened to a file as a whole.
func fate(f loop.FileChange) string {
	switch {
	case f.Status == loop.FileDeleted:
		return "it was removed"
	case f.Status == loop.FileAdded:
		return "it was added"
	case f.Binary || f.Insertions+f.Deletions == 0:
		return "it was changed"
	}
	return "it was changed: +" + strconv.Itoa(f.Insertions) + " -" + strconv.Itoa(f.Deletions) + " lines"
}

// A Text is a changed file with what it held when the session began, and what it holds now, as far
// as that is known.
type Text struct{ Path, Before, After string }

// Texts returns the changed files of some names with their texts.
func (in Tree) Texts(c loop.Change, wanted func(path string) bool) (all []Text) {
	for _, f := range Files(c) {
		if !wanted(f.Path) {
			continue
		}
		var before, after strings.Builder
		for _, l := range lines(f, in.content(f)) {
			if l.op != '+' {
				before.WriteString(l.text + "\n")
			}
			if l.op != '-' {
				after.WriteString(l.text + "\n")
			}
		}
		all = append(all, Text{f.Path, before.String(), after.String()})
	}
	return all
}

// content returns what a modified file holds now, "" if that is not known.
func (in Tree) content(f loop.FileChange) string {
	if in.Read == nil || f.Status != loop.FileModified {
		return ""
	}
	text, err := in.Read(f.Path)
	if err != nil {
		return ""
	}
	return string(text)
}

// Files returns the files of a change as they are on disk: with the text of those that git takes
// for binary or converts, and with those that git ignores.
func Files(c loop.Change) []loop.FileChange {
	type key struct {
		path   string
		status loop.FileStatus
	}
	unshown := map[key]loop.Unshown{}
	for _, u := range c.Unshown {
		unshown[key{u.Path, u.Status}] = u
	}
	files := make([]loop.FileChange, 0, len(c.Files)+len(c.Unshown))
	for _, f := range c.Files {
		if u, there := unshown[key{f.Path, f.Status}]; there {
			if u.Text != "" {
				f.Patch = u.Text
			}
			delete(unshown, key{f.Path, f.Status})
		}
		files = append(files, f)
	}
	for _, u := range c.Unshown {
		if _, left := unshown[key{u.Path, u.Status}]; left {
			files = append(files, loop.FileChange{Path: u.Path, Status: u.Status, Patch: u.Text})
		}
	}
	return files
}
