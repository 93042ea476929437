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
	"time"
)

// A Replica is a copy of a work tree that stays until it is removed. A link in it leads where it
// leads in the work tree.
type Replica struct {
	Root string // of the copy
	home string
	of   *copied
}

// A Replication is how a replica is made.
type Replication struct {
	Dir string // that is made, with the replica in it
	// Since: the files that may have been written at that time, or later, are told by
	// [Replica.Changed]. Zero: none are.
	Since time.Time
	// Unseen tells, by a path from the root with slashes, what need not be copied: nobody looks
	// into it but who sees the replica in the place of the work tree (see [Replica.Sight]), where
	// it is found all the same. Nil is nothing.
	Unseen func(path string) bool
}

// Replicate makes a copy of the work tree as it is, with its repository. Where the file system
// can, the files share their blocks with the user's. What there is of a copy that cannot be made is
// removed: where the disk is full, it may be what fills it.
func (p *Place) Replicate(ctx context.Context, how Replication) (*Replica, error) {
	c := p.Replica(how.Dir)
	err := os.MkdirAll(filepath.Dir(how.Dir), 0o700)
	if err == nil {
		spread(filepath.Dir(how.Dir))
		err = os.MkdirAll(c.of.lent, 0o700)
	}
	if err == nil {
		c.of.sharing, c.of.since = tryClone(p.Root, how.Dir) == nil, how.Since
		if how.Unseen != nil {
			c.of.beneath = &beneath{unseen: how.Unseen, Open: make(map[string][]string)}
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

// keepOpen takes down what is beneath the replica.
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

// beneath returns what is beneath the replica.
func (c *Replica) beneath() (*beneath, error) {
	b := &beneath{}
	text, err := os.ReadFile(c.openFile())
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil // nothing
	}
	if err == nil {
		err = json.Unmarshal(text, b)
	}
	return b, err
}

// Replica is the copy that was made, or is to be made, in a directory.
func (p *Place) Replica(dir string) *Replica {
	c := p.copied(filepath.Join(dir, "tree")) // the work tree may be called like anything beside it
	c.lent = filepath.Join(dir, "objects")
	return &Replica{Root: c.trees[0].to, home: dir, of: c}
}

// Changed are the files that may have changed while the replica was made.
func (c *Replica) Changed() []string { return c.of.changed }

// Path returns where in the copy something of the work tree is.
func (c *Replica) Path(of string) string { return c.of.path(of) }

// PutAside takes the copy away from its place, where another one can be made. Remove removes it
// from where it is then.
func (c *Replica) PutAside() error {
	aside := c.home + ".removed"
	err := remove(aside) // as of a process that was killed
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
func (c *Replica) Remove() error { return removeMany(c.home) }
