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
	origin ignore.Options
}

func newRules(o ignore.Options) *rules { return &rules{ignore.New(o), o} }

// originOf returns the sources of ignore rules other than files in the work tree.
func originOf(r *repo.Repository) (o ignore.Options, err error) {
	o.InfoExclude = r.InfoExclude()
	if o.IgnoreCase, err = r.Config.Bool("core.ignoreCase", false); err != nil {
		return o, err
	}
	o.ExcludesFile, err = r.ExcludesFile()
	return o, err
}

// leftOut returns what reads the ignore files that a sparse checkout leaves out.
func (w *watcher) leftOut(ctx context.Context) func(name string) ([]byte, bool) {
	ctx = context.WithoutCancel(ctx) // the rules outlive this scan
	return func(name string) ([]byte, bool) {
		id, ok := w.tracked.ignores[name]
		if !ok {
			return nil, false
		}
		blob, err := w.store.Blob(ctx, plumbing.Hash(id))
		return blob, err == nil
	}
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
