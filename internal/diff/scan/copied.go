package scan

import "slices"

// Copied returns the state as that of a copy of its work tree, in which files have the sizes,
// times and permissions that they have here, but for those at some paths, of which nothing is
// known.
func (d *Dir) Copied(but []string) *Dir {
	copied := d.copied()
	for _, path := range but {
		if f := copied.Find(path); f != nil {
			f.trust = doubtful
		}
	}
	return copied
}

func (d *Dir) copied() *Dir {
	c := &Dir{Name: d.Name, Dirs: make([]*Dir, len(d.Dirs)), files: slices.Clone(d.files), sealed: d.sealed, empty: d.empty, id: d.id}
	for i, child := range d.Dirs {
		c.Dirs[i] = child.copied()
	}
	for i := range c.files {
		if f := &c.files[i]; f.trust == exact {
			f.trust = copied
		} else {
			f.trust = doubtful
		}
	}
	return c
}
