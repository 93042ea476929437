package diff

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/git"
	"codeloops/internal/proc"
)

// OutOfScope reports whether the last look found a file ignored, given its
// slash-separated path from the root. A file that is tracked, that was in scope when the session
// began, or that decides what is ignored is not.
func (t *Tree) OutOfScope(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sight == nil || Decides(name) || t.sees(name) {
		return false
	}
	if was, err := t.objects.entry(t.basis.state, name); err != nil || was != nil {
		return false
	}
	if _, is := t.tracked.entries[name]; is {
		return false
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if t.ignoresNow(dir, dir != name) {
			return true
		}
	}
	if _, err := os.Lstat(t.absolute(name)); err == nil {
		return false
	}
	now, err := t.ignores(context.Background(), rules{state: t.sight.state, outside: t.rulesOutside(), ignoreCase: t.files.IgnoreCase}, []string{name}) // it was not there
	return err == nil && now[name]
}

// ignoresNow reports whether the last look found a path ignored as such.
func (t *Tree) ignoresNow(name string, isDir bool) bool {
	if isDir {
		name += "/"
	}
	_, is := slices.BinarySearch(t.sight.ignored, name)
	return is || isDir && slices.Contains(t.sight.selfIgnored, name)
}

// Worked reports whether the last look found a file, given its slash-separated path from the root,
// other than it was when the session began.
func (t *Tree) Worked(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, errWas := t.objects.entry(t.basis.state, name)
	is, errIs := t.objects.entry(t.sight.state, name)
	return errWas != nil || errIs != nil || (was == nil) != (is == nil) || was != nil && (was.ID != is.ID || was.Mode != is.Mode)
}

// Counts reports whether what is written into a file, given its absolute path, would count as work: it
// is in the work tree, and git does not ignore it. It can be asked before any look.
func (t *Tree) Counts(ctx context.Context, file string) (bool, error) {
	name, err := filepath.Rel(t.Root(), file)
	if first, _, _ := strings.Cut(filepath.ToSlash(name), "/"); err != nil || !filepath.IsLocal(name) || first == ".git" {
		return false, nil //nolint:nilerr // it is elsewhere
	}
	g := git.Git{Environ: git.WithoutRepository(t.options.Environ)}
	_, err = g.In(ctx, t.Root(), "--git-dir="+t.GitDir(), "--work-tree="+t.Root(), "check-ignore", "-q", "--no-index", "--", name)
	if exit, ok := errors.AsType[*proc.ExitError](err); ok && exit.ExitCode == 1 {
		return true, nil
	}
	return false, err
}

// Unseen returns a function that reports whether looks see nothing of a file or a directory, given
// its slash-separated path from the root. That is so in directories that git ignored at the last
// look, except for the one in which the session began and those with settings of agents.
func (t *Tree) Unseen() func(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ignored, self []string
	if t.sight != nil {
		ignored, self = t.sight.ignored, t.sight.selfIgnored
	}
	dirs := t.agentsLookIn()
	var settings []string
	for _, dir := range dirs {
		for _, name := range t.options.Settings {
			settings = append(settings, dir+name+"/")
		}
	}
	return func(name string) bool {
		dir := name + "/"
		_, whole := slices.BinarySearch(ignored, dir)
		_, inside := slices.BinarySearch(self, path.Dir(name)+"/") // except for its rules
		if !whole && (!inside || Decides(name)) {
			return false
		}
		return !slices.ContainsFunc(dirs, func(needed string) bool { return strings.HasPrefix(needed, dir) }) &&
			!slices.ContainsFunc(settings, func(needed string) bool { return strings.HasPrefix(needed, dir) || strings.HasPrefix(dir, needed) })
	}
}

// Limits of the search for new ignored files. A directory with more of them is one of builds or
// packages.
const (
	maxBeside   = 20
	maxSearched = 20_000 // entries
)

// WrittenBeside returns files that git ignores, that were written since a time, and that look like
// work: they are of a kind that the repository has, by the ends of their names, or the task names them, and they are in no
// cache. The paths are slash-separated, from the root.
func (t *Tree) WrittenBeside(ctx context.Context, since time.Time, task string) (found []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sight == nil || len(t.sight.ignored) == 0 {
		return nil
	}
	kinds, err := t.kinds(ctx)
	if err != nil {
		return nil
	}
	left := maxSearched
	for _, name := range t.sight.ignored {
		var inside []string
		_ = filepath.WalkDir(t.absolute(name), func(at string, d fs.DirEntry, err error) error {
			switch left--; {
			case err != nil || left < 0 || ctx.Err() != nil:
				return fs.SkipAll // what cannot be read is not told
			case d.IsDir():
				return skipCache(at, d.Name())
			}
			isNamed := strings.Contains(d.Name(), ".") && strings.Contains(task, d.Name())
			if below := t.nameOf(at); (isNamed || kinds[path.Ext(at)]) && !t.sees(below) && writtenSince(d, since) {
				inside = append(inside, below)
			}
			return nil
		})
		if len(inside) <= maxBeside {
			found = append(found, inside...)
		}
	}
	slices.Sort(found)
	return found
}

// kinds are the ends of the names of files that the last look has found.
func (t *Tree) kinds(ctx context.Context) (map[string]bool, error) {
	files, err := t.objects.list(ctx, t.sight.state.tree)
	kinds := map[string]bool{}
	for _, f := range files {
		kinds[path.Ext(f.name)] = true
	}
	delete(kinds, "")
	return kinds, err
}

// skipCache skips a directory that is a cache.
func skipCache(at, name string) error {
	if _, err := os.Lstat(filepath.Join(at, "CACHEDIR.TAG")); err == nil || name == ".git" || name == "node_modules" {
		return fs.SkipDir
	}
	return nil
}

func writtenSince(d fs.DirEntry, since time.Time) bool {
	info, err := d.Info()
	return err == nil && info.Mode().IsRegular() && !info.ModTime().Before(since)
}
