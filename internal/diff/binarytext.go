package diff

import (
	"bytes"
	"context"

	"codeloops/internal/diff/legible"
	"codeloops/internal/diff/patch"
	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// maxLegible is the size up to which a binary file is looked at for text.
const maxLegible = 4 << 20

// binaryTexts returns the binary files of a change that are text but for some bytes,
// and those that were text when the session began.
func (t *Tree) binaryTexts(ctx context.Context, state *scan.Dir, changed []loop.FileChange) ([]loop.Unshown, error) {
	var all []loop.Unshown
	known := t.binaries
	t.binaries = make(map[change]*loop.Unshown)
	for _, f := range changed {
		if !f.Binary {
			continue
		}
		c := scan.Change{Path: f.Path}
		if f.Status != loop.FileAdded {
			c.Before = t.base.Find(f.Path)
		}
		if f.Status != loop.FileDeleted {
			c.After = state.Find(f.Path)
		}
		told, looked := known[changeOf(c)]
		if !looked {
			var err error
			if told, err = t.binaryText(ctx, f, c); err != nil {
				return nil, err
			}
		}
		t.binaries[changeOf(c)] = told
		if told != nil {
			all = append(all, *told)
		}
	}
	return all, nil
}

func (t *Tree) binaryText(ctx context.Context, f loop.FileChange, c scan.Change) (*loop.Unshown, error) {
	before, err := t.side(ctx, c.Before)
	if err != nil {
		return nil, err
	}
	after, err := t.side(ctx, c.After)
	if err != nil {
		return nil, err
	}
	u := &loop.Unshown{Path: f.Path, Why: loop.BinaryText, Status: f.Status}
	if c.After != nil && len(before.Content) > 0 && !isBinary(before.Content) {
		u.Why = loop.TurnedBinary
	}
	was, is := readable(&before), readable(&after)
	if !was && !is && u.Why != loop.TurnedBinary {
		return nil, nil //nolint:nilnil // it is as binary as git says
	}
	if changes := patch.File(f.Path, before, after); len(changes) == 1 {
		u.Text = cutText(changes[0].Patch)
	}
	return u, nil
}

// readable makes the content of a side text, or nothing where it is none, and reports
// whether it is.
func readable(s *patch.Side) bool {
	if s.Mode == patch.Absent {
		return false
	}
	text, ok := []byte(nil), false
	if !s.TooLarge && len(s.Content) <= maxLegible {
		text, ok = legible.Text(s.Content)
	}
	if s.TooLarge = false; !ok {
		text = nil
	}
	s.Content, s.Size = text, 0
	return ok
}

// isBinary reports whether content is binary to git.
func isBinary(content []byte) bool {
	const sniffed = 8000
	return bytes.IndexByte(content[:min(len(content), sniffed)], 0) >= 0
}
