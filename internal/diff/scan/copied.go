package scan

import "slices"

// Copied returns the state as that of a copy of its work tree, in which files have the sizes,
// times and permissions that they have here, but for those at some paths, of which nothing is
// known.
func (d *Dir) Copied(but []string) *Dir {
	c := *d
	c.Dirs, c.files = slices.Clone(d.Dirs), slices.Clone(d.files)
	for i, child := range c.Dirs {
		c.Dirs[i] = child.Copied(nil)
	}
	for i := range c.files {
		if f := &c.files[i]; f.trust == exact {
			f.trust = copied
		} else {
			f.trust = doubtful
		}
	}
	for _, path := range but {
		if f := c.Find(path); f != nil {
			f.trust = doubtful
		}
	}
	return &c
}
