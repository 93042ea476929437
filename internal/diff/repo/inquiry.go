package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"codeloops/internal/diff/repo/file"
)

// An inquiry asks the environment and the file system on behalf of Open. It keeps
// the answers, so that no question is asked twice and that it can tell later
// whether the answers are still the same.
type inquiry struct {
	caller Env // the environment
	env    Env // the same, but the answers are kept

	variables map[string]variable
	answers   map[string]answer     // by path
	resolved  map[string]resolution // by path, where symbolic links are on it
	settings  map[string][]Entry    // of files by path, without what they include
	// unsure: there is something that it does not ask again, or was told in two ways.
	unsure bool
}

type variable struct {
	value string
	ok    bool
}

type resolution struct {
	path string
	err  error
}

// An answer is what there is at a path, as far as Open's findings depend on it.
type answer struct {
	link  file.Stamp  // of a symbolic link, else zero
	there bool        // it, or what the link leads to
	mode  fs.FileMode // zero for a regular file
	stamp file.Stamp  // of what is no regular file, only where it is
}

// usual is how many variables and paths Open asks for where nothing is unusual.
const usual = 14

func newInquiry(env Env) *inquiry {
	i := &inquiry{
		caller:    env,
		variables: make(map[string]variable, usual),
		answers:   make(map[string]answer, usual),
		resolved:  make(map[string]resolution),
		settings:  make(map[string][]Entry),
	}
	i.env = func(name string) (string, bool) {
		value, ok := env(name)
		i.variables[name] = variable{value, ok}
		return value, ok
	}
	return i
}

// same reports whether all answers are still the same, given a time before the
// first question. It is false where that takes more than a look.
func (i *inquiry) same(asked time.Time) bool {
	if i.unsure {
		return false
	}
	for path, was := range i.answers {
		if a, err := answerOf(path); err != nil || a != was || !a.settled(asked) {
			return false
		}
	}
	for path, was := range i.resolved {
		if now, err := filepath.EvalSymlinks(path); now != was.path || (err == nil) != (was.err == nil) {
			return false
		}
	}
	for name, was := range i.variables {
		if value, ok := i.caller(name); was != (variable{value, ok}) {
			return false
		}
	}
	return true
}

// look returns what there is at a path.
func (i *inquiry) look(path string) (answer, error) {
	if a, asked := i.answers[path]; asked {
		return a, nil
	}
	a, err := answerOf(path)
	if err != nil {
		i.unsure = true
		return a, err
	}
	i.answers[path] = a
	return a, nil
}

// answerOf returns what there is at a path now.
func answerOf(path string) (a answer, err error) {
	fi, err := os.Lstat(path)
	if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		a.link = file.StampOf(fi)
		fi, err = os.Stat(path)
	}
	switch {
	case file.Missing(err):
		return a, nil
	case err != nil:
		return a, err
	}
	a.there, a.stamp = true, file.StampOf(fi)
	if !fi.Mode().IsRegular() {
		a.mode, a.stamp = fi.Mode(), file.Stamp{Dev: a.stamp.Dev}
	}
	return a, nil
}

func (a answer) isFile() bool { return a.there && a.mode == 0 }

// settled reports whether whatever changed after that time gives another answer.
func (a answer) settled(asked time.Time) bool {
	return (!a.link.Exists() || a.link.Settled(asked)) && (!a.isFile() || a.stamp.Settled(asked))
}

// read returns the content of a regular file of at most so many bytes.
func (i *inquiry) read(path string, most int64) ([]byte, error) {
	a, err := i.look(path)
	switch {
	case err != nil:
		return nil, err
	case !a.there:
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case !a.isFile():
		return nil, &fs.PathError{Op: "read", Path: path, Err: file.ErrNotRegular}
	}
	data, stamp, err := file.Read(path, file.How{Max: most})
	if err != nil || stamp != a.stamp {
		i.unsure = true
	}
	return data, err
}

// link returns where the symbolic link at path leads.
func (i *inquiry) link(path string) (string, error) {
	if a, err := i.look(path); err == nil && !a.link.Exists() {
		return "", errNoLink
	}
	return os.Readlink(path)
}

var errNoLink = errors.New("not a symbolic link")

// resolve is [filepath.EvalSymlinks].
func (i *inquiry) resolve(path string) (string, error) {
	if filepath.Separator == '/' && i.plain(path) {
		return path, nil
	}
	r, asked := i.resolved[path]
	if !asked {
		r.path, r.err = filepath.EvalSymlinks(path)
		i.resolved[path] = r
	}
	return r.path, r.err
}

// plain reports whether an absolute path has no symbolic link on it.
func (i *inquiry) plain(path string) bool {
	if !filepath.IsAbs(path) || path != filepath.Clean(path) {
		return false
	}
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if a, err := i.look(path); err != nil || !a.there || a.link.Exists() {
			return false
		}
	}
	return true
}

// isDir reports whether there is a directory.
func (i *inquiry) isDir(path string) bool {
	a, err := i.look(path)
	return err == nil && a.mode.IsDir()
}
