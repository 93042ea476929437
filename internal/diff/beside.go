package diff

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/scan"
)

// Limits of the search for new ignored files. A directory with more of them is one of builds or
// packages.
const (
	maxBeside   = 20
	maxSearched = 20_000 // entries
)

// WrittenBeside returns files that git ignores, that were written since a time, and that look like
// work: they are of a kind that the repository has, by the ends of their names, or the task names them, and they are in no
// cache. The paths are slash-separated, from the root.
func (t *Tree) WrittenBeside(ctx context.Context, since time.Time, task string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil || t.rules == nil || t.state.Root == nil {
		return nil
	}
	b := beside{Tree: t, ctx: ctx, since: since, task: task, kinds: map[string]bool{}, left: maxSearched}
	b.learn(t.state.Root)
	b.directory("", t.rules.Root())
	return b.found
}

// beside is such a search.
type beside struct {
	*Tree
	ctx   context.Context //nolint:containedctx // of one call
	since time.Time
	task  string
	kinds map[string]bool
	left  int
	found []string
}

// learn records the kinds of files.
func (b *beside) learn(d *scan.Dir) {
	for _, f := range d.Files() {
		b.kinds[path.Ext(f.Name)] = true
	}
	for _, sub := range d.Dirs {
		b.learn(sub)
	}
	delete(b.kinds, "")
}

// directory searches a directory that git does not ignore.
func (b *beside) directory(at string, rules *ignore.Dir) {
	for _, e := range b.entries(at) {
		name, ignored := at+e.Name(), rules.Ignored(e.Name(), e.IsDir())
		switch {
		case e.IsDir() && ignored:
			before := len(b.found)
			if b.below(name + "/"); len(b.found)-before > maxBeside {
				b.found = b.found[:before]
			}
		case e.IsDir():
			b.directory(name+"/", rules.Sub(e.Name()))
		case ignored:
			b.file(name, e)
		}
	}
}

// below searches a directory that git ignores.
func (b *beside) below(at string) {
	if _, err := os.Lstat(b.absolute(at + "CACHEDIR.TAG")); err == nil {
		return
	}
	for _, e := range b.entries(at) {
		if e.IsDir() {
			b.below(at + e.Name() + "/")
		} else {
			b.file(at+e.Name(), e)
		}
	}
}

func (b *beside) file(name string, e fs.DirEntry) {
	named := strings.Contains(e.Name(), ".") && strings.Contains(b.task, e.Name())
	if !named && !b.kinds[path.Ext(name)] || !e.Type().IsRegular() || b.state.Root.Find(name) != nil || b.base.Find(name) != nil {
		return
	}
	if info, err := e.Info(); err == nil && !info.ModTime().Before(b.since) {
		b.found = append(b.found, name)
	}
}

// entries returns the entries of a directory, none of a repository or of installed packages.
func (b *beside) entries(at string) []fs.DirEntry {
	if base := path.Base(at); b.ctx.Err() != nil || b.left < 0 || base == ".git" || base == "node_modules" {
		return nil
	}
	entries, _ := os.ReadDir(b.absolute(at)) // what cannot be read is not told
	b.left -= len(entries)
	return entries
}

func (b *beside) absolute(name string) string {
	return filepath.Join(b.Root(), filepath.FromSlash(name))
}
