package run

import (
	"context"

	"codeloops/internal/role"
	"codeloops/internal/run/check"
	"codeloops/internal/run/worktree"
	"codeloops/internal/view"
)

// views are the views of a work tree in which a run's critic and checks work.
type views struct {
	place *view.Place
	kind  view.Kind
}

// findViews chooses a kind of view that works here.
func (r *running) findViews(ctx context.Context, of *worktree.Tree, sight *view.Sight) (*views, error) {
	v := &views{place: of.Views(r.runner)}
	v.place.Sight = sight
	var err error
	v.kind, err = v.place.Use(ctx, view.Kind(r.Config.CriticView))
	return v, err
}

// forChecks opens views for checks; nil if they work in the work tree itself.
func (v *views) forChecks() func(context.Context) (check.View, error) {
	if v.kind == view.Tree {
		return nil
	}
	return func(ctx context.Context) (check.View, error) { return v.place.Open(ctx) }
}

// forReaders opens views for read-only turns; nil likewise.
func (v *views) forReaders() func(context.Context) (role.View, error) {
	if v.kind == view.Tree {
		return nil
	}
	return func(ctx context.Context) (role.View, error) { return v.place.Open(ctx) }
}
