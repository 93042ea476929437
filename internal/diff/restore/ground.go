package restore

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
)

// A ground is the work tree while files are put back in it.
type ground struct {
	plan  *record
	root  *os.Root
	perms map[string]fs.FileMode // of directories that may have to be made
	dirty map[string]bool        // directories that are to be synced
}

// anyPerm leaves the permissions of a directory to umask.
const anyPerm fs.FileMode = 0o777

// kind is what is at a path now, to which no symbolic link may lead.
func (g *ground) kind(name string) (Kind, error) {
	return (&checking{root: g.root}).kind(name)
}

// link gives a staged file its name, if that is free. A file system without links
// leaves a moment between the look and the renaming.
func (g *ground) link(staged, to string) error {
	err := g.root.Link(staged, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, statErr := g.root.Lstat(to); statErr == nil {
		return fs.ErrExist
	}
	return g.root.Rename(staged, to)
}

// makeDirs makes a directory with those above it, with the permissions that they had.
func (g *ground) makeDirs(dir string) error {
	if dir == "." {
		return nil
	}
	if err := g.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	err := g.root.Mkdir(dir, g.dirPerm(dir))
	if errors.Is(err, fs.ErrExist) {
		return nil // what is not a directory was looked for
	}
	g.touched(path.Dir(dir))
	if perm := g.dirPerm(dir); perm != anyPerm && err == nil {
		err = g.root.Chmod(dir, perm)
	}
	return err
}

func (g *ground) dirPerm(dir string) fs.FileMode {
	if perm, was := g.plan.wasDir(dir); was {
		return perm
	}
	if perm, said := g.perms[dir]; said {
		return perm
	}
	return anyPerm
}

// prune removes a directory, and those above it, as far as nothing is in them and none
// of them stays.
func (g *ground) prune(dir string, stays func(dir string) bool) {
	for ; dir != "." && !stays(dir) && g.root.Remove(dir) == nil; dir = path.Dir(dir) {
		g.touched(path.Dir(dir))
	}
}

// pruneBelow removes a directory in which there are directories alone.
func (g *ground) pruneBelow(dir string) {
	var dirs []string
	_ = fs.WalkDir(g.root.FS(), dir, func(name string, _ fs.DirEntry, err error) error {
		dirs = append(dirs, name)
		return err
	})
	for _, below := range slices.Backward(dirs) {
		if g.root.Remove(below) != nil {
			return
		}
	}
}

func (g *ground) touched(dir string) {
	if g.dirty == nil {
		g.dirty = make(map[string]bool)
	}
	g.dirty[dir] = true
}

// syncDirty writes the names in the directories that were touched to the disk.
func (g *ground) syncDirty() error {
	var errs []error
	for dir := range g.dirty {
		errs = append(errs, syncIn(g.root, dir))
	}
	for at := range g.plan.Stages {
		errs = append(errs, syncIn(g.root, g.plan.stage(at)))
	}
	return errors.Join(errs...)
}

// alike reports whether two files or links have the same content.
func (g *ground) alike(a, b string) bool {
	one, err := sumAt(g.root, a)
	if err != nil {
		return false
	}
	two, err := sumAt(g.root, b)
	return err == nil && one == two
}
