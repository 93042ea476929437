package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/shared"
)

const (
	lockWait  = 100 * time.Millisecond // for git, which waits as long: core.filesRefLockTimeout
	maxPacked = 1 << 30                // bytes of packed-refs
)

// A RefError says that a reference cannot be written because of what is there.
type RefError struct {
	Ref string // its whole name
	// Lock is the file by which some process holds it; "" when none does.
	Lock string
	// Other is the reference whose name has this one's as a directory, or the
	// other way round; "" when there is none.
	Other string
	// Link is a symbolic link by which it would be another reference, or lie
	// outside of the repository; "" when there is none.
	Link string
}

func (e *RefError) Error() string {
	switch {
	case e.Lock != "":
		return e.Ref + " is locked by another process"
	case e.Link != "":
		return fmt.Sprintf("%s is a symbolic link, and %s is not written through one", e.Link, e.Ref)
	}
	return fmt.Sprintf("%s cannot be there beside %s", e.Ref, e.Other)
}

// Hint returns what to do about it.
func (e *RefError) Hint() string {
	switch {
	case e.Lock != "":
		return "when no git runs in the repository, one was killed: remove " + e.Lock
	case e.Link != "":
		return "put a directory in the place of the link; for one more work tree of a repository there is git worktree add"
	}
	return "remove the other one: git update-ref -d " + e.Other
}

// A ref is a reference that is to be written as git does where references are
// files, by gitrepository-layout(5): a lock file beside it, which nobody else has,
// becomes the reference. Whoever is killed leaves the old value, and the lock. One
// that stays is taken for left: nobody but the session writes its references, and
// git, which packs them, holds a lock for a moment only.
type ref struct {
	root   *os.Root // what git calls the common directory; nothing outside is touched
	name   string
	shared shared.Mode
}

// refs are the references of a repository.
type refs struct {
	dir    string // what git calls the common directory
	shared shared.Mode
}

// set makes a reference below [Namespace] name an object. The error is a
// [*RefError] when something is in the way.
func (all refs) set(ctx context.Context, name string, id plumbing.Hash) error {
	if err := plumbing.ReferenceName(name).Validate(); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	dir, err := all.home(name)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // what was written through it is closed
	r := ref{root: root, name: name, shared: all.shared}
	if err := r.checkAbove(); err != nil {
		return err
	}
	if err := r.checkPacked(); err != nil {
		return err
	}
	lock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	_, err = lock.WriteString(id.String() + "\n")
	if err = errors.Join(err, r.shared.Chmod(lock), lock.Sync(), lock.Close()); err == nil {
		err = r.commit()
	}
	if err != nil {
		return errors.Join(err, root.Remove(r.lockName()))
	}
	return nil
}

// home returns the directory that "refs" is in. That is another one where it is a
// link, as git-new-workdir makes one to a repository of the same objects: a
// reference that stood here alone would not keep them there. No other link is
// followed: whoever works in the repository can make one to any place.
func (all refs) home(name string) (string, error) {
	link := filepath.Join(all.dir, "refs")
	info, _ := os.Lstat(link) // whoever uses it says what is amiss
	if info == nil || info.Mode().Type() != fs.ModeSymlink {
		return all.dir, nil
	}
	to, err := filepath.EvalSymlinks(link)
	if err != nil || filepath.Base(to) != "refs" || !sameDir(filepath.Join(all.dir, "objects"), filepath.Join(filepath.Dir(to), "objects")) {
		return "", &RefError{Ref: name, Link: link}
	}
	return filepath.Dir(to), nil
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && one.IsDir() && os.SameFile(one, other)
}

func (r ref) lockName() string { return r.name + ".lock" }

// checkAbove looks for a reference where this one needs a directory, and for a link
// by which it would become another one, as a branch.
func (r ref) checkAbove() error {
	for dir := path.Dir(r.name); dir != "refs"; dir = path.Dir(dir) {
		switch info, err := r.root.Lstat(dir); {
		case err != nil:
		case info.Mode().Type() == fs.ModeSymlink:
			return &RefError{Ref: r.name, Link: filepath.Join(r.root.Name(), filepath.FromSlash(dir))}
		case !info.IsDir():
			return &RefError{Ref: r.name, Other: dir}
		}
	}
	return nil
}

// checkPacked looks for one that stands in packed-refs and would need this one's
// name for a directory, or be one itself.
func (r ref) checkPacked() error {
	packed, _, err := file.Read(filepath.Join(r.root.Name(), "packed-refs"), file.How{Max: maxPacked})
	if file.Missing(err) {
		return nil
	}
	if err != nil || !bytes.Contains(packed, []byte(strings.TrimSuffix(Namespace, "/"))) {
		return err
	}
	for line := range strings.Lines(string(packed)) {
		_, other, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if strings.HasPrefix(other, r.name+"/") || strings.HasPrefix(r.name, other+"/") {
			return &RefError{Ref: r.name, Other: other}
		}
	}
	return nil
}

// lock creates the lock file with the directories above it, which git removes
// when it finds them empty.
func (r ref) lock(ctx context.Context) (*os.File, error) {
	left := false
	for wait := time.Millisecond; ; wait *= 2 {
		var f *os.File
		err := r.shared.MkdirAll(r.root, path.Dir(r.name))
		if err == nil {
			f, err = r.root.OpenFile(r.lockName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		}
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case wait > lockWait && errors.Is(err, fs.ErrExist) && !left && missing(r.root.Remove(r.lockName())):
			left, wait = true, time.Millisecond
			continue
		case wait > lockWait && errors.Is(err, fs.ErrExist):
			return nil, &RefError{Ref: r.name, Lock: filepath.Join(r.root.Name(), filepath.FromSlash(r.lockName()))}
		case wait > lockWait:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// missing reports whether what was to be removed is not there any more.
func missing(err error) bool { return err == nil || errors.Is(err, fs.ErrNotExist) }

// commit makes the lock file the reference.
func (r ref) commit() error {
	err := r.root.Rename(r.lockName(), r.name)
	if info, statErr := r.root.Lstat(r.name); err == nil || statErr != nil || !info.IsDir() {
		return err
	}
	if err := r.removeDirs(); err != nil {
		return err
	}
	return r.root.Rename(r.lockName(), r.name)
}

// removeDirs removes the empty directories that references have left which were
// below this one.
func (r ref) removeDirs() error {
	var dirs []string
	err := fs.WalkDir(r.root.FS(), r.name, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = &RefError{Ref: r.name, Other: name}
		}
		dirs = append(dirs, name)
		return err
	})
	for _, dir := range slices.Backward(dirs) {
		if err == nil {
			err = r.root.Remove(dir)
		}
	}
	return err
}
