package view

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A beneath lists what was not copied. Commands still see it, because they see the copy as the upper
// layer of an overlay above the original work tree. Nothing else of that tree may show through: the
// rest must look as it did when the copy was made.
type beneath struct {
	unseen func(path string) bool // see [Place.Replicate]

	mu sync.Mutex
	// Open are the directories of the copy in which something shows through, by their paths from
	// the root, which is ".", with the names of what shows.
	Open map[string][]string
}

// Ignored directories up to this size are copied, so that no directory needs to be open for them.
const (
	fewFiles = 100
	fewBytes = 4 << 20
)

// filter removes the entries of a directory that are not to be copied.
func (b *beneath) filter(root, dir string, entries []os.DirEntry) []os.DirEntry {
	if b == nil {
		return entries
	}
	at, err := filepath.Rel(root, dir)
	if err != nil {
		return entries
	}
	at = filepath.ToSlash(at)
	return slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		if !b.unseen(pathIn(at, e.Name())) || isSmall(filepath.Join(dir, e.Name())) {
			return false
		}
		b.shows(at, e.Name())
		return true
	})
}

// shows records that something shows through in a directory, and so in all those above.
func (b *beneath) shows(at, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Open[at] = append(b.Open[at], name)
	for at != "." {
		at = filepath.ToSlash(filepath.Dir(at))
		if _, open := b.Open[at]; !open {
			b.Open[at] = nil
		}
	}
}

// isSmall reports whether a file or directory is small enough to be copied.
func isSmall(name string) bool {
	files, bytes := 0, int64(0)
	err := filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if bytes += info.Size(); files > fewFiles || bytes > fewBytes {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && files <= fewFiles && bytes <= fewBytes
}

func pathIn(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
