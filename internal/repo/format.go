package repo

import (
	"path/filepath"
	"strings"
)

// A format is what a repository's own configuration file, without includes, says about how to read
// the repository.
type format struct {
	bare           bool
	workTree       string // core.worktree, or ""
	worktreeConfig bool
}

// readFormat reads the format of the repository at p.
func readFormat(p place) (format, error) {
	own, err := readSettings(filepath.Join(p.commonDir, "config"))
	if err != nil {
		return format{}, err
	}
	var f format
	// Without a version, git ignores the rest.
	e, ok := own.lookup("core.repositoryFormatVersion")
	if !ok {
		return f, nil
	}
	version, ok := parseInt(e.Value)
	switch {
	case !ok:
		return format{}, e.bad("a number")
	case version > 1:
		return format{}, &UnsupportedError{GitDir: p.gitDir, Key: e.Key, Value: e.Value}
	}
	if err := checkExtensions(own, version, p.gitDir); err != nil {
		return format{}, err
	}
	if f.worktreeConfig, err = own.Bool("extensions.worktreeConfig", false); err != nil {
		return format{}, err
	}
	return f, f.placeTree(own, p)
}

// placeTree reads the settings about the work tree. For a linked work tree, the shared file counts
// only if each work tree can have a file of its own.
func (f *format) placeTree(own *Config, p place) error {
	from := []*Config{own}
	if f.worktreeConfig {
		private, err := readSettings(filepath.Join(p.gitDir, "config.worktree"))
		if err != nil {
			return err
		}
		from = append(from, private)
	} else if p.gitDir != p.commonDir {
		return nil
	}
	for _, c := range from {
		var err error
		if f.bare, err = c.Bool("core.bare", f.bare); err != nil {
			return err
		}
		if dir, ok := c.String("core.worktree"); ok {
			f.workTree = dir
		}
	}
	return nil
}

// checkExtensions returns an [*UnsupportedError] if an extension prevents reading the repository. In
// version 0, as in git, unknown extensions are ignored, but not those of version 1.
func checkExtensions(own *Config, version int64, gitDir string) error {
	for _, e := range own.Entries() {
		name, ok := strings.CutPrefix(e.Key, "extensions.")
		if !ok {
			continue
		}
		switch name {
		case "noop", "noop-v1", "worktreeconfig", "partialclone", "preciousobjects", "relativeworktrees":
			continue // they do not matter here
		case "objectformat":
			ok = e.Value == "sha1"
		case "refstorage":
			ok = e.Value == "files"
		default:
			ok = version == 0
		}
		if !ok {
			return &UnsupportedError{GitDir: gitDir, Key: e.Key, Value: e.Value}
		}
	}
	return nil
}
