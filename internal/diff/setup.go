package diff

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/file"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// A setup is everything outside the work tree that decides which changes git sees and how it
// converts files. No diff shows when it changes, and it can hide a lot. It has digests of
// values, by names that tell a person where to look.
type setup map[string]string

// setupOf returns the setup of a repository. For a file that cannot be read, it has a digest of the
// error.
func (w *watcher) setupOf(r opened) setup {
	s := make(setup)
	for _, e := range r.Entries() {
		if decides(e.Key) {
			s[e.Key] = checkpoint.Digest(e.Value + strconv.FormatBool(e.Implicit))
		}
	}
	for path, id := range w.tracked.ignores {
		s[path+" in the index"] = id.String()
	}
	excludes, _ := r.ExcludesFile() // the scan reports errors
	system, user, _ := r.AttributesFiles()
	for _, path := range []string{r.InfoExclude(), excludes, r.InfoAttributes(), user, system} {
		s.addFile(w.nameOf(path), path)
	}
	return s
}

// addFile adds a file, if it is not empty.
func (s setup) addFile(name, path string) {
	if digest := digestOf(path); digest != "" {
		s[name] = digest
	}
}

// nameOf returns the path from the root if a file is in the work tree, or else the path as given.
func (p *place) nameOf(path string) string {
	if below, err := filepath.Rel(p.Root(), path); err == nil && filepath.IsLocal(below) {
		return filepath.ToSlash(below)
	}
	return path
}

// digestOf returns the digest of a file, or of the error if it cannot be read. It is "" for a file
// that is empty or missing.
func digestOf(path string) string {
	content, _, err := file.Read(path, file.Options{})
	switch {
	case file.Missing(err), err == nil && len(content) == 0:
		return ""
	case err != nil:
		return checkpoint.Digest(err.Error())
	}
	return checkpoint.Digest(string(content))
}

// decides reports whether a setting is part of a setup.
func decides(key string) bool {
	switch key {
	case "core.filemode", "core.symlinks", "core.ignorecase", "core.autocrlf", "core.excludesfile", "core.attributesfile", "core.worktree":
		return true
	}
	return strings.HasPrefix(key, "filter.")
}

// differsFrom returns the names of what has changed, sorted.
func (s setup) differsFrom(then setup) []string {
	names := slices.Concat(slices.Collect(maps.Keys(s)), slices.Collect(maps.Keys(then)))
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return s[name] == then[name] })
}

// changedSince returns a sentence about what has changed, with the values of settings, or "".
func (s setup) changedSince(then setup, settings *repo.Config) string {
	const most = 20
	names := s.differsFrom(then)
	for i, name := range names {
		names[i] = wording.Name(name)
		if values := settings.All(name); len(values) > 0 {
			names[i] += " = " + quoted(values)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the setup of git has changed since the session began; no diff shows that, and it can hide changes: " +
		wording.List(names, most)
}
