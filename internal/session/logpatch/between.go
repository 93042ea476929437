package logpatch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// errRenamed is a part of a diff that codeloops itself does not write.
var errRenamed = errors.New("it was renamed or copied")

// Own returns what an iteration alone changed, given what had changed before it. Logs of
// earlier versions do not hold it: then it is computed, and missing says why that failed for
// some files.
func Own(before loop.Change, r loop.Round) (own loop.Change, missing []error) {
	if r.Own != nil {
		return *r.Own, nil
	}
	return Between(before, r.Change)
}

// Between returns what changed from one state of a session to a later one, each given by what
// had changed since the session began. The result applies to the former state and gives the
// latter. It is made from the patches alone: for a file of which they do not hold enough, it
// only names the two versions, and missing says why.
func Between(before, after loop.Change) (between loop.Change, missing []error) {
	was, is := byPath(before), byPath(after)
	between = loop.Change{State: after.State, Checkpoint: after.Checkpoint}
	for _, path := range paths(before, after) {
		if slices.EqualFunc(was[path], is[path], func(a, b loop.FileChange) bool { return a.Patch == b.Patch && a.BinaryPatch == b.BinaryPatch }) {
			continue
		}
		files, err := step(path, was[path], is[path])
		if err != nil {
			missing = append(missing, err)
		}
		between.Files = append(between.Files, files...)
	}
	return between.Counted(), missing
}

func byPath(c loop.Change) map[string][]loop.FileChange {
	files := make(map[string][]loop.FileChange, len(c.Files))
	for _, f := range c.Files {
		files[f.Path] = append(files[f.Path], f) // a change of type has two parts
	}
	return files
}

func paths(changes ...loop.Change) (all []string) {
	for _, c := range changes {
		for _, f := range c.Files {
			all = append(all, f.Path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// step is Between for one path that differs.
func step(path string, before, after []loop.FileChange) ([]loop.FileChange, error) {
	if len(before) == 0 {
		return after, nil
	}
	was, err := parseAll(before)
	if err != nil {
		return unknown(path, after), err
	}
	is, err := parseAll(after)
	if err != nil {
		return unknown(path, after), err
	}
	if files, ok := whole(path, was, is); ok {
		return files, nil
	}
	files, err := sparse(path, was, is)
	if err != nil {
		return unknown(path, after), fmt.Errorf("%s: %w", path, err)
	}
	return files, nil
}

func parseAll(files []loop.FileChange) ([]Part, error) {
	parts := make([]Part, len(files))
	for i, f := range files {
		p, err := Parse(f)
		if err != nil {
			return nil, err
		}
		if p.From != "" {
			return nil, fmt.Errorf("%s: %w", p.Path, errRenamed)
		}
		parts[i] = p
	}
	return parts, nil
}

// unknown is the change of a path of which nothing is known except that it changed.
func unknown(path string, after []loop.FileChange) []loop.FileChange {
	f := loop.FileChange{Path: path, Status: loop.FileModified, Binary: true}
	if len(after) > 0 {
		f.Status = after[len(after)-1].Status
	}
	head, names, _ := strings.Cut(header(path, Version{patch.Regular, "0"}, Version{patch.Regular, "1"}), "--- ")
	before, now, _ := strings.Cut(strings.ReplaceAll(strings.TrimSuffix(names, "\n"), "\t", ""), "\n+++ ")
	f.Patch = head + "Binary files " + before + " and " + now + " differ\n"
	return []loop.FileChange{f}
}

// whole compares the two versions if the patches hold both in full, as those of added, deleted
// and binary files do.
func whole(path string, was, is []Part) ([]loop.FileChange, bool) {
	base, known := start(was, is)
	before, ok := side(was, base, known)
	if !ok {
		return nil, false
	}
	after, ok := sideOf(was[0].Old, base), known // as at the session's beginning
	if len(is) > 0 {
		after, ok = side(is, base, known)
	}
	if !ok {
		return nil, false
	}
	return patch.File(path, before, after), true
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
