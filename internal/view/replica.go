package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A Replica is a copy of a work tree that exists until it is removed. Links keep their targets.
type Replica struct {
	Root string // of the copy
	home string
	of   *copied
}

// Replicate copies the work tree with its repository into a new directory. The files share their blocks
// with the user's if the file system can do that. On failure it removes the incomplete copy, which may
// be what fills the disk.
//
// Unseen reports whether something need not be copied, given its slash-separated path from the root.
// Only commands that see the replica at the path of the work tree, by [Replica.Sight], will find it.
// Nil means that everything is copied.
func (p *Place) Replicate(ctx context.Context, dir string, unseen func(path string) bool) (*Replica, error) {
	c := p.Replica(dir)
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		spread(filepath.Dir(dir))
		err = os.MkdirAll(c.of.lent, 0o700)
	}
	if err == nil {
		c.of.sharing = tryClone(p.Root, dir) == nil
		if unseen != nil {
			c.of.beneath = &beneath{unseen: unseen, Open: make(map[string][]string)}
		}
		err = c.of.make(ctx, p)
	}
	if err == nil {
		err = c.keepOpen()
	}
	if err == nil {
		return c, nil
	}
	what := "copy"
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		what = "there is no room for a copy of"
	}
	return nil, fmt.Errorf("%s %s: %w", what, p.Root, errors.Join(err, c.Remove()))
}

// keepOpen writes down what is beneath the replica.
func (c *Replica) keepOpen() error {
	if c.of.beneath == nil || len(c.of.beneath.Open) == 0 {
		return nil
	}
	text, err := json.Marshal(c.of.beneath)
	if err != nil {
		return err
	}
	return os.WriteFile(c.openFile(), text, 0o600)
}

func (c *Replica) openFile() string { return filepath.Join(c.home, "open") }

// beneath reads what is beneath the replica.
func (c *Replica) beneath() (*beneath, error) {
	b := &beneath{}
	text, err := os.ReadFile(c.openFile())
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(text, b)
	}
	return b, err
}

// Replica returns the replica in a directory, which may not have been made yet.
func (p *Place) Replica(dir string) *Replica {
	c := p.copied(filepath.Join(dir, "tree")) // in a directory of its own, since it may have any name
	c.lent = filepath.Join(dir, "objects")
	return &Replica{Root: c.trees[0].own, home: dir, of: c}
}

// Path returns the path in the copy of a path in the work tree.
func (c *Replica) Path(of string) string { return c.of.path(of) }

// PutAside renames the copy, so that another one can be made at its path. It can still be removed.
func (c *Replica) PutAside() error {
	aside := c.home + ".removed"
	err := remove(aside) // a killed process may have left it
	if err == nil {
		err = os.Rename(c.home, aside)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", c.Root, err)
	}
	c.home = aside
	return nil
}

// Remove removes the copy.
func (c *Replica) Remove() error { return Remove(c.home) }
