package store

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// decoded is how much of the objects that it decoded a database caches, for
// the chains of deltas in pack files.
const decoded = 8 << 20

var errUnnamed = errors.New(`objects can be written only to a directory named "objects"`)

// alternatesDepth is how many repositories a chain of alternates may have, as
// in git.
const alternatesDepth = 5

// A database is a repository's objects with those of its alternates, opened
// when first used. The alternates are opened here because the storage's own
// way loads all their pack indexes anew for every object.
type database struct {
	objects  string
	storages []*filesystem.Storage
	packs    []*packs // of the same repositories, for a short way
	zlib     *zlib.Writer
	loose    bytes.Buffer // what it last wrote
}

func (d *database) open() {
	if d.storages == nil {
		d.add(d.objects, map[string]bool{}, alternatesDepth)
	}
}

// add opens the storage of a directory of objects. The storage is given the
// directory above, and finds them only by the name "objects"; those of another
// name are left to git.
func (d *database) add(objects string, seen map[string]bool, depth int) {
	if resolved, err := filepath.EvalSymlinks(objects); err == nil {
		objects = resolved
	}
	if seen[objects] || filepath.Base(objects) != "objects" {
		return
	}
	seen[objects] = true
	d.storages = append(d.storages, filesystem.NewStorageWithOptions(
		osfs.New(filepath.Dir(objects), osfs.WithBoundOS()),
		cache.NewObjectLRU(decoded),
		filesystem.Options{
			KeepDescriptors:      true,
			LargeObjectThreshold: Large,
			AlternatesFS:         osfs.New(string(filepath.Separator), osfs.WithBoundOS()),
		}))
	d.packs = append(d.packs, &packs{objects: objects})
	if depth == 0 {
		return
	}
	for _, more := range alternates(objects) {
		d.add(more, seen, depth-1)
	}
}

// alternates reads info/alternates as gitrepository-layout(5) describes it.
func alternates(objects string) []string {
	text, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if err != nil {
		return nil
	}
	var dirs []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		dir := lines.Text()
		if dir == "" || dir[0] == '#' {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(objects, dir)
		}
		dirs = append(dirs, filepath.Clean(dir))
	}
	return dirs
}

func (d *database) close() error {
	var errs []error
	for _, s := range d.storages {
		errs = append(errs, s.Close())
	}
	for _, p := range d.packs {
		errs = append(errs, p.close())
	}
	d.storages, d.packs = nil, nil
	return errors.Join(errs...)
}

// packed returns an object that is in a pack and not too large.
func (d *database) packed(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	d.open()
	for _, p := range d.packs {
		if content, err := p.read(kind, id); err == nil {
			return content, nil
		}
	}
	return nil, errNotHere
}

// has reports whether an object is there now.
func (d *database) has(id plumbing.Hash) bool {
	d.open()
	for _, p := range d.packs {
		if p.changed() {
			_ = p.close() // they were opened for reading
			d.reindex()
		}
		if p.has(id) {
			return true
		}
	}
	if d.known() {
		return slices.ContainsFunc(d.packs, func(p *packs) bool {
			_, err := os.Lstat(loosePath(p.objects, id))
			return err == nil
		})
	}
	_, err := d.find(id)
	return err == nil
}

// known reports whether there are no packs but those that were opened here.
func (d *database) known() bool {
	return len(d.packs) > 0 && !slices.ContainsFunc(d.packs, func(p *packs) bool { return p.more })
}

// find returns the storage that has an object.
func (d *database) find(id plumbing.Hash) (*filesystem.Storage, error) {
	d.open()
	for _, s := range d.storages {
		if s.HasEncodedObject(id) == nil {
			return s, nil
		}
	}
	return nil, plumbing.ErrObjectNotFound
}

func (d *database) reindex() {
	for _, s := range d.storages {
		s.Reindex()
	}
}

func (d *database) object(kind plumbing.ObjectType, id plumbing.Hash) (object plumbing.EncodedObject, err error) {
	err = d.read(id, func(s *filesystem.Storage) error {
		object, err = s.EncodedObject(kind, id)
		return err
	})
	return object, err
}

func (d *database) size(id plumbing.Hash) (size int64, err error) {
	err = d.read(id, func(s *filesystem.Storage) error {
		size, err = s.EncodedObjectSize(id)
		return err
	})
	return size, err
}

// read tries twice, the second time with the pack indexes read anew: `git gc`
// may have repacked in the meantime, and an index that was read before still
// names a pack that is gone.
func (d *database) read(id plumbing.Hash, with func(*filesystem.Storage) error) error {
	var failure error
	for range 2 {
		s, err := d.find(id)
		if err == nil {
			err = with(s)
		}
		if err == nil {
			return nil
		}
		failure = err
		d.reindex()
	}
	return failure
}

// write adds a loose object unless there is one. Whether a pack has it already
// is not asked: that would load all pack indexes.
func (d *database) write(kind plumbing.ObjectType, id plumbing.Hash, content []byte) error {
	if err := d.ensureNamed(); err != nil {
		return err
	}
	if _, err := os.Lstat(loosePath(d.objects, id)); err == nil {
		return nil
	}
	loose, err := d.deflate(kind, content)
	if err != nil {
		return err
	}
	return writeLoose(d.objects, id, loose)
}

// deflate returns an object as a loose one is, in the same memory each time.
func (d *database) deflate(kind plumbing.ObjectType, content []byte) ([]byte, error) {
	if d.loose.Cap() > keepFile {
		d.loose = bytes.Buffer{}
	}
	d.loose.Reset()
	if d.zlib == nil {
		d.zlib, _ = zlib.NewWriterLevel(&d.loose, zlib.BestSpeed) // the level is valid
	} else {
		d.zlib.Reset(&d.loose)
	}
	if _, err := d.zlib.Write(header(kind, int64(len(content)))); err != nil {
		return nil, err
	}
	if _, err := d.zlib.Write(content); err != nil {
		return nil, err
	}
	err := d.zlib.Close()
	return d.loose.Bytes(), err
}

// ensureNamed makes sure that what is written can be found again.
func (d *database) ensureNamed() error {
	d.open()
	if len(d.storages) == 0 {
		return fmt.Errorf("directory %s: %w", d.objects, errUnnamed)
	}
	return nil
}
