package repo

import (
	"path/filepath"
	"strings"
)

// A format is what a repository's own configuration says about how it must be
// read. Only the file itself counts here, not what it includes.
type format struct {
	bare           bool
	workTree       string // core.worktree; "" when not set
	worktreeConfig bool
}

// readFormat reads the format of the repository at p.
func readFormat(p place) (format, error) {
	own, err := readSettings(filepath.Join(p.commonDir, "config"))
	if err != nil {
		return format{}, err
	}
	var f format
	// Without a version, git takes the file for that of an older time and
	// looks no further.
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

// placeTree finds what the configuration says about the work tree. A linked
// work tree does not ask the shared file, unless each has one of its own.
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

// checkExtensions returns an [*UnsupportedError] for an extension that stands
// in the way of reading the repository. In version 0, git passes over the ones
// it does not know, and so may we; but not over those that come with version 1.
func checkExtensions(own *Config, version int64, gitDir string) error {
	for _, e := range own.Entries() {
		name, ok := strings.CutPrefix(e.Key, "extensions.")
		if !ok {
			continue
		}
		switch name {
		case "noop", "noop-v1", "worktreeconfig", "partialclone", "preciousobjects", "relativeworktrees":
			continue // they change nothing about what is read here
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
