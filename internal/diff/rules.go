package diff

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/scan"
	"codeloops/internal/wording"
)

// originOf returns the sources of ignore rules outside the work tree.
func originOf(r opened) (o ignore.Options, err error) {
	o.InfoExclude = r.InfoExclude()
	if o.IgnoreCase, err = r.Bool("core.ignoreCase", false); err != nil {
		return o, err
	}
	o.ExcludesFile, err = r.ExcludesFile()
	return o, err
}

// leftOut returns a function that reads the .gitignore files that a sparse checkout leaves out.
func (w *watcher) leftOut(ctx context.Context) func(name string) ([]byte, bool) {
	ctx = context.WithoutCancel(ctx) // the rules outlive this scan
	return func(name string) ([]byte, bool) {
		id, ok := w.tracked.ignores[name]
		if !ok {
			return nil, false
		}
		blob, err := w.store.Blob(ctx, id)
		return blob, err == nil
	}
}

// unread returns warnings about rules that could not be read.
func unread(r *ignore.Rules) (warnings []string) {
	errs := r.Unread()
	for _, name := range slices.Sorted(maps.Keys(errs)) {
		warnings = append(warnings, wording.NameIn(fmt.Sprintf("cannot read ignore rules: %v", errs[name]), name))
	}
	return warnings
}

// OutOfScope reports whether a file is ignored under the rules of the last scan, given its
// slash-separated path from the root. A file that is tracked, that was in scope when the session
// began, or that decides what is ignored is not.
func (t *Tree) OutOfScope(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if scan.Decides(name) || t.base.Find(name) != nil || t.state.Root.Find(name) != nil || t.tracked.root.Find(name) != nil {
		return false
	}
	return t.rules != nil && t.ignores(name)
}

// Worked reports whether the last scan found a file, given its slash-separated path from the root,
// other than it was when the session began.
func (t *Tree) Worked(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, is := t.base.Find(name), t.state.Root.Find(name)
	return (was == nil) != (is == nil) || was != nil && (was.ID != is.ID || was.Mode != is.Mode)
}

// Counts reports whether what is written into a file, given its absolute path, would count as work: it
// is in the work tree, and git does not ignore it. It can be asked before any scan.
func (t *Tree) Counts(file string) (bool, error) {
	name, err := filepath.Rel(t.Root(), file)
	if first, _, _ := strings.Cut(filepath.ToSlash(name), "/"); err != nil || !filepath.IsLocal(name) || first == ".git" {
		return false, nil //nolint:nilerr // it is elsewhere
	}
	o, err := originOf(t.opened)
	o.WorkTree = t.Root()
	return err == nil && !ignore.New(o).Ignored(filepath.ToSlash(name)), err
}

// Unseen returns a function that reports whether scans see nothing of a file or a directory, given
// its slash-separated path from the root. That is so in directories that git ignored at the last
// scan, except for the one in which the session began and those with settings of agents.
func (t *Tree) Unseen() func(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	state, dirs := t.state, t.agentsLookIn()
	var settings []string
	for _, dir := range dirs {
		for _, name := range t.options.Settings {
			settings = append(settings, dir+name+"/")
		}
	}
	return func(name string) bool {
		dir := name + "/"
		_, whole := slices.BinarySearch(state.IgnoredDirs, dir)
		_, inside := slices.BinarySearch(state.SelfIgnored, path.Dir(name)+"/") // except for its rules
		if !whole && (!inside || scan.Decides(name)) {
			return false
		}
		return !slices.ContainsFunc(dirs, func(needed string) bool { return strings.HasPrefix(needed, dir) }) &&
			!slices.ContainsFunc(settings, func(needed string) bool { return strings.HasPrefix(needed, dir) || strings.HasPrefix(dir, needed) })
	}
}
