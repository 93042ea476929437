package diff

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/shown"
	"codeloops/internal/diff/store"
)

// What Restore does not do to a path.
var (
	errInTheWay   = errors.New("something that is out of scope is in the way")
	errRepository = errors.New("it is a repository of its own")
)

// apply makes the changes to the work tree: first what goes, the deepest
// first, then what comes. A path that fails does not keep the others back.
func (t *Tree) apply(ctx context.Context, target *scan.Dir, changes []scan.Change) error {
	u, err := t.undo(target)
	if err != nil {
		return err
	}
	defer u.root.Close() //nolint:errcheck // nothing was written through it
	var errs []error
	for _, c := range slices.Backward(changes) {
		if err := u.takeAway(c); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", shown.Name(c.Path), err))
		}
	}
	for _, c := range attributesFirst(changes) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := u.putBack(ctx, c); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", shown.Name(c.Path), err))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return several(errs)
}

// attributesFirst puts first what tells how the others are converted.
func attributesFirst(changes []scan.Change) []scan.Change {
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b scan.Change) int {
		return rank(a.Path) - rank(b.Path)
	})
	return sorted
}

func rank(name string) int {
	if path.Base(name) == ".gitattributes" {
		return 0
	}
	return 1
}

// An undo changes one work tree. All paths are resolved within its root, which
// a symlink cannot leave; none is resolved through a symlink.
type undo struct {
	*Tree
	root     *os.Root
	settings *repo.Repository
	symlinks bool // the file system has them
	fileMode bool // and what is executable
	target   *scan.Dir
}

// undo returns one whose root the caller closes.
func (t *Tree) undo(target *scan.Dir) (*undo, error) {
	r, err := t.reopen()
	if err != nil {
		return nil, err
	}
	u := &undo{Tree: t, settings: r, target: target}
	if u.symlinks, err = r.Config.Bool("core.symlinks", true); err != nil {
		return nil, err
	}
	if u.fileMode, err = r.Config.Bool("core.fileMode", true); err != nil {
		return nil, err
	}
	u.root, err = os.OpenRoot(t.Root())
	return u, err
}

// takeAway removes a file that the target has not, with the directories that
// this empties.
func (u *undo) takeAway(c scan.Change) error {
	if c.Before == nil || c.After != nil {
		return nil
	}
	if c.Before.Mode == scan.Gitlink {
		return u.removeNest(c.Path)
	}
	if err := u.root.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(c.Path); dir != "." && u.target.Dir(dir) == nil && !u.isNest(dir); dir = path.Dir(dir) {
		if u.root.Remove(dir) != nil {
			return nil //nolint:nilerr // something else is in it
		}
	}
	return nil
}

// putBack makes a file what the target has.
func (u *undo) putBack(ctx context.Context, c scan.Change) error {
	switch {
	case c.After == nil:
		return nil
	case c.After.Mode == scan.Gitlink:
		return u.makeNest(c)
	case c.Before != nil && c.Before.Mode == scan.Gitlink:
		if err := u.removeNest(c.Path); err != nil {
			return err
		}
	}
	if err := u.makeDirs(path.Dir(c.Path)); err != nil {
		return err
	}
	if c.Before != nil && c.Before.ID == c.After.ID && c.Before.Mode != scan.Symlink && c.After.Mode != scan.Symlink {
		return u.chmod(c.Path, c.After.Mode)
	}
	content, err := u.content(ctx, c.Path, c.After)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // opened for reading: nothing to lose
	return u.replace(c.Path, c.After.Mode, content)
}

// makeDirs makes a directory with those above it. A symlink is none.
func (u *undo) makeDirs(dir string) error {
	if dir == "." {
		return nil
	}
	if err := u.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	info, err := u.root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return u.root.Mkdir(dir, 0o777)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: %w", dir, errInTheWay)
	}
	return nil
}

// chmod sets the executable bits for those who may read, as git does, or
// clears them.
func (u *undo) chmod(name string, mode uint32) error {
	info, err := u.root.Lstat(name)
	if err != nil {
		return err
	}
	return u.root.Chmod(name, permissions(info.Mode().Perm(), mode))
}

func permissions(have fs.FileMode, mode uint32) fs.FileMode {
	if mode == scan.Executable {
		return have | (have&0o444)>>2
	}
	return have &^ 0o111
}

// content returns what is to stand in the work tree.
func (u *undo) content(ctx context.Context, name string, f *scan.File) (io.ReadCloser, error) {
	if in, _ := u.nests.of(name); f.Mode != scan.Symlink && in == nil {
		attributes, settings, err := u.conversion(ctx, u.settings)
		if err != nil {
			return nil, err
		}
		if a := attributes.Of(name); settings.NeedsGit(a) || settings.Converts(a) {
			return u.converted(ctx, name, f)
		}
	}
	content, err := u.store.Blob(ctx, f.ID)
	if errors.Is(err, store.ErrLarge) {
		return u.store.Open(ctx, f.ID)
	}
	return io.NopCloser(bytes.NewReader(content)), err
}

func (u *undo) converted(ctx context.Context, name string, f *scan.File) (io.ReadCloser, error) {
	content, err := u.checkedOut(ctx, "to convert files that are put back", name, f.ID)
	return io.NopCloser(bytes.NewReader(content)), err
}

// checkedOut returns what a checkout would write for a blob.
func (t *Tree) checkedOut(ctx context.Context, why, name string, id plumbing.Hash) ([]byte, error) {
	if _, err := t.store.Persist(id); err != nil {
		return nil, err
	}
	return t.git.purpose(why).Run(ctx, t.Root(), []string{"cat-file", "--filters", "--path=" + name, id.String()}, nil)
}

// replace writes a file beside the old one and renames it, so that there is
// never half a file.
func (u *undo) replace(name string, mode uint32, content io.Reader) error {
	temp := path.Join(path.Dir(name), ".codeloops-"+rand.Text())
	if err := u.create(temp, name, mode, content); err != nil {
		_ = u.root.Remove(temp)
		return err
	}
	err := u.root.Rename(temp, name)
	if err == nil {
		return nil
	}
	_ = u.root.Remove(temp)
	if info, statErr := u.root.Lstat(name); statErr == nil && info.IsDir() {
		return errInTheWay
	}
	return err
}

// create makes a new file with the permissions of the one that it is to
// replace, if there is one.
func (u *undo) create(temp, name string, mode uint32, content io.Reader) error {
	if mode == scan.Symlink && u.symlinks {
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return u.root.Symlink(string(target), temp)
	}
	perm := fs.FileMode(0o666)
	if mode == scan.Executable {
		perm = 0o777
	}
	f, err := u.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if info, statErr := u.root.Lstat(name); statErr == nil && info.Mode().IsRegular() {
		err = errors.Join(err, f.Chmod(permissions(info.Mode().Perm(), mode)))
	}
	return errors.Join(err, f.Close())
}
