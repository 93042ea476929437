package scenarios

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A state describes the user's files on a stage by their paths: kind, metadata and content.
type state map[string]string

// large is the size from which a file is compared only by inode number and times.
const large = 1 << 20

// look records the state of the user's files, except those that move.
func (s *stage) look(moves []*regexp.Regexp) (state, error) {
	now := state{}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if slices.Contains([]string{"lie", "home", "tmp", "base"}, entry.Name()) {
			continue
		}
		err := filepath.WalkDir(s.path(entry.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return gone(err)
			}
			name, err := filepath.Rel(s.dir, path)
			if err != nil {
				return err
			}
			// The lock exists during a run.
			if d.Name() == "codeloops-lock" || slices.ContainsFunc(moves, func(re *regexp.Regexp) bool { return re.MatchString(name) }) {
				return nil
			}
			what, err := describe(path, d)
			if err == nil {
				now[name] = what
			}
			return gone(err)
		})
		if err != nil {
			return nil, err
		}
	}
	return now, nil
}

// gone ignores files that the user removes at the same moment.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// describe describes a file; one that was replaced by an equal file has another description.
func describe(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	switch {
	case d.IsDir():
		return info.Mode().String(), nil
	case info.Mode().Type() == fs.ModeSymlink:
		to, err := os.Readlink(path)
		return info.Mode().String() + " to " + to, err
	}
	what := fmt.Sprintf("%s number %d of %s", info.Mode(), number(info), info.ModTime().Format("15:04:05.000000000"))
	if !info.Mode().IsRegular() || info.Size() > large {
		return fmt.Sprintf("%s, %d bytes", what, info.Size()), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	const shown = 60
	return fmt.Sprintf("%s, %d bytes %.6x %.*q", what, len(text), sha256.Sum256(text), shown, text), nil
}

// since returns the differences from an earlier state; "" if there are none.
func (now state) since(then state) string {
	var b strings.Builder
	names := maps.Clone(now)
	maps.Copy(names, then)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := then[name], now[name]; was != is {
			fmt.Fprintf(&b, "%s\n\twas %s\n\tis  %s\n", name, orNone(was), orNone(is))
		}
	}
	return b.String()
}

func orNone(what string) string {
	if what == "" {
		return "not there"
	}
	return what
}
