package diff

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/scan"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// rules are ignore rules with where they come from.
type rules struct {
	*ignore.Rules
	origin origin
}

// An origin is a source of ignore rules other than files in the work tree.
type origin struct {
	info, excludes string // paths
	ignoreCase     bool
}

func originOf(r *repo.Repository) (o origin, err error) {
	o.info = r.InfoExclude()
	if o.ignoreCase, err = r.Config.Bool("core.ignoreCase", false); err != nil {
		return o, err
	}
	o.excludes, err = r.ExcludesFile()
	return o, err
}

func (w *watcher) newRules(ctx context.Context, o origin) *rules {
	ctx = context.WithoutCancel(ctx) // they outlive this scan
	return &rules{origin: o, Rules: ignore.New(ignore.Options{
		WorkTree:     w.Root(),
		InfoExclude:  o.info,
		ExcludesFile: o.excludes,
		IgnoreCase:   o.ignoreCase,
		FromIndex: func(name string) ([]byte, bool) {
			id, ok := w.tracked.ignores[name]
			if !ok {
				return nil, false
			}
			blob, err := w.store.Blob(ctx, plumbing.Hash(id))
			return blob, err == nil
		},
	})}
}

// unread returns warnings of rules that are not known.
func (r *rules) unread() []string {
	var warnings []string
	unread := r.Unread()
	for _, path := range slices.Sorted(maps.Keys(unread)) {
		warnings = append(warnings, wording.NameIn(fmt.Sprintf("cannot read ignore rules: %v", unread[path]), path))
	}
	return warnings
}

// OutOfScope reports whether git ignores a file, by its path from the root with slashes, as
// the last look found the rules: it is neither tracked, nor was it there and in scope when
// the session began, nor does it decide over what is ignored.
func (t *Tree) OutOfScope(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if scan.Decides(path) || t.base.Find(path) != nil || t.last.Find(path) != nil || t.tracked.root.Find(path) != nil {
		return false
	}
	return t.rules != nil && t.ignores(path)
}
