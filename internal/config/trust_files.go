package config

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"codeloops/internal/file"
)

// maxForAgents bounds a file for agents, in bytes: a larger one cannot be trusted.
const maxForAgents = 8 << 20

// TrustFiles records that the user trusts the files for agents that globs name, as they are now, and
// returns their paths.
func TrustFiles(o Options, globs []string) (trusted []string, _ error) {
	paths, err := Locate(o)
	if err != nil {
		return nil, err
	}
	t := o.forAgents(paths.Trust)
	for _, name := range t.present("", globs) {
		name = filepath.Join(t.root(), name)
		content, _, err := file.Read(name, file.Options{Max: maxForAgents})
		if err != nil {
			return trusted, unreadable(name, err)
		}
		if err := addTrusted(paths.Trust, name, digest(content)); err != nil {
			return trusted, err
		}
		trusted = append(trusted, name)
	}
	return trusted, nil
}

// forAgents is what the user trusts in files for agents, as it was when the configuration was read.
type forAgents struct {
	all   bool
	known trusted
	dirs  []string // the working directory, and those above it up to the root of the repository
	first string   // the root of the repository's first work tree; "": unknown
}

func (o Options) forAgents(store string) forAgents {
	known, _ := readTrusted(store) // a file that cannot be read trusts nothing
	return forAgents{all: o.TrustProject, known: known, dirs: o.upwards(), first: resolved(o.MainTree)}
}

func (t forAgents) root() string { return t.dirs[len(t.dirs)-1] }

// present lists the files that globs name in the working directory or above, in the tree at root, or "" for the work
// tree itself: as paths from there, with slashes.
func (t forAgents) present(root string, globs []string) (files []string) {
	for _, dir := range t.dirs {
		rel, err := filepath.Rel(t.root(), dir)
		if err != nil {
			continue // cannot happen: it is below
		}
		in := os.DirFS(filepath.Join(cmp.Or(root, t.root()), rel))
		for _, glob := range globs {
			found, _ := fs.Glob(in, glob) // the globs of the catalogue are tested
			for _, name := range found {
				if st, err := fs.Stat(in, name); err == nil && !st.IsDir() {
					files = append(files, path.Join(filepath.ToSlash(rel), name))
				}
			}
		}
	}
	return files
}

// Distrusted lists the files for agents that globs name in the working directory or above, and that the
// user does not trust as they are now, here or in the repository's first work tree. root is where they are: the root
// of a copy of the work tree, or "" for itself.
func (c *Config) Distrusted(root string, globs []string) []string {
	t := c.files
	return slices.DeleteFunc(t.present(root, globs), func(name string) bool {
		content, _, err := file.Read(filepath.Join(cmp.Or(root, t.root()), name), file.Options{Max: maxForAgents})
		trusts := func(root string) bool {
			return root != "" && t.known.holds(filepath.Join(root, name), digest(content))
		}
		return t.all || err == nil && (trusts(t.root()) || trusts(t.first))
	})
}

// ProjectDirs are the directories that the user may have told an agent to trust: the working directory
// and those above it up to the root of the repository, and the root of its first work tree.
func (c *Config) ProjectDirs() []string {
	dirs := slices.Clone(c.files.dirs)
	if c.files.first != "" {
		dirs = append(dirs, c.files.first)
	}
	return dirs
}
