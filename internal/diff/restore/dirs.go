package restore

import (
	"errors"
	"io/fs"
	"path"
	"slices"
)

// makeDir makes a directory and those above it, with the permissions that they had, or else as
// [Plan.Dirs] says. The caller has checked that nothing else is in their place.
func (w *work) makeDir(dir string) error {
	if dir == "." {
		return nil
	}
	if err := w.makeDir(path.Dir(dir)); err != nil {
		return err
	}
	perm, known := w.wasDir(dir)
	if !known {
		perm, known = w.perms[dir]
	}
	if !known {
		perm = 0o777 // umask decides
	}
	err := w.root.Mkdir(dir, perm)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	w.touched(path.Dir(dir))
	if err == nil && known {
		err = w.root.Chmod(dir, perm)
	}
	return err
}

// prune removes a directory and those above it, up to the first that is not empty or that stays.
func (w *work) prune(dir string, stays func(dir string) bool) {
	for ; dir != "." && !stays(dir) && w.root.Remove(dir) == nil; dir = path.Dir(dir) {
		w.touched(path.Dir(dir))
	}
}

// pruneBelow removes a directory that holds nothing but directories. It removes no file.
func (w *work) pruneBelow(dir string) {
	var dirs []string
	err := fs.WalkDir(w.root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		dirs = append(dirs, name)
		if err == nil && !e.IsDir() {
			err = ErrInTheWay
		}
		return err
	})
	for _, name := range slices.Backward(dirs) {
		if err != nil || w.root.Remove(name) != nil {
			return
		}
	}
}

// touched says that names in a directory have changed, for sync.
func (w *work) touched(dir string) { w.dirty[dir] = true }

// sync syncs the directories that were touched, and the stages.
func (w *work) sync() error {
	var errs []error
	for dir := range w.dirty {
		errs = append(errs, syncIn(w.root, dir))
	}
	for at := range w.Stages {
		errs = append(errs, syncIn(w.root, w.stage(at)))
	}
	return errors.Join(errs...)
}
