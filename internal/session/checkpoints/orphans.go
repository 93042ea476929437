package checkpoints

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"codeloops/internal/session"
)

// Orphans are the references in a private repository whose sessions no longer exist.
type Orphans struct {
	Repository
	Refs []string
	All  bool // the repository has no other references
}

// OrphansOf finds them in the private repositories of a store, except those that sessions are
// using.
func OrphansOf(ctx context.Context, r Repository) (all []Orphans, err error) {
	dirs, err := filepath.Glob(filepath.Join(r.Store.Dir(), "checkpoints", "*.git"))
	if err != nil {
		return nil, err
	}
	for _, r.Dir = range dirs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if info, err := os.Lstat(r.Dir); err != nil || !info.IsDir() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.Dir, "HEAD")); err != nil {
			continue // it is not a repository, or not yet
		}
		of, err := r.orphans()
		if errors.Is(err, session.ErrInUse) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(of.Refs) > 0 {
			all = append(all, of)
		}
	}
	return all, nil
}

func (r Repository) orphans() (Orphans, error) {
	of := Orphans{Repository: r, All: true}
	alone, err := session.OwnCheckpoints(r.Dir)
	if err != nil {
		return of, err
	}
	defer alone.Close() //nolint:errcheck // the process's end releases it in any case
	refs, err := r.refs()
	for id, all := range refs {
		if _, err := os.Lstat(r.Store.Path(id)); errors.Is(err, fs.ErrNotExist) {
			of.Refs = append(of.Refs, all...)
		} else {
			of.All = false
		}
	}
	slices.Sort(of.Refs)
	return of, err
}

// Remove removes the references, and the repository if it has no others.
func (o Orphans) Remove(ctx context.Context) error { return o.dissolve(ctx, o.Refs) }
