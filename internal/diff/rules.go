package diff

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/shown"
)

// rules are ignore rules with where they come from.
type rules struct {
	*ignore.Rules
	origin origin
}

// An origin is what makes ignore rules, besides the content of files in the
// work tree.
type origin struct {
	info, excludes string // paths
	ignoreCase     bool
	index          file.Stamp // if rules are read from it, else zero
}

func (t *Tree) origin(r *repo.Repository) (o origin, err error) {
	o.info = r.InfoExclude()
	if o.ignoreCase, err = r.Config.Bool("core.ignoreCase", false); err != nil {
		return o, err
	}
	if len(t.tracked.ignores) > 0 {
		o.index = t.tracked.stamp
	}
	o.excludes, err = r.ExcludesFile()
	return o, err
}

// currentRules returns the rules of the last scan while they hold, else new
// ones.
func (t *Tree) currentRules(ctx context.Context, r *repo.Repository) (*rules, error) {
	o, err := t.origin(r)
	if err != nil {
		return nil, err
	}
	if t.rules != nil && t.rules.origin == o && !t.rules.Changed() {
		return t.rules, nil
	}
	return t.newRules(ctx, o), nil
}

func (t *Tree) newRules(ctx context.Context, o origin) *rules {
	ctx = context.WithoutCancel(ctx) // they outlive this scan
	return &rules{origin: o, Rules: ignore.New(ignore.Options{
		WorkTree:     t.Root(),
		InfoExclude:  o.info,
		ExcludesFile: o.excludes,
		IgnoreCase:   o.ignoreCase,
		Now:          t.looked,
		FromIndex: func(name string) ([]byte, bool) {
			id, ok := t.tracked.ignores[name]
			if !ok {
				return nil, false
			}
			blob, err := t.store.Blob(ctx, plumbing.Hash(id))
			return blob, err == nil
		},
	})}
}

// unread returns warnings of rules that are not known.
func (r *rules) unread() []string {
	var warnings []string
	for _, source := range r.Sources() {
		if source.Err != nil {
			warnings = append(warnings, shown.In(fmt.Sprintf("cannot read ignore rules: %v", source.Err), source.Path))
		}
	}
	return warnings
}

// ignores reports whether the rules hit an untracked file, by its path from
// the root.
func (r *rules) ignores(name string) bool {
	dir := r.Root(true)
	for {
		first, rest, deeper := strings.Cut(name, "/")
		if !deeper {
			return dir.Ignored(name, false)
		}
		if dir.Ignored(first, true) {
			return true
		}
		dir, name = dir.Sub(first, true), rest
	}
}
