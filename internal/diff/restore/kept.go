package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kept describes the files that a restore has replaced.
type Kept struct {
	Name     string
	Dir      string // with the files, under their paths
	WorkTree string
	Title    string // what the files were put back to
	At       time.Time
	Files    int
	Size     int64
}

// ErrNothingKept means that no restore has kept anything, or none by that name.
var ErrNothingKept = errors.New("nothing is kept")

// List returns what is kept, newest first. It leaves out interrupted restores.
func (k *Keep) List() (all []Kept, err error) {
	err = k.each(keptJournal, func(j *journal) error {
		one := Kept{Name: j.name, Dir: j.keptFiles(), WorkTree: j.WorkTree, Title: j.Title, At: j.At}
		for _, m := range j.Moves {
			if info, err := j.files.Lstat(string(m.Path)); err == nil && m.Before != Nothing {
				one.Files++
				one.Size += info.Size()
			}
		}
		all = append(all, one)
		return nil
	})
	slices.Reverse(all) // those of the same time are in reverse order of their names
	slices.SortStableFunc(all, func(a, b Kept) int { return b.At.Compare(a.At) })
	return all, err
}

// Find returns the newest entry of a work tree whose name has this prefix, which may be "".
func (k *Keep) Find(workTree, name string) (Kept, error) {
	all, err := k.List()
	if err != nil {
		return Kept{}, err
	}
	for _, one := range all {
		if same(one.WorkTree, workTree) && strings.HasPrefix(one.Name, name) {
			return one, nil
		}
	}
	if name != "" {
		name = " under the name " + name
	}
	return Kept{}, fmt.Errorf("%w for %s%s", ErrNothingKept, workTree, name)
}

// Undo returns the plan that reverts a restore.
func (k *Keep) Undo(one Kept) (Plan, error) {
	p := Plan{Title: "what was there before " + one.Name, Dirs: make(map[string]fs.FileMode)}
	j, err := k.read(one.Name, keptJournal)
	if err != nil {
		return p, err
	}
	j.close()
	root, err := os.OpenRoot(one.WorkTree)
	if err != nil {
		return p, err
	}
	defer root.Close() //nolint:errcheck // only read
	for _, f := range j.Dirs {
		p.Dirs[string(f.Path)] = f.Perm
	}
	for _, m := range j.Moves {
		c := PathChange{Path: string(m.Path), After: State{Kind: m.Before, Perm: m.BeforePerm}}
		if c.Before, err = going(nil).kind(root, c.Path); err != nil || c.Before == other {
			c.Before = Nothing // Restore will say what is in the way
		}
		if c.Before == Nothing && m.Before == Nothing || m.Stayed && m.Before == Nothing {
			continue
		}
		if sum, err := sumAt(root, c.Path); err == nil && sum == m.BeforeSum && c.Before == m.Before && permAt(root, c.Path, m.BeforePerm) {
			continue
		}
		c.After.Open = opener(one.Dir, c.Path, m.Before)
		p.Changes = append(p.Changes, c)
	}
	return p, nil
}

// permAt reports whether a path exists, and has these permissions if it is a file.
func permAt(root *os.Root, name string, perm fs.FileMode) bool {
	info, err := root.Lstat(name)
	return err == nil && (!info.Mode().IsRegular() || info.Mode().Perm() == perm)
}

func opener(dir, name string, kind Kind) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close() //nolint:errcheck // only read
		in, _, err := Read(root, name, kind)
		return in, err
	}
}

// Remove removes what is kept.
func (k *Keep) Remove(one Kept) error {
	dir := filepath.Join(k.Dir, one.Name)
	err := os.RemoveAll(filepath.Join(dir, filesDir)) // before their journal
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return fmt.Errorf("remove what is kept in %s: %w", dir, err)
	}
	return nil
}

// Open reports whether a restore was interrupted, or is running, in the work tree that
// contains a directory.
func (k *Keep) Open(dir string) (open bool) {
	_ = k.each(openJournal, func(j *journal) error {
		rest, err := filepath.Rel(j.WorkTree, dir)
		open = open || err == nil && filepath.IsLocal(rest)
		return nil
	})
	return open
}
