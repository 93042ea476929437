package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/repo/file"
)

// A directory is one of loose objects and packs. Of these it knows what was there
// when it was opened.
type directory struct {
	path  string
	stamp file.Stamp // of the directory of the packs before it was read
	packs []*pack
	keeps int   // so many of them stay open
	bad   error // what kept some of them from being found
}

func openDirectory(path string) *directory {
	d := &directory{path: path}
	d.stamp = d.look()
	entries, err := os.ReadDir(filepath.Join(path, "pack"))
	if err != nil && !file.Missing(err) {
		d.bad = err
	}
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

// has returns an error when the object is not there, or that cannot be told.
func (d *directory) has(ctx context.Context, id plumbing.Hash) error {
	err := d.packed(ctx, id, func(*pack, int64) error { return nil })
	if err == nil {
		return nil
	}
	if _, missing := os.Lstat(loosePath(d.path, id)); missing == nil {
		return nil
	}
	return err
}

// freshen is has, and makes what the object is in as if it had been written now. A pack
// of what is left over is none that it is in.
func (d *directory) freshen(ctx context.Context, p place, id plumbing.Hash) (cruft bool, err error) {
	err = d.packed(ctx, id, func(in *pack, _ int64) error {
		switch {
		case in.cruft:
			cruft = true
			return plumbing.ErrObjectNotFound // it may be in another one
		case !p.freshen(in.path + ".pack"):
			return fs.ErrNotExist
		}
		return nil
	})
	if err != nil && p.freshen(loosePath(d.path, id)) {
		err = nil
	}
	return cruft, err
}

// read tries the sources of an object in this directory until one can be used.
func (d *directory) read(ctx context.Context, with tools, id plumbing.Hash, use func(source) error) error {
	err := d.packed(ctx, id, func(p *pack, at int64) error {
		return use(packedObject{pack: p, at: at, tools: with})
	})
	if err == nil || errors.Is(err, ErrLarge) {
		return err
	}
	return graver(err, use(looseObject{path: loosePath(d.path, id), z: with.z}))
}

// packed tries the packs that have an object, with the place where it begins.
func (d *directory) packed(ctx context.Context, id plumbing.Hash, use func(p *pack, at int64) error) error {
	failure := cmp.Or(d.bad, plumbing.ErrObjectNotFound)
	for i, p := range d.packs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i >= d.keeps {
			p = &pack{path: p.path, cruft: p.cruft}
		}
		at, err := p.find(id)
		if err == nil {
			err = use(p, at)
		}
		if i >= d.keeps {
			_ = p.close() // it was opened for reading
		}
		if err == nil || errors.Is(err, ErrLarge) {
			return err
		}
		failure = graver(failure, err)
	}
	return failure
}
