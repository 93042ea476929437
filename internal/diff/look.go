package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/wording"
)

// A found is what a look at one work tree has found. Paths are from its root.
type found struct {
	tree  plumbing.Hash // of the files, without large ones and repositories inside
	large map[string]entry
	// ignored are the paths that git ignores. Directories end in a slash; nothing is said of what is in them.
	ignored []string
	// selfIgnored are the directories, with a slash at the end, that ignore themselves by a .gitignore inside.
	selfIgnored []string
	inside      []string         // repositories inside that are not treated as directories
	unread      map[string]error // what could not be read; directories end in a slash
}

// An eye looks at one work tree.
type eye struct {
	view
	first   bool            // a repository inside is one, and not a directory; what is found goes into the index
	apart   map[string]bool // directories that are looked at by themselves
	fs      fileSystem
	files   *objects
	base    plumbing.Hash // the tree of the index, unless this is the first look
	tracked *tracked      // the user's index
	large   *largeFiles
	also    map[string]entry // more paths in scope
	modes   map[string]uint32
	cut     map[string]bool // whether a sparse checkout leaves files in the index out
	found
	edits   map[string]*object.TreeEntry // to base
	changed map[string]bool              // to read
	places  map[string]bool              // files of ours that make git look into a repository
}

// A fileSystem is what the configuration says about the file system of the work tree.
type fileSystem struct{ FileMode, Symlinks, IgnoreCase, Precompose bool }

func (f fileSystem) flags() []string {
	var all []string
	for name, is := range map[string]bool{"fileMode": f.FileMode, "symlinks": f.Symlinks, "ignoreCase": f.IgnoreCase, "precomposeUnicode": f.Precompose} {
		all = append(all, "-c", fmt.Sprintf("core.%s=%t", name, is))
	}
	return all
}

// look finds the files in scope: those in the index, and those that are not ignored. The first look changes the index to
// what it has found, and git reads the files; later ones read those that git finds changed. A file that changes while it
// is read is read again.
func (e *eye) look(ctx context.Context) (err error) {
	const attempts = 5
	begun := e.index
	for range attempts {
		e.index = e.file("index")
		if err = copyIndex(begun, e.index); err != nil {
			return err
		}
		e.found = found{large: map[string]entry{}, unread: map[string]error{}}
		e.changed, e.places, e.edits = map[string]bool{}, map[string]bool{}, map[string]*object.TreeEntry{}
		if err = e.try(ctx); err == nil || ctx.Err() != nil {
			return err
		}
		_ = os.Remove(e.index)
	}
	return err
}

func (e *eye) try(ctx context.Context) error {
	if err := e.enlarge(ctx); err != nil {
		return err
	}
	for {
		inside, err := e.status(ctx)
		if err != nil {
			return err
		}
		if len(inside) == 0 {
			break
		}
		if err := e.enter(ctx, inside); err != nil {
			return err
		}
	}
	if err := e.sort(ctx); err != nil {
		return err
	}
	if err := e.write(ctx); err != nil {
		return err
	}
	deciders, err := e.deciders(ctx)
	if err != nil || len(deciders) == 0 {
		return err
	}
	if err := e.record(ctx, nil, deciders); err != nil {
		return err
	}
	return e.write(ctx)
}

// write writes the tree of what was found.
func (e *eye) write(ctx context.Context) (err error) {
	if !e.first {
		e.tree, err = e.files.edited(e.base, e.edits)
		return err
	}
	out, err := e.run(ctx, nil, nil, "write-tree", "--missing-ok", "--ignore-cache-tree") // the trees that the user's index names may be any
	e.tree = plumbing.NewHash(strings.TrimSpace(string(out)))
	return err
}

