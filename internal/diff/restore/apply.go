package restore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
)

// apply moves the old files into the stages and links the new ones into place.
func (w *work) apply(ctx context.Context) error {
	err := w.each("", func(i int, m *move) error {
		if err := w.aside(ctx, i, m); err != nil {
			return err
		}
		if m.After != Nothing {
			return w.place(i, m)
		}
		w.prune(path.Dir(string(m.Path)), w.isPlace)
		return nil
	})
	if err == nil {
		err = w.each("", w.undisturbed)
	}
	if err != nil {
		return err
	}
	return w.sync()
}

// undisturbed looks for what others have done at a path since its file was copied. A strict
// restore must not go on then, any other takes note of it.
func (w *work) undisturbed(i int, m *move) error {
	cameUp := w.cameUp(*m)
	if !w.strict {
		m.Stayed = m.Stayed || cameUp
		return nil
	}
	old, err := sumAt(w.root, w.old(i))
	deleted := old == "" && m.After == Nothing // by others, as was to be
	switch {
	case err != nil:
		return err
	case old != m.BeforeSum && !deleted, old != "" && !permAt(w.root, w.old(i), m.BeforePerm):
		return ErrChanged
	case cameUp:
		return ErrInTheWay
	}
	return nil
}

// cameUp reports whether somebody has put a file or link at a path, instead of what is to be there.
func (w *work) cameUp(m move) bool {
	at := string(m.Path)
	if _, err := w.kind(at); err != nil { // there is a file or link above it
		return m.After != Nothing && errors.Is(err, ErrInTheWay)
	}
	if now, err := sumAt(w.root, at); err != nil || now == m.Sum {
		return false
	}
	_, err := w.root.Lstat(at)
	return err == nil && (m.After != Nothing || !slices.ContainsFunc(w.Moves, func(by move) bool {
		return by.After != Nothing && sameFile(w.root, at, string(by.Path)) // where the file system ignores case
	}))
}

// aside moves what is at a path into the stage.
func (w *work) aside(ctx context.Context, i int, m *move) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := w.at("move aside"); err != nil || m.Before == Nothing {
		return err
	}
	kind, err := w.kind(string(m.Path))
	switch {
	case err != nil:
		return err
	case kind == Nothing:
		m.Before = Nothing // somebody has removed it: a rollback must not bring it back
		return nil
	case kind == Place && m.Before == Place:
		return w.root.Remove(string(m.Path))
	case kind == Place || kind == other:
		return ErrInTheWay
	}
	w.touched(path.Dir(string(m.Path)))
	if err := w.root.Rename(string(m.Path), w.old(i)); err != nil {
		return err
	}
	if info, err := w.root.Lstat(w.old(i)); err != nil || info.IsDir() { // it was replaced after the check
		return errors.Join(err, ErrInTheWay)
	}
	return nil
}

// place puts the new file into place, unless somebody else has put something there.
func (w *work) place(i int, m *move) error {
	if err := w.at("put in place"); err != nil {
		return err
	}
	at := string(m.Path)
	kind, err := w.kind(at)
	if err != nil {
		return err
	}
	if kind == other || kind == Place && m.After != Place {
		w.pruneBelow(at)
	}
	if m.After == Place {
		return w.makeDir(at)
	}
	err = w.give(w.fresh(i), at)
	if errors.Is(err, fs.ErrExist) {
		if m.Stayed = !w.strict; m.Stayed {
			return nil
		}
		err = ErrInTheWay
	}
	return err
}

// give gives a staged file or link its name in the work tree, if that is free.
func (w *work) give(staged, at string) error {
	if err := w.makeDir(path.Dir(at)); err != nil {
		return err
	}
	w.touched(path.Dir(at))
	return link(w.root, staged, at)
}
