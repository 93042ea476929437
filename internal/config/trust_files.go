package config

import (
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
	t := o.trusts(paths.Trust)
	if len(t.dirs) == 0 {
		return nil, nil
	}
	for _, name := range t.present(t.root(), globs) {
		if paths.Trust == "" {
			return nil, noHome("keep what is trusted", "XDG_DATA_HOME")
		}
		name = filepath.Join(t.root(), filepath.FromSlash(name))
		content, _, err := file.Read(name, file.Options{Max: maxForAgents})
		if err != nil {
			return trusted, unreadable(name, err)
		}
		if err := (trustStore{paths.Trust}).add(name, digest(content)); err != nil {
			return trusted, err
		}
		trusted = append(trusted, name)
	}
	return trusted, nil
}

// trusts is what the user trusts in files for agents, as it was when the configuration was read.
type trusts struct {
	all   bool
	known map[string]string // as in a trustFile
	dirs  []string          // the working directory, and those above it up to the root of the repository
	first string            // the root of the repository's first work tree; "": unknown
}

func (o Options) trusts(store string) trusts {
	known, _ := trustStore{store}.read() // a file that cannot be read trusts nothing
	t := trusts{all: o.TrustProject, known: known.Files}
	if o.WorkingDir == "" {
		return t
	}
	if o.MainTree != "" {
		t.first = resolved(o.MainTree)
	}
	dir, root := resolved(o.WorkingDir), resolved(o.RepositoryRoot)
	t.dirs = []string{dir}
	if rel, err := filepath.Rel(root, dir); root == "" || err != nil || !filepath.IsLocal(rel) {
		return t
	}
	for ; dir != root; t.dirs = append(t.dirs, dir) {
		dir = filepath.Dir(dir)
	}
	return t
}

func (t trusts) root() string { return t.dirs[len(t.dirs)-1] }

// present lists the files that globs name in the working directory or above, in the tree at root: as
// paths from there, with slashes.
func (t trusts) present(root string, globs []string) (files []string) {
	for _, dir := range t.dirs {
		rel, err := filepath.Rel(t.root(), dir)
		if err != nil {
			continue // cannot happen: it is below
		}
		in := os.DirFS(filepath.Join(root, rel))
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

// trusted reports whether the user trusts the content of a file, here or in the repository's first work
// tree.
func (t trusts) trusted(root, name string) bool {
	name = filepath.FromSlash(name)
	content, _, err := file.Read(filepath.Join(root, name), file.Options{Max: maxForAgents})
	return t.all || err == nil && slices.ContainsFunc([]string{t.root(), t.first}, func(root string) bool {
		return root != "" && t.known[resolved(filepath.Join(root, name))] == digest(content)
	})
}

// Distrusted lists the files for agents that globs name in the working directory or above, and that the
// user does not trust as they are now. root is where they are: the root of a copy of the work tree, or
// "" for itself.
func (c *Config) Distrusted(root string, globs []string) []string {
	if len(c.trusts.dirs) == 0 {
		return nil
	}
	if root == "" {
		root = c.trusts.root()
	}
	return slices.DeleteFunc(c.trusts.present(root, globs), func(name string) bool { return c.trusts.trusted(root, name) })
}

// ProjectDirs are the directories that the user may have told an agent to trust: the working directory
// and those above it up to the root of the repository, and the root of its first work tree.
func (c *Config) ProjectDirs() []string {
	dirs := slices.Clone(c.trusts.dirs)
	if c.trusts.first != "" {
		dirs = append(dirs, c.trusts.first)
	}
	return dirs
}