// enlarge adds the paths that are in scope besides those that the index began with, as far as there is something.
func (e *eye) enlarge(ctx context.Context) error {
	var lines strings.Builder
	for name, mode := range e.modes {
		lines.WriteString(info(mode, e.also[name].ID, name))
		e.edits[name] = &object.TreeEntry{Mode: filemode.FileMode(mode), Hash: e.also[name].ID}
	}
	for name, is := range e.also {
		if st, err := os.Lstat(e.at(name)); err == nil && !st.IsDir() && e.modes[name] == 0 {
			lines.WriteString(info(is.Mode, is.ID, name))
			e.changed[name] = true // git would not write what the user's repository has
		}
	}
	if err := e.update(ctx, lines.String(), nil); err != nil {
		return err
	}
	for option, is := range map[string]bool{"--skip-worktree": true, "--no-skip-worktree": false} {
		var paths []string
		for name, cut := range e.cut {
			if cut == is {
				paths = append(paths, name)
			}
		}
		if paths == nil {
			continue
		}
		if _, err := e.run(ctx, nil, zs(paths), "update-index", option, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}

func (e *eye) at(name string) string { return filepath.Join(e.root, filepath.FromSlash(name)) }

// couldNot matches what git says of a directory that it cannot read.
var couldNot = wording.Pattern(`(?m)^warning: could not open directory '(.*/)': (.*)$`)

// status asks git what there is. It returns the repositories inside that are to be treated as directories.
func (e *eye) status(ctx context.Context) (inside []string, err error) {
	var says bytes.Buffer
	out, err := e.run(ctx, &says, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	for _, m := range couldNot().FindAllStringSubmatch(says.String(), -1) {
		e.unread[m[1]] = errors.New(strings.ToLower(m[2]))
	}
	e.ignored, e.inside = nil, nil
	for _, line := range fields(out) {
		if len(line) < 4 {
			continue
		}
		if dir := e.meet(line[:2], line[3:]); dir != "" {
			inside = append(inside, dir)
		}
	}
	slices.Sort(e.ignored)
	return inside, nil
}

// meet sorts one path of the status into what was found. It returns a repository inside that is to be treated as a
// directory, "" for none.
func (e *eye) meet(how, name string) (inside string) {
	switch dir, is := strings.CutSuffix(name, "/"); {
	case e.isApart(dir):
	case how == "!!":
		e.ignored = append(e.ignored, name)
	case is && e.first && !(area{names: e.apart}).holds(dir): // to git, a directory with something that the index has
		e.inside = append(e.inside, dir)
	case is:
		return dir
	case e.places[name]:
	case how[1] != ' ' && e.isRepository(name) && !e.first: // in the place of a file
		e.changed[name] = true
		return name
	case how[1] != ' ' || strings.ContainsRune(how, 'U') || how == "AA" || how == "DD":
		e.changed[name] = true
	}
	return ""
}

// isRepository reports whether a path is a directory with a .git.
func (e *eye) isRepository(name string) bool {
	st, err := os.Lstat(e.at(name))
	if err != nil || !st.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(e.at(name), ".git"))
	return err == nil
}

// isApart reports whether a path is in a directory that is looked at by itself, or is one.
func (e *eye) isApart(name string) bool {
	if len(e.apart) == 0 {
		return false
	}
	if st, err := os.Lstat(e.at(name)); e.apart[name] && (err != nil || !st.IsDir()) {
		return false // there is something else now
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if e.apart[dir] {
			return true
		}
	}
	return false
}

// enter lets git look into repositories: it does where the index has a file.
func (e *eye) enter(ctx context.Context, dirs []string) error {
	var lines strings.Builder
	for _, dir := range dirs {
		name := dir + "/.codeloops-place"
		if e.places[name] {
			return fmt.Errorf("git does not look into %s", wording.Name(dir))
		}
		e.places[name] = true
		lines.WriteString(info(Regular, emptyBlob(), name))
	}
	return e.update(ctx, lines.String(), nil)
}

func emptyBlob() plumbing.Hash { return plumbing.ComputeHash(plumbing.BlobObject, nil) }

// Decides reports whether a file of that name decides what git sees of other files. Such a file is in scope even if it
// is ignored: otherwise its own rules could hide it.
func Decides(name string) bool {
	switch path.Base(name) {
	case ".gitignore", ".gitattributes", ".gitmodules":
		return true
	}
	return false
}

// deciders returns the ignored files that decide, except for those in a directory in which git sees nothing else: that
// is then ignored as a whole, like the caches of many tools.
func (e *eye) deciders(ctx context.Context) (readable []string, err error) {
	var all []string
	for _, name := range e.ignored {
		if Decides(name) {
			all = append(all, name)
		}
	}
	for _, name := range all {
		dir := path.Dir(name) + "/"
		switch seen, err := e.sees(ctx, dir, all); {
		case err != nil:
			return nil, err
		case dir != "./" && !seen:
			if path.Base(name) == ".gitignore" && !slices.Contains(e.selfIgnored, dir) {
				e.selfIgnored = append(e.selfIgnored, dir)
			}
			continue
		}
		if reads, err := e.one(ctx, name); err != nil {
			e.unread[name] = err
		} else if reads {
			readable = append(readable, name)
		}
	}
	return readable, nil
}

// sees reports whether there is anything in a directory, given with a slash at the end, but for some files.
func (e *eye) sees(ctx context.Context, dir string, but []string) (bool, error) {
	for name := range e.found.large {
		if strings.HasPrefix(name, dir) {
			return true, nil
		}
	}
	at, err := e.files.at(e.tree, strings.TrimSuffix(dir, "/"))
	if err != nil || at == nil || at.Mode != filemode.Dir {
		return false, err
	}
	files, err := e.files.list(ctx, at.Hash)
	return slices.ContainsFunc(files, func(f listedFile) bool { return !slices.Contains(but, dir+f.name) }), err
}
