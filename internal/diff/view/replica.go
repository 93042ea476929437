package view

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// A Replica is a copy of a work tree that stays until it is removed.
type Replica struct {
	Root string // of the copy
	home string
	of   *copied
}

// Replicate makes a copy of the work tree as it is, with its repository, in a directory that is
// made. Where the file system can, the files share their blocks with the user's.
func (p *Place) Replicate(ctx context.Context, dir string) (*Replica, error) {
	c := p.copyIn(dir)
	err := os.MkdirAll(c.of.lent, 0o700)
	if err == nil {
		c.of.sharing = tryClone(p.Root, dir) == nil
		err = c.of.make(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", p.Root, err)
	}
	return c, nil
}

// Replica is the copy that was made in a directory.
func (p *Place) Replica(dir string) *Replica { return p.copyIn(dir) }

func (p *Place) copyIn(dir string) *Replica {
	c := p.copied(dir)
	c.lent = filepath.Join(dir, "objects")
	return &Replica{Root: c.trees[0].to, home: dir, of: c}
}

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
func (c *Replica) Remove() error { return remove(c.home) }
