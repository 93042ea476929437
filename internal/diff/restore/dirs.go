package restore

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
)

// anyPerm lets umask decide the permissions of a directory.
const anyPerm fs.FileMode = 0o777

// dirs are the directories of a work tree while a restore makes and removes some.
type dirs struct {
	*record
	root  *os.Root
	perms map[string]fs.FileMode // see [Plan.Dirs]
	dirty map[string]bool        // to sync
}

// make makes a directory and those above it, with the permissions that they had.
func (d *dirs) make(dir string) error {
	if dir == "." {
		return nil
	}
	if err := d.make(path.Dir(dir)); err != nil {
		return err
	}
	err := d.root.Mkdir(dir, d.perm(dir))
	if errors.Is(err, fs.ErrExist) {
		return nil // the caller has checked that it is a directory
	}
	d.touched(path.Dir(dir))
	if perm := d.perm(dir); perm != anyPerm && err == nil {
		err = d.root.Chmod(dir, perm)
	}
	return err
}

func (d *dirs) perm(dir string) fs.FileMode {
	if perm, was := d.wasDir(dir); was {
		return perm
	}
	if perm, said := d.perms[dir]; said {
		return perm
	}
	return anyPerm
}

// prune removes a directory and those above it, up to the first that is not empty or that
// stays.
func (d *dirs) prune(dir string, stays func(dir string) bool) {
	for ; dir != "." && !stays(dir) && d.root.Remove(dir) == nil; dir = path.Dir(dir) {
		d.touched(path.Dir(dir))
	}
}

// pruneBelow removes a directory that holds nothing but directories. It removes no file.
func (d *dirs) pruneBelow(dir string) {
	var dirs []string
	file := false
	_ = fs.WalkDir(d.root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if file = e == nil || !e.IsDir(); file {
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
		if d.root.Remove(below) != nil {
			return
		}
	}
}

func (d *dirs) touched(dir string) { d.dirty[dir] = true }

// sync syncs the directories that were touched, and the stages.
func (d *dirs) sync() error {
	var errs []error
	for dir := range d.dirty {
		errs = append(errs, syncIn(d.root, dir))
	}
	for at := range d.Stages {
		errs = append(errs, syncIn(d.root, d.stage(at)))
	}
	return errors.Join(errs...)
}
