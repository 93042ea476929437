package diff

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // the id of a git object is its SHA-1
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"codeloops/internal/file"
)

// Large is the size, in bytes, above which a file is neither compared nor, unless git has it already, kept.
const Large = 20 << 20

// ErrForged is an object whose content does not match its id.
var ErrForged = errors.New("the content of the object does not match its id")

// objects are those of a session: its own, loose ones first, then those of the private repository. Every content up to
// [Large] that is read matches its id. It is safe for concurrent use.
type objects struct {
	*filesystem.ObjectStorage // the session's own

	mu    sync.Mutex // go-git's storage is for one at a time
	trees map[plumbing.Hash]*object.Tree
	names int    // in trees
	dir   string // the private repository's
	kept  *filesystem.ObjectStorage
}

func newObjects(own, kept string) *objects {
	return &objects{ObjectStorage: storage(own), dir: kept, kept: storage(kept), trees: map[plumbing.Hash]*object.Tree{}}
}

// storage reads the repository in a directory.
func storage(dir string) *filesystem.ObjectStorage {
	const cached, open = 16 << 20, 64 // bytes, packs
	return filesystem.NewObjectStorageWithOptions(dotgit.New(buffered{osfs.New(dir)}), cache.NewObjectLRU(cached),
		filesystem.Options{LargeObjectThreshold: Large, MaxOpenDescriptors: open})
}

// buffered are the files of a repository with a buffer before the indexes of packs: go-git reads those four bytes at a
// time.
type buffered struct{ billy.Filesystem }

// Open implements [billy.Filesystem].
func (b buffered) Open(name string) (billy.File, error) {
	f, err := b.Filesystem.Open(name)
	if err == nil && filepath.Ext(name) == ".idx" {
		return packIndex{f, bufio.NewReader(f)}, nil
	}
	return f, err
}

type packIndex struct {
	billy.File
	from *bufio.Reader
}

func (i packIndex) Read(p []byte) (int, error) { return i.from.Read(p) }

func (o *objects) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return errors.Join(o.Close(), o.kept.Close())
}

// find looks an object up in both places, and again when the packs have changed: other sessions may be at work. The
// caller holds the lock.
func (o *objects) find(id plumbing.Hash) (found plumbing.EncodedObject, err error) {
	for attempt := range 3 {
		if attempt > 0 {
			_ = o.kept.Close() // its files were only read
			o.kept = storage(o.dir)
		}
		if found, err = o.ObjectStorage.EncodedObject(plumbing.AnyObject, id); err == nil {
			return found, nil
		}
		if found, err = o.kept.EncodedObject(plumbing.AnyObject, id); err == nil {
			return found, nil
		}
	}
	return nil, err
}

// EncodedObject implements [storer.EncodedObjectStorer]. A large one is not checked.
func (o *objects) EncodedObject(kind plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, err := o.find(id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", id, err)
	case kind != plumbing.AnyObject && found.Type() != kind:
		return nil, fmt.Errorf("read %s: it is a %s: %w", id, found.Type(), plumbing.ErrObjectNotFound)
	case found.Size() > Large:
		return found, nil
	}
	content, err := readAll(found)
	if err == nil && plumbing.ComputeHash(found.Type(), content) != id {
		err = ErrForged
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	return inMemory(found.Type(), content), nil
}

func inMemory(kind plumbing.ObjectType, content []byte) *plumbing.MemoryObject {
	m := &plumbing.MemoryObject{}
	m.SetType(kind)
	_, _ = m.Write(content) // to memory
	return m
}

// AddAlternate implements [storer.EncodedObjectStorer]. There are none.
func (o *objects) AddAlternate(string) error { return errors.ErrUnsupported }

// size returns the length of an object.
func (o *objects) size(id plumbing.Hash) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, err := o.find(id)
	if err != nil {
		return 0, err
	}
	return found.Size(), nil
}

// blob returns the content of a blob; the error is errLarge for a large one.
func (o *objects) blob(id plumbing.Hash) ([]byte, error) {
	b, err := o.EncodedObject(plumbing.BlobObject, id)
	if err != nil {
		return nil, err
	}
	if b.Size() > Large {
		return nil, errLarge
	}
	return readAll(b)
}

var errLarge = errors.New("the file is too large to be looked into")

func readAll(o plumbing.EncodedObject) ([]byte, error) {
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	return io.ReadAll(r)
}

// open returns a reader of a blob of any size. The end of the context ends the reading.
func (o *objects) open(ctx context.Context, id plumbing.Hash) (io.ReadCloser, error) {
	b, err := o.EncodedObject(plumbing.BlobObject, id)
	if err != nil {
		return nil, err
	}
	r, err := b.Reader()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{file.Until(ctx, r), r}, nil
}

// write adds an object to the session's own.
func (o *objects) write(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	m := inMemory(kind, content)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.HasEncodedObject(m.Hash()) == nil {
		return m.Hash(), nil
	}
	return o.SetEncodedObject(m)
}

// tree reads a tree. It remembers some, as most stay the same from look to look; nobody changes them.
func (o *objects) tree(id plumbing.Hash) (*object.Tree, error) {
	const most = 200_000 // names, some 12 MB
	if id == emptyTree() {
		return &object.Tree{Hash: id}, nil
	}
	o.mu.Lock()
	t, known := o.trees[id]
	o.mu.Unlock()
	if known {
		return t, nil
	}
	t, err := object.GetTree(o, id)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names += len(t.Entries); o.names > most {
		clear(o.trees)
		o.names = len(t.Entries)
	}
	o.trees[id] = t
	return t, nil
}

func emptyTree() plumbing.Hash { return plumbing.ComputeHash(plumbing.TreeObject, nil) }

// sum returns the id of a blob that is read from r, and is size bytes long.
func sum(ctx context.Context, r io.Reader, size int64) (id plumbing.Hash, err error) {
	h := sha1.New() //nolint:gosec // see the import
	_, _ = h.Write([]byte("blob " + strconv.FormatInt(size, 10) + "\x00"))
	n, err := io.Copy(h, io.LimitReader(file.Until(ctx, r), size+1))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	h.Sum(id[:0])
	return id, err
}

// quotedPath quotes the path of an alternate where git would misread it.
func quotedPath(path string) string {
	if strings.ContainsAny(path, ":\"\n") && path[0] == '/' {
		return strconv.Quote(path)
	}
	return path
}

type listedFile struct {
	name string
	entry
}

// list returns the files of a tree and of those below it, in git's order.
func (o *objects) list(ctx context.Context, tree plumbing.Hash) ([]listedFile, error) {
	return o.listBelow(ctx, "", tree, nil)
}

func (o *objects) listBelow(ctx context.Context, prefix string, tree plumbing.Hash, all []listedFile) ([]listedFile, error) {
	t, err := o.tree(tree)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	for _, e := range t.Entries {
		if e.Mode != filemode.Dir {
			all = append(all, listedFile{prefix + e.Name, entry{Mode: uint32(e.Mode), ID: e.Hash}})
		} else if all, err = o.listBelow(ctx, prefix+e.Name+"/", e.Hash, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// holds reports whether there is an object.
func (o *objects) holds(id plumbing.Hash) bool {
	_, err := o.size(id)
	return err == nil
}
