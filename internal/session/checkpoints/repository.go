// Package checkpoints maintains the states of work trees that sessions keep, as references in
// private repositories beside their logs.
package checkpoints

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// Bounds of tidying up a private repository: it pays only beyond so many packs, as each
// checkpoint makes one, and a run waits no longer for it than this.
const (
	manyPacks = 50
	tidyTime  = 2 * time.Minute
)

// Before returns the time from which on everything is kept; zero for a span of 0, which means
// that everything is.
func Before(now time.Time, span time.Duration) time.Time {
	if span == 0 {
		return time.Time{}
	}
	return now.Add(-span)
}

// A Repository is a private repository.
type Repository struct {
	Git   git.Git
	Store *session.Store
	Dir   string
	Own   string // the session that begins or is resumed; "" if none
}

// Tidy removes the checkpoints of sessions that are not among the last ones and began before a
// time, and everything that is no longer referred to. It does nothing while sessions are using
// the repository.
func (r Repository) Tidy(ctx context.Context, last int, before time.Time) error {
	if _, err := os.Stat(filepath.Join(r.Dir, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	alone, err := session.OwnCheckpoints(r.Dir)
	if errors.Is(err, session.ErrInUse) {
		return nil
	}
	if err != nil {
		return err
	}
	defer alone.Close() //nolint:errcheck // the system takes it back in any case
	if err := diff.Sweep(r.Dir); err != nil {
		return err
	}
	refs, err := r.refs()
	if err != nil {
		return err
	}
	if err := r.drop(ctx, r.surplus(refs, last, before)); err != nil {
		return err
	}
	packs, _ := filepath.Glob(filepath.Join(r.Dir, "objects", "pack", "*.pack"))
	if len(packs) <= manyPacks {
		return nil
	}
	return r.collect(ctx)
}

// list returns all references to checkpoints.
func (r Repository) list() ([]string, error) {
	if _, err := os.Stat(filepath.Join(r.Dir, "HEAD")); err != nil {
		return nil, err
	}
	refs, err := git.At(r.Dir).Refs(Refs)
	return slices.Sorted(maps.Keys(refs)), err
}

// refs returns the references to checkpoints by session, in the order in which they were made.
func (r Repository) refs() (map[string][]string, error) {
	list, err := r.list()
	all := map[string][]string{}
	for _, ref := range list {
		id, _, _ := strings.Cut(strings.TrimPrefix(ref, Refs), "/")
		all[id] = append(all[id], ref)
	}
	for _, refs := range all {
		slices.SortFunc(refs, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	}
	return all, err
}

// surplus returns the references to remove. A session that can be resumed keeps its first one,
// which everything is compared with, and its last one.
func (r Repository) surplus(all map[string][]string, last int, before time.Time) (surplus []string) {
	ids := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return strings.Compare(b, a) }) // a name begins with the time
	for i, id := range ids {
		began, known := session.Began(id)
		if i < last || id == r.Own || known && !began.Before(before) {
			continue
		}
		refs := all[id]
		if one := session.Look(r.Store.Path(id)); !errors.Is(one.Err, fs.ErrNotExist) && one.Status != session.Status(loop.Success) {
			refs = refs[min(1, len(refs)):max(1, len(refs)-1)]
		}
		surplus = append(surplus, refs...)
	}
	return surplus
}

// drop removes references.
func (r Repository) drop(ctx context.Context, refs []string) error {
	return drop(ctx, r.Git, r.Dir, refs, "--git-dir="+r.Dir)
}

// collect removes what no reference protects, and packs the rest into one pack. If it is
// killed, nothing is lost, and the next call removes what it has left.
func (r Repository) collect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tidyTime)
	defer cancel()
	_ = filepath.WalkDir(filepath.Join(r.Dir, "refs"), func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(name, ".lock") {
			_ = os.Remove(name) //nolint:gosec // nobody else uses the repository, and no link is followed
		}
		return nil
	})
	args := []string{"--git-dir=" + r.Dir, "-c", "core.fsync=all", "-c", "core.hooksPath=" + os.DevNull, "gc", "--quiet", "--prune=now"}
	_, err := r.Git.Run(ctx, git.Call{Dir: r.Dir, Args: args})
	return err
}

// dissolve removes references, and the repository if none are left.
func (r Repository) dissolve(ctx context.Context, refs []string) error {
	if err := r.drop(ctx, refs); err != nil {
		return fmt.Errorf("remove checkpoints from %s: %w", r.Dir, err)
	}
	alone, err := session.OwnCheckpoints(r.Dir)
	if errors.Is(err, session.ErrInUse) {
		return nil // the rest goes when it is not
	}
	if err != nil {
		return err
	}
	defer alone.Close() //nolint:errcheck // the system takes it back in any case
	left, err := r.refs()
	if err != nil || len(left) > 0 {
		return errors.Join(err, r.collect(ctx))
	}
	return os.RemoveAll(r.Dir)
}
