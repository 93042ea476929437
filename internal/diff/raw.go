package diff

import (
	"bytes"
	"context"
	"maps"
	"os"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// maxRaw is how much of files that only git can convert a checkpoint keeps as it is on
// the disk, in bytes: such files may be large, and those of a session's beginning many.
const maxRaw = 4 * store.Large

// A disk knows the files of a state of which the bytes on the disk are not those of
// their blobs, because git converts them.
type disk struct {
	state *scan.Dir // the last one that was looked at
	raw   map[string]checkpoint.Raw
	size  int64 // of what is kept
}

// look returns what a checkpoint of a state says of the disk. Only what has moved
// since the last one is read.
func (d *disk) look(ctx context.Context, w *watcher, state *scan.Dir) (*checkpoint.Disk, error) {
	said := &checkpoint.Disk{Umask: scan.Umask(), Perms: state.OddPerms()}
	how := w.how
	if how.Reader == nil { // no look has found it yet
		r, err := w.reopen()
		if err == nil {
			how, err = w.conversion(ctx, r)
		}
		if err != nil {
			return nil, err
		}
	}
	if d.raw == nil {
		d.raw = make(map[string]checkpoint.Raw)
	}
	maps.DeleteFunc(d.raw, func(path string, _ checkpoint.Raw) bool { return state.Find(path) == nil })
	if how.AutoCRLF || how.Outside() || state.Has(".gitattributes") || len(d.raw) > 0 {
		if err := d.read(ctx, w, state, how); err != nil {
			return nil, err
		}
	}
	d.state = state
	said.Raw = maps.Clone(d.raw)
	return said, nil
}

func (d *disk) read(ctx context.Context, w *watcher, state *scan.Dir, how attr.Conversion) error {
	root, err := os.OpenRoot(w.Root())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	var work []scan.Placed
	for _, f := range scan.Moved(d.state, state) {
		if in, _ := w.rulesOf(f.Path); in != w.rules || f.Mode == scan.Symlink || f.Mode == scan.Gitlink {
			continue
		}
		delete(d.raw, f.Path)
		if how.Alters(f.Path) {
			work = append(work, f)
		}
	}
	var mu sync.Mutex
	each(len(work), func(i int) {
		if ctx.Err() != nil {
			return
		}
		if raw, content, differs := rawOf(root, work[i]); differs {
			mu.Lock()
			defer mu.Unlock()
			d.take(work[i].Path, raw, content, w.store)
		}
	})
	return ctx.Err()
}

// rawOf returns what a file is on the disk, and whether that is something else than its
// blob. It is not known of one that is large, or no longer what the state says.
func rawOf(root *os.Root, f scan.Placed) (raw checkpoint.Raw, content []byte, differs bool) {
	content, err := readIn(root, f.Path, store.Large)
	if err != nil || int64(len(content)) != f.Size() {
		return raw, nil, true
	}
	id := store.Sum(plumbing.BlobObject, content)
	normal := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	switch {
	case id == f.ID:
		return raw, nil, false
	case bytes.Equal(inCRLF(normal), content) && store.Sum(plumbing.BlobObject, normal) == f.ID:
		return checkpoint.Raw{CRLF: true}, nil, true
	}
	return checkpoint.Raw{ID: id}, content, true
}

func inCRLF(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}

func (d *disk) take(path string, raw checkpoint.Raw, content []byte, objects *store.Store) {
	size := int64(len(content))
	if content != nil && (d.size+size > maxRaw || objects.Keep(raw.ID, content) != nil) {
		raw = checkpoint.Raw{}
	} else {
		d.size += size
	}
	d.raw[path] = raw
}
