// Package ignore tells which untracked files git ignores.
//
// The rules are those of gitignore(5), with the exact behaviour of git where
// the manual is silent.
package ignore

import (
	"path/filepath"
	"sync"
	"time"
)

// Options say where the rules are.
type Options struct {
	WorkTree     string // absolute path
	InfoExclude  string // the repository's own rules; may be missing
	ExcludesFile string // the user's rules; "" or missing: none
	IgnoreCase   bool   // core.ignoreCase
	// Outside are rules that count as if they stood in ExcludesFile, and then in
	// InfoExclude.
	Outside []string

	// FromIndex returns the content of a .gitignore file, given its path from
	// the root, that is marked skip-worktree in the index; false for any
	// other. It is asked where the work tree has no such file, possibly from
	// several goroutines. May be nil.
	FromIndex func(path string) ([]byte, bool)

	// Now tells files that were read too soon after their last change for
	// their times to show another one. Nil: all of them are taken as such.
	Now func() time.Time
}

// Rules are the ignore rules of one work tree. They are safe for concurrent
// use.
type Rules struct {
	o       Options
	outside []list // of the user, then of the repository

	mu      sync.Mutex
	sources map[string]reading
	moved   bool // a source was read twice and had changed in between
}

// New reads the rules outside the work tree; those inside are read as
// directories come up.
func New(o Options) *Rules {
	r := &Rules{o: o, sources: make(map[string]reading)}
	for _, path := range []string{o.ExcludesFile, o.InfoExclude} {
		if path == "" {
			continue
		}
		if text, ok := r.read(path, true); ok {
			r.outside = append(r.outside, parse(text))
		}
	}
	for _, text := range o.Outside {
		r.outside = append(r.outside, parse(text))
	}
	return r
}

// A Dir is the rules in force in one directory. It is safe for concurrent use.
type Dir struct {
	rules       *Rules
	parent      *Dir   // nil for the root
	name        string // in the parent
	path        string // from the root, with a slash behind; "" for the root
	mayHaveFile bool

	// What follows is set when the first name is asked for.
	once     sync.Once
	excluded bool
	own      list
	nearest  *Dir // this directory or the nearest above it that has rules of its own
}

// Root returns the rules of the work tree's root. See Sub for mayHaveFile.
func (r *Rules) Root(mayHaveFile bool) *Dir {
	return &Dir{rules: r, mayHaveFile: mayHaveFile}
}

// Sub returns the rules of the subdirectory name. It reads no file yet: that
// waits until the first name is asked for. mayHaveFile is false when the caller
// has listed the directory and seen no .gitignore in it; this saves a look.
func (d *Dir) Sub(name string, mayHaveFile bool) *Dir {
	return &Dir{rules: d.rules, parent: d, name: name, path: d.path + name + "/", mayHaveFile: mayHaveFile}
}

// Ignored reports whether git ignores the entry name of the directory, as an
// untracked file or directory. Everything in an ignored directory is ignored.
func (d *Dir) Ignored(name string, isDir bool) bool {
	d.once.Do(d.load)
	if d.excluded {
		return true
	}
	c := candidate{path: d.path + name, name: name, isDir: isDir, fold: d.rules.o.IgnoreCase}
	for at := d.nearest; at != nil; at = at.parent.above() {
		if ignored, ok := at.own.judge(c, len(at.path)); ok {
			return ignored
		}
	}
	for i := len(d.rules.outside) - 1; i >= 0; i-- {
		if ignored, ok := d.rules.outside[i].judge(c, 0); ok {
			return ignored
		}
	}
	return false
}

// Excluded reports whether the directory itself is ignored, and with it all
// that is below it.
func (d *Dir) Excluded() bool {
	d.once.Do(d.load)
	return d.excluded
}

// load reads the directory's own rules, unless it is ignored itself.
func (d *Dir) load() {
	if d.parent != nil && d.parent.Ignored(d.name, true) {
		d.excluded = true
		return
	}
	d.own = d.rules.inside(d.path, d.mayHaveFile)
	d.nearest = d
	if len(d.own.patterns) == 0 {
		d.nearest = d.parent.above()
	}
}

// above returns the nearest directory with rules of its own, from d upwards.
// d has been loaded by then, or is nil above the root.
func (d *Dir) above() *Dir {
	if d == nil {
		return nil
	}
	return d.nearest
}

// inside reads the .gitignore file of a directory of the work tree.
func (r *Rules) inside(dir string, mayHaveFile bool) list {
	if mayHaveFile {
		path := filepath.Join(r.o.WorkTree, filepath.FromSlash(dir), fileName)
		if text, ok := r.read(path, false); ok {
			return parse(text)
		}
	}
	if r.o.FromIndex != nil {
		if text, ok := r.o.FromIndex(dir + fileName); ok {
			return parse(string(text))
		}
	}
	return list{}
}
