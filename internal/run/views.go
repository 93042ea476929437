package run

import (
	"context"

	"codeloops/internal/agent/seat"
	"codeloops/internal/proc"
	"codeloops/internal/run/check"
	"codeloops/internal/run/worktree"
	"codeloops/internal/view"
)

// findViews chooses the views of a work tree in which the critic and the checks work.
func (r *running) findViews(ctx context.Context, of *worktree.Tree, sight *view.Sight) (*view.Place, error) {
	place := of.Views(r.runner)
	place.Sight = sight
	_, err := place.Use(ctx, view.Kind(r.Config.CriticView))
	return place, err
}

// forChecks opens views for checks; nil if they work in the work tree itself.
func forChecks(place *view.Place) func(context.Context) (check.View, error) {
	if place.Kind() == view.Tree {
		return nil
	}
	return func(ctx context.Context) (check.View, error) { return place.Open(ctx) }
}

// forReaders opens views for read-only turns; nil likewise.
func (r *running) forReaders(place *view.Place) func(context.Context) (seat.View, error) {
	if place.Kind() == view.Tree {
		return nil
	}
	return func(ctx context.Context) (seat.View, error) {
		v, err := place.Open(ctx)
		return pinned{v, r.deciders}, err
	}
}

// pinned is a view in which critics are started from the programs that they began with.
type pinned struct {
	*view.View

	deciders *deciders
}

// Run implements [agent.Starter].
func (p pinned) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	return p.View.Run(ctx, p.deciders.pinned(c))
}
