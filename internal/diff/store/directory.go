package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/repo/file"
)

// maxOpen is how many packs of a directory stay open.
const maxOpen = 256

// A directory is one of loose objects and packs. Of these it knows what was there
// when it was opened.
type directory struct {
	path  string
	stamp file.Stamp // of the directory of the packs before it was read
	packs []*pack
}

func openDirectory(path string) *directory {
	d := &directory{path: path}
	d.stamp = d.look()
	entries, _ := os.ReadDir(filepath.Join(path, "pack")) // there may be none
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		if name, found := strings.CutSuffix(e.Name(), ".idx"); found && names[name+".pack"] {
			d.packs = append(d.packs, &pack{path: filepath.Join(path, "pack", name), cruft: names[name+".mtimes"]})
		}
	}
	return d
}

// look returns what tells that packs have come or gone.
func (d *directory) look() file.Stamp {
	info, err := os.Stat(filepath.Join(d.path, "pack"))
	if err != nil {
		return file.Stamp{}
	}
	return file.StampOf(info)
}

// changed reports whether there is a pack that was not there, or one is gone: git
// may have removed objects with it, which can still be read from the open file.
func (d *directory) changed() bool {
	return d.stamp != d.look() || slices.ContainsFunc(d.packs, func(p *pack) bool {
		_, err := os.Lstat(p.path + ".pack")
		return err != nil
	})
}

func (d *directory) close() error {
	var errs []error
	for _, p := range d.packs {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

func (d *directory) has(id plumbing.Hash) bool {
	if d.packed(id, func(*pack, int64) error { return nil }) == nil {
		return true
	}
	_, err := os.Lstat(loosePath(d.path, id))
	return err == nil
}

// freshen makes what an object is in as if it had been written now, unless that is a
// pack of what is left over.
func (d *directory) freshen(p place, id plumbing.Hash) (fresh, cruft bool) {
	_ = d.packed(id, func(in *pack, _ int64) error {
		if cruft = in.cruft; cruft {
			return plumbing.ErrObjectNotFound // it may be in another one
		}
		fresh = p.freshen(in.path + ".pack")
		return nil
	})
	return fresh || p.freshen(loosePath(d.path, id)), cruft
}

// read tries the sources of an object in this directory until one can be used.
// Temporary files are made in temp.
func (d *directory) read(temp string, z *inflater, id plumbing.Hash, use func(source) error) error {
	err := d.packed(id, func(p *pack, at int64) error {
		return use(packedObject{pack: p, at: at, temp: temp, z: z})
	})
	if err == nil || errors.Is(err, ErrLarge) {
		return err
	}
	return graver(err, use(looseObject{path: loosePath(d.path, id), z: z}))
}

// packed tries the packs that have an object, with the place where it begins.
func (d *directory) packed(id plumbing.Hash, use func(p *pack, at int64) error) error {
	failure := plumbing.ErrObjectNotFound
	for i, p := range d.packs {
		if i >= maxOpen {
			p = &pack{path: p.path, cruft: p.cruft}
		}
		at, err := p.find(id)
		if err == nil {
			err = use(p, at)
		}
		if i >= maxOpen {
			_ = p.close() // it was opened for reading
		}
		if err == nil || errors.Is(err, ErrLarge) {
			return err
		}
		failure = graver(failure, err)
	}
	return failure
}
