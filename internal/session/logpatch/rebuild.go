package logpatch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// A Base is the current state of the work tree in which a session's files are rebuilt.
type Base interface {
	// File returns what is at a path; mode 0 is nothing.
	File(path string) (mode uint32, id string)
	// Blob returns the content of a blob by its whole id.
	Blob(ctx context.Context, id string) ([]byte, error)
}

// Edits returns the edits that turn a work tree, in which the files are as the session found
// them, into the one that a change was captured from. The commits of nested repositories stay,
// as HEAD does; [Commits] counts them. With anyway, a file that has changed since is replaced
// all the same, if the repository holds what the session began with. The error names every
// file that cannot be rebuilt.
func Edits(ctx context.Context, c loop.Change, base Base, anyway bool) (edits []diff.Edit, err error) {
	r := rebuilder{base: base, anyway: anyway, freed: map[string]bool{}}
	var problems []error
	for _, f := range c.Files {
		p, err := Parse(f)
		if err == nil {
			var some []diff.Edit
			some, err = r.rebuild(ctx, p)
			edits = append(edits, some...)
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return merged(edits), errors.Join(problems...)
}

// Commits counts the nested repositories that a change adds, removes or moves to another
// commit.
func Commits(c loop.Change) (n int) {
	for _, f := range c.Files {
		if f.OldMode == patch.Gitlink || f.NewMode == patch.Gitlink {
			n++
		}
	}
	return n
}

// merged drops removals of paths that are added again, as in a change of type.
func merged(edits []diff.Edit) (kept []diff.Edit) {
	comes := map[string]bool{}
	for _, e := range edits {
		comes[e.Path] = comes[e.Path] || e.Mode != 0
	}
	for _, e := range edits {
		if e.Mode != 0 || !comes[e.Path] {
			kept = append(kept, e)
		}
	}
	return kept
}

type rebuilder struct {
	base   Base
	anyway bool
	freed  map[string]bool // paths whose file an earlier part has removed
}

func (r rebuilder) rebuild(ctx context.Context, p Part) ([]diff.Edit, error) {
	if p.Old.Mode == patch.Gitlink || p.New.Mode == patch.Gitlink {
		return nil, nil
	}
	source := p.Path
	if p.From != "" {
		source = p.From
	}
	mode, id := r.base.File(source)
	if !p.told && mode != 0 { // the patch does not change the mode
		p.Old.Mode, p.New.Mode = mode, mode
	}
	if !p.Old.Exists() {
		if mode != 0 && !r.anyway && !r.freed[source] {
			return nil, fmt.Errorf("%s: there is such a file, and the session began without it", source)
		}
		content, err := p.Apply(nil)
		return []diff.Edit{{Path: p.Path, Mode: p.New.Mode, Content: content}}, err
	}
	old, err := r.origin(ctx, p.Old, Version{mode, id})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if !p.New.Exists() {
		r.freed[p.Path] = true
		return []diff.Edit{{Path: p.Path}}, nil
	}
	content, err := p.Apply(old)
	if err != nil {
		return nil, err
	}
	edits := []diff.Edit{{Path: p.Path, Mode: p.New.Mode, Content: content}}
	if p.From != "" && !p.Copy {
		edits = append(edits, diff.Edit{Path: p.From})
	}
	return edits, nil
}

// origin returns the content that a part was made from, given what the work tree has now.
func (r rebuilder) origin(ctx context.Context, want, have Version) ([]byte, error) {
	switch {
	case have.Mode == want.Mode && strings.HasPrefix(have.ID, want.ID):
		return r.base.Blob(ctx, have.ID)
	case !r.anyway && !have.Exists():
		return nil, errors.New("there is no such file, and the session began with one")
	case !r.anyway:
		return nil, ErrOtherOrigin
	}
	if len(want.ID) != len(blobID(nil)) {
		return nil, errors.New("the log does not say exactly which file the session began with")
	}
	content, err := r.base.Blob(ctx, want.ID)
	if err != nil {
		return nil, fmt.Errorf("the repository does not hold what the session began with: %w", err)
	}
	return content, nil
}
