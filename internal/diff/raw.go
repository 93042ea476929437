package diff

import (
	"bytes"
	"context"
	"maps"
	"os"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// maxRaw limits, in bytes, what checkpoints keep of files that only git can convert. Such files may
// be large, and there may be many at the start of a session.
const maxRaw = 4 * store.Large

// A disk knows the files of a state that differ from their blobs on the disk, because git
// converts them.
type disk struct {
	state *scan.Dir // that was looked at last
	raw   map[string]checkpoint.Raw
	size  int64 // of the kept contents
}

// look returns what a checkpoint of a state says of the disk. It reads only the files that have
// changed since it was called last.
func (d *disk) look(ctx context.Context, w *watcher, state *scan.Dir) (*checkpoint.Disk, error) {
	found := &checkpoint.Disk{Umask: scan.Umask(), Perms: state.OddPerms()}
	how := w.how
	if how.Reader == nil { // nothing was scanned yet
		r, err := w.reopen()
		if err == nil {
			how, err = w.conversion(ctx, r)
		}
		if err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(d.raw, func(path string, _ checkpoint.Raw) bool { return state.Find(path) == nil })
	if how.AutoCRLF || how.Outside() || state.Has(".gitattributes") || len(d.raw) > 0 {
		if err := d.read(ctx, w, state, how); err != nil {
			return nil, err
		}
	}
	d.state = state
	found.Raw = maps.Clone(d.raw)
	return found, nil
}

func (d *disk) read(ctx context.Context, w *watcher, state *scan.Dir, how attr.Conversion) error {
	root, err := os.OpenRoot(w.Root())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only read
	for _, f := range scan.Moved(d.state, state) {
		if in, _ := w.rulesOf(f.Path); in != w.rules || f.Mode == scan.Symlink || f.Mode == scan.Gitlink {
			continue
		}
		delete(d.raw, f.Path)
		if err := ctx.Err(); err != nil {
			return err
		}
		if !how.Alters(f.Path) {
			continue
		}
		if raw, content, differs := rawOf(root, f); differs {
			d.take(f.Path, raw, content, w.store)
		}
	}
	return nil
}

// rawOf returns the content of a file on the disk, and whether it differs from the blob. Raw is
// zero if the file is large, or no longer as in the state.
func rawOf(root *os.Root, f scan.PathFile) (raw checkpoint.Raw, content []byte, differs bool) {
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
