package view

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// What is beneath a copy is not in it, but found with it by those who see the copy as the upper layer
// of an overlay, and the work tree that it was made of as the lower one. Nothing else of that tree
// may show: what is copied is what it was when the copy was made, whatever has become of it there.
type beneath struct {
	unseen func(path string) bool // see [Replication]

	mu sync.Mutex
	// Open are the directories of the copy in which something shows that is beneath them, by
	// their paths from the root, "." for itself, with the names of that.
	Open map[string][]string
}

// A few ignored files are copied as others are: no directory needs to be open for them.
const (
	fewFiles = 100
	fewBytes = 4 << 20
)

// leave takes out of what is in a directory what is not to be copied.
func (b *beneath) leave(root, dir string, entries []os.DirEntry) []os.DirEntry {
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

// shows takes note of something that shows in a directory, and so in all those above.
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

// isSmall reports whether something is soon copied.
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
