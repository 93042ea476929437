package store

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxOpen is how many packs stay open.
const maxOpen = 256

// A listing is where the objects are, as of one moment. Its files stay open until
// nobody uses it.
type listing struct {
	dirs  []*directory // the database's own first
	users atomic.Int64 // the database is one, until it looks anew
}

func list(objects string) *listing {
	l := &listing{}
	l.users.Add(1)
	left := maxOpen
	for _, path := range withAlternates(objects) {
		dir := openDirectory(path)
		dir.keeps = min(left, len(dir.packs))
		left -= dir.keeps
		l.dirs = append(l.dirs, dir)
	}
	return l
}

// first tries the directories until one does not fail, or has what is too large.
func (l *listing) first(try func(*directory) error) error {
	failure := plumbing.ErrObjectNotFound
	for _, dir := range l.dirs {
		err := try(dir)
		if err == nil || errors.Is(err, ErrLarge) {
			return err
		}
		failure = graver(failure, err)
	}
	return failure
}

// changed reports whether packs have come or gone.
func (l *listing) changed() bool { return slices.ContainsFunc(l.dirs, (*directory).changed) }

// release ends a use of the listing. The last one closes its files.
func (l *listing) release() error {
	if l.users.Add(-1) > 0 {
		return nil
	}
	var errs []error
	for _, dir := range l.dirs {
		errs = append(errs, dir.close())
	}
	return errors.Join(errs...)
}
