package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/file"
)

// A copied is a copy of the work tree and its repository. It uses the objects of the user's
// repository as alternates.
type copied struct {
	trees   []*layer
	stamps  map[spot]stamp // of each file after copying
	dirs    map[spot]bool  // the directories
	sharing bool           // files share their blocks
	lent    string         // for a replica: a directory at which commands find the user's objects
	beneath *beneath       // what is not copied, or nil

	busy atomic.Int32 // goroutines that copy
	mu   sync.Mutex   // guards the directory lent
}

// A stamp changes with every change of a file.
type stamp struct {
	file.Stamp
	mode fs.FileMode
}

func stampOf(info fs.FileInfo) stamp { return stamp{file.StampOf(info), info.Mode()} }

// copied returns the layout of a copy of the work tree in a directory.
func (p *Place) copied(dir string) *copied {
	c := &copied{stamps: make(map[spot]stamp), dirs: make(map[spot]bool)}
	for i, from := range p.dirs() {
		t := &layer{dir: from, own: filepath.Join(dir, fmt.Sprintf(".git%d", i)), git: i > 0}
		if !t.git { // some tools use the name of the work tree
			t.own = filepath.Join(dir, filepath.Base(from))
		}
		c.trees = append(c.trees, t)
	}
	return c
}

// copy copies the work tree into a new directory.
func (p *Place) copy(ctx context.Context, dir string, sharing bool) (*copied, error) {
	c := p.copied(dir)
	c.sharing = sharing
	if err := c.make(ctx, p); err != nil {
		return nil, err
	}
	return c, c.recordStamps(ctx)
}

func (c *copied) make(ctx context.Context, p *Place) error {
	for _, t := range c.trees {
		if err := os.MkdirAll(filepath.Dir(t.own), 0o700); err != nil {
			return err
		}
		if err := c.copyTree(ctx, t.dir, t.own, t.git || t.dir == p.GitDir); err != nil {
			return err
		}
	}
	return c.lead(p)
}

// path returns the path in the copy of a path in the original.
func (c *copied) path(of string) string {
	for _, t := range c.trees {
		if rel, err := filepath.Rel(t.dir, of); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(t.own, rel)
		}
	}
	return of
}

// copyTree copies a directory. It leaves out what cannot be read, and anything that is not a file, a
// directory or a link.
func (c *copied) copyTree(ctx context.Context, from, to string, git bool) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if !git {
		entries = c.beneath.filter(c.trees[0].dir, from, entries)
	}
	if err := c.copyEntries(ctx, from, to, entries, git); err != nil {
		return err
	}
	if err := os.Chmod(to, info.Mode().Perm()|0o700); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}

// copyEntries copies the entries of a directory, in as many goroutines for the whole copy as there
// are processors.
func (c *copied) copyEntries(ctx context.Context, from, to string, entries []os.DirEntry, git bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var others sync.WaitGroup
	for _, e := range entries {
		if ctx.Err() != nil {
			break
		}
		one := func() {
			if err := c.copyEntry(ctx, from, to, e, git); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				cancel(err)
			}
		}
		if !e.IsDir() || c.busy.Load() >= int32(runtime.GOMAXPROCS(0)) {
			one()
			continue
		}
		c.busy.Add(1)
		others.Go(func() {
			defer c.busy.Add(-1)
			one()
		})
	}
	others.Wait()
	return context.Cause(ctx)
}

func (c *copied) copyEntry(ctx context.Context, from, to string, e os.DirEntry, git bool) error {
	source, copied := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
	switch {
	case git && e.Name() == "objects" && isGitDir(from):
		return c.borrow(source, copied)
	case e.IsDir():
		return c.copyTree(ctx, source, copied, git || e.Name() == ".git")
	}
	return c.copyFile(source, copied)
}

// copyFile copies a file or a link, with its permissions and its time, which git and make depend on.
func (c *copied) copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) && c.lent == "" {
			target = c.path(target) // it must not lead to the original
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return nil
	}
	if c.sharing {
		err = share(from, to)
	} else {
		err = copyContent(from, to, info.Mode().Perm())
	}
	if err != nil {
		return err
	}
	if perm := info.Mode().Perm(); c.sharing || perm&diff.Umask() != 0 {
		if err := os.Chmod(to, perm); err != nil {
			return err
		}
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}

