// Package ignore tells which untracked files git ignores. It follows gitignore(5), and git's
// behaviour where the manual is silent.
package ignore

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"codeloops/internal/file"
	"codeloops/internal/repo/pattern"
)

// Options say where the rules are.
type Options struct {
	WorkTree     string // absolute path; "": no file in it is read
	InfoExclude  string // the repository's own rules; may be missing
	ExcludesFile string // the user's rules; "" or missing: none
	IgnoreCase   bool   // core.ignoreCase
	// Outside are the contents of ExcludesFile and InfoExclude, or what is to count as them. Nil: New
	// reads the files.
	Outside []string

	// FromIndex returns the content of a .gitignore file that is marked skip-worktree in the
	// index, given its path from the root. It is called where the work tree has no such file,
	// possibly from several goroutines. May be nil.
	FromIndex func(path string) ([]byte, bool)
}

// Rules are the ignore rules of one work tree. They are safe for concurrent use.
type Rules struct {
	o       Options
	outside []list // the user's, then the repository's

	mu     sync.Mutex
	unread map[string]error // by path
}

// New reads the rules outside the work tree. Those inside are read when needed.
func New(o Options) *Rules {
	r := &Rules{o: o, unread: make(map[string]error)}
	if o.Outside == nil {
		for _, path := range []string{o.ExcludesFile, o.InfoExclude} {
			text, _ := r.read(path, file.Options{})
			r.o.Outside = append(r.o.Outside, text)
		}
	}
	for _, text := range r.o.Outside {
		r.outside = append(r.outside, parse(text))
	}
	return r
}

// Options returns where the rules are, with what is outside the work tree.
func (r *Rules) Options() Options { return r.o }

// A Dir is the rules in force in one directory. It is safe for concurrent use.
type Dir struct {
	rules  *Rules
	parent *Dir   // nil for the root
	name   string // in the parent
	path   string // from the root, with a slash at the end; "" for the root

	// Set when the first name is looked up.
	once     sync.Once
	excluded bool
	own      list
}

// Root returns the rules of the work tree's root.
func (r *Rules) Root() *Dir { return &Dir{rules: r} }

// Sub returns the rules of a subdirectory. It does not read them before the first name is looked
// up.
func (d *Dir) Sub(name string) *Dir {
	return &Dir{rules: d.rules, parent: d, name: name, path: d.path + name + "/"}
}

// Dir returns the rules of a directory, given its path from the root: "", or with a slash at the end.
func (r *Rules) Dir(path string) *Dir {
	dir := r.Root()
	for name := range strings.SplitAfterSeq(path, "/") {
		if name != "" {
			dir = dir.Sub(strings.TrimSuffix(name, "/"))
		}
	}
	return dir
}

// Ignored reports whether git ignores an untracked file, given its path from the root.
func (r *Rules) Ignored(path string) bool {
	end := strings.LastIndexByte(path, '/') + 1
	return r.Dir(path[:end]).Ignored(path[end:], false)
}

// Ignored reports whether git ignores an untracked file or directory of that name in the directory.
// Everything in an ignored directory is ignored.
func (d *Dir) Ignored(name string, isDir bool) bool {
	d.once.Do(d.load)
	if d.excluded {
		return true
	}
	path, fold := d.path+name, d.rules.o.IgnoreCase
	for at := d; at != nil; at = at.parent { // load has loaded the parents
		if ignored, ok := at.own.judge(path[len(at.path):], name, isDir, fold); ok {
			return ignored
		}
	}
	for _, list := range slices.Backward(d.rules.outside) {
		if ignored, ok := list.judge(path, name, isDir, fold); ok {
			return ignored
		}
	}
	return false
}

// Excluded reports whether the directory itself is ignored.
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
	d.own = d.rules.inside(d.path)
}

// inside reads the .gitignore file of a directory of the work tree.
func (r *Rules) inside(dir string) list {
	if r.o.WorkTree != "" {
		path := filepath.Join(r.o.WorkTree, filepath.FromSlash(dir), fileName)
		if text, ok := r.read(path, file.Options{NoFollow: true}); ok {
			return parse(text)
		}
	}
	if r.o.FromIndex != nil {
		if text, ok := r.o.FromIndex(dir + fileName); ok {
			return parse(string(text))
		}
	}
	return nil
}

func (r *Rules) read(path string, how file.Options) (text string, ok bool) {
	data, _, err := file.Read(path, how)
	if err != nil && !file.Missing(err) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.unread[path] = err
	}
	return string(data), err == nil
}

// Unread returns the errors of rule files that exist but could not be read, by path.
func (r *Rules) Unread() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.unread)
}

const fileName = ".gitignore"

// A list is the rules of one file.
type list []pattern.Pattern // the last match counts

// judge applies the list to a path relative to its directory, given the last element of the path. It
// returns ok false if no rule matches.
func (l list) judge(path, name string, isDir, fold bool) (ignored, ok bool) {
	for _, p := range slices.Backward(l) {
		if p.Match(path, name, isDir, fold) {
			return !p.Negated, true
		}
	}
	return false, false
}

// parse parses a file of rules, by the section "PATTERN FORMAT" of gitignore(5).
func parse(text string) (l list) {
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		line, _, _ = strings.Cut(line, "\x00")
		if line = trimSpaces(line); line == "" || line[0] == '#' {
			continue
		}
		l = append(l, pattern.Parse(line))
	}
	return l
}

// trimSpaces removes trailing spaces, except for one that is escaped.
func trimSpaces(line string) string {
	end := len(strings.TrimRight(line, " "))
	if end == len(line) {
		return line
	}
	slashes := end - len(strings.TrimRight(line[:end], `\`))
	if slashes%2 == 1 {
		end++
	}
	return line[:end]
}
