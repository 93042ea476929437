package restore

import (
	"errors"
	"io/fs"
	"path"
	"slices"
)

// anyPerm lets umask decide the permissions of a directory.
const anyPerm fs.FileMode = 0o777

// kind returns the kind of what is at a path now. It is an error if the path leads through a
// symbolic link.
func (w *work) kind(name string) (Kind, error) {
	return (&checker{root: w.root}).kind(name)
}

// link gives a staged file its name, if that is free. On a file system without hard links
// something that appears between the check and the rename is overwritten.
func (w *work) link(staged, to string) error {
	err := w.root.Link(staged, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, statErr := w.root.Lstat(to); statErr == nil {
		return fs.ErrExist
	}
	return w.root.Rename(staged, to)
}

// makeDirs makes a directory and those above it, with the permissions that they had.
func (w *work) makeDirs(dir string) error {
	if dir == "." {
		return nil
	}
	if err := w.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	err := w.root.Mkdir(dir, w.dirPerm(dir))
	if errors.Is(err, fs.ErrExist) {
		return nil // the caller has checked that it is a directory
	}
	w.touched(path.Dir(dir))
	if perm := w.dirPerm(dir); perm != anyPerm && err == nil {
		err = w.root.Chmod(dir, perm)
	}
	return err
}

func (w *work) dirPerm(dir string) fs.FileMode {
	if perm, was := w.wasDir(dir); was {
		return perm
	}
	if perm, said := w.perms[dir]; said {
		return perm
	}
	return anyPerm
}

// prune removes a directory and those above it, up to the first that is not empty or that
// stays.
func (w *work) prune(dir string, stays func(dir string) bool) {
	for ; dir != "." && !stays(dir) && w.root.Remove(dir) == nil; dir = path.Dir(dir) {
		w.touched(path.Dir(dir))
	}
}

// pruneBelow removes a directory that holds nothing but directories. It removes no file.
func (w *work) pruneBelow(dir string) {
	var dirs []string
	file := false
	_ = fs.WalkDir(w.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if file = d == nil || !d.IsDir(); file {
			return fs.SkipAll
		}
		if err == nil { // otherwise it is in dirs, but cannot be read
			dirs = append(dirs, name)
		}
		return nil
	})
	if file {
		return
	}
	for _, below := range slices.Backward(dirs) {
		if w.root.Remove(below) != nil {
			return
		}
	}
}

func (w *work) touched(dir string) {
	if w.dirty == nil {
		w.dirty = make(map[string]bool)
	}
	w.dirty[dir] = true
}

// syncDirty syncs the directories that were touched, and the stages.
func (w *work) syncDirty() error {
	var errs []error
	for dir := range w.dirty {
		errs = append(errs, syncIn(w.root, dir))
	}
	for at := range w.Stages {
		errs = append(errs, syncIn(w.root, w.stage(at)))
	}
	return errors.Join(errs...)
}

// alike reports whether two files or links have the same content.
func (w *work) alike(a, b string) bool {
	one, errA := sumAt(w.root, a)
	two, errB := sumAt(w.root, b)
	return errA == nil && errB == nil && one == two
}