// copyContent copies a file to a new one with the given permissions, less umask.
func copyContent(from, to string, perm fs.FileMode) error {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO by now
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// recordStamps records the stamps of all files.
func (c *copied) recordStamps(ctx context.Context) error {
	return c.each(func(at spot, info fs.FileInfo) error {
		if info.IsDir() {
			c.dirs[at] = true
		} else {
			c.stamps[at] = stampOf(info)
		}
		return ctx.Err()
	})
}

// each calls do for each file and directory of the copy.
func (c *copied) each(do func(at spot, info fs.FileInfo) error) error {
	for _, t := range c.trees {
		err := filepath.WalkDir(t.own, func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == t.own {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			return do(spot{t, name[len(t.own)+1:]}, info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// changes lists the files that have changed since they were copied.
func (c *copied) changes() (changes []change, err error) {
	there := make(map[spot]bool, len(c.stamps))
	err = c.each(func(at spot, info fs.FileInfo) error {
		if info.IsDir() {
			return nil
		}
		there[at] = true
		if was, known := c.stamps[at]; !known || was != stampOf(info) {
			changes = append(changes, c.change(at, info))
		}
		return nil
	})
	for at := range c.stamps {
		if err == nil && !there[at] {
			changes = append(changes, c.change(at, nil))
		}
	}
	return changes, err
}

// change compares a file of the copy with the user's. Info is nil if the file is gone.
func (c *copied) change(at spot, info fs.FileInfo) change {
	_, was := c.stamps[at]
	found := change{spot: at, was: was, is: info != nil}
	switch now, err := os.Lstat(at.user()); {
	case info == nil:
		found.same = err != nil || now.IsDir() // neither has a file there
	case err == nil && !now.IsDir():
		found.same = sameFile(at.user(), now, at.own(), info)
	}
	return found
}

// discard makes files the same again as in the user's tree, and then its directories, but for
// those to keep.
func (c *copied) discard(ctx context.Context, changes []change, keep func(spot) bool) error {
	for _, f := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.restore(f); err != nil {
			return err
		}
	}
	return c.restoreDirs(keep)
}

// restore makes a file the same again as in the user's tree.
func (c *copied) restore(f change) error {
	if err := remove(f.own()); err != nil && !file.Missing(err) {
		return err
	}
	delete(c.stamps, f.spot)
	if !f.was {
		return nil
	}
	if err := makeDirs(filepath.Dir(f.own())); err != nil {
		return err
	}
	if err := c.copyFile(f.user(), f.own()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, err := os.Lstat(f.own()); err == nil {
		c.stamps[f.spot] = stampOf(info)
	}
	return nil
}

// restoreDirs removes new directories without files, and makes those that are gone.
func (c *copied) restoreDirs(keep func(spot) bool) error {
	var fresh []spot
	there := make(map[spot]bool, len(c.dirs))
	err := c.each(func(at spot, info fs.FileInfo) error {
		if there[at] = info.IsDir(); there[at] && !c.dirs[at] && !keep(at) {
			fresh = append(fresh, at)
		}
		return nil
	})
	for _, at := range slices.Backward(fresh) { // the inner ones come last
		_ = os.Remove(at.own()) // ignored files may be in it
	}
	for at := range c.dirs {
		if err == nil && !there[at] && !keep(at) {
			err = os.MkdirAll(at.own(), 0o755) //nolint:gosec // as git makes directories
		}
	}
	return err
}

// makeDirs makes a directory. It removes a file that is in the way.
func makeDirs(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		err = os.Remove(dir)
	} else if file.Missing(err) {
		err = makeDirs(filepath.Dir(dir))
	}
	if err != nil {
		return err
	}
	return os.Mkdir(dir, 0o700)
}

// tryClone returns an error if files in home cannot share their blocks with those of a tree.
func tryClone(root, home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	from, err := someFile(root)
	if err != nil {
		return err
	}
	to := filepath.Join(home, "probe")
	return errors.Join(share(from, to), os.RemoveAll(to))
}

// someFile returns a file of a tree that is readable and not empty.
func someFile(root string) (found string, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, _ error) error {
		if d == nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() == 0 || info.Mode().Perm()&0o400 == 0 {
			return nil //nolint:nilerr // another one will do
		}
		found = name
		return fs.SkipAll
	})
	if found == "" && err == nil {
		err = fmt.Errorf("%s has no file to try it with", root)
	}
	return found, err
}
