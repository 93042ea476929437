package git

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"codeloops/internal/file"
	"codeloops/internal/proc"
)

const branches = "refs/heads/"

// A Head is the value of HEAD, or of a branch.
type Head struct {
	Commit string // its id; "" on a branch without commits
	Branch string // without refs/heads/; "" if HEAD is detached, or the branch stands for none
}

// Head reads HEAD.
func (r *Repository) Head() (Head, error) {
	head, _, err := r.Position()
	return head, err
}

// Position reads HEAD, and references as [Repository.Refs] does.
func (r *Repository) Position(names ...string) (h Head, refs map[string]string, err error) {
	at := filepath.Join(r.GitDir, "HEAD")
	content, _, err := file.Read(at, file.Options{})
	target, symbolic := strings.CutPrefix(strings.TrimSpace(string(content)), "ref:")
	if link, notLink := os.Readlink(at); notLink == nil { // as git once made it
		target, symbolic, err = link, true, nil
	}
	switch target = strings.TrimSpace(target); {
	case err != nil:
		return h, nil, fmt.Errorf("read HEAD of %s: %w", r.GitDir, err)
	case symbolic && target != "":
		names = append(names, target)
	case !plumbing.IsHash(target):
		return h, nil, fmt.Errorf("read HEAD of %s: %w", r.GitDir, errBroken)
	default:
		h.Commit = target
	}
	if len(names) == 0 {
		return h, nil, nil
	}
	all, err := r.list(names...)
	if symbolic {
		is := all[target]
		h.Commit = is.id
		h.Branch, _ = strings.CutPrefix(cmp.Or(is.target, target), branches) // without a commit there is no such reference yet
	}
	return h, ids(all), err
}

// Branch resolves a branch, given its name without refs/heads/, which may stand for another one. Its commit is "" if
// there is no such branch, or it stands for something else.
func (r *Repository) Branch(name string) (Head, error) {
	all, err := r.list(branches + name)
	is, known := all[branches+name]
	if err != nil || !known || name == "" {
		return Head{}, err
	}
	if is.target != "" {
		if name, known = strings.CutPrefix(is.target, branches); !known {
			return Head{}, nil
		}
	}
	return Head{is.id, name}, nil
}

// Refs returns the ids of references by name: those with the given names, and those below names that end in a slash, such as
// "refs/tags/".
// A symbolic one has the id of what it stands for. Broken references are left out, as git does, unless they are given by
// name. There are none where there is no repository.
func (r *Repository) Refs(names ...string) (map[string]string, error) {
	all, err := r.list(names...)
	return ids(all), err
}

func ids(of map[string]ref) map[string]string {
	all := make(map[string]string, len(of))
	for name, is := range of {
		all[name] = is.id
	}
	return all
}

// A ref is the value of a reference: the id of an object, and for a symbolic one what it stands for.
type ref struct{ id, target string }

func (r *Repository) list(names ...string) (all map[string]ref, err error) {
	for range 3 { // git takes a reference for broken that is deleted while it reads it
		if all, err = r.read(names...); !errors.Is(err, errBroken) {
			break
		}
	}
	return all, err
}

// read asks git for references. Those that are all given by name are read in this process, as it takes git milliseconds to
// start.
func (r *Repository) read(names ...string) (map[string]ref, error) {
	if _, err := os.Stat(r.GitDir); file.Missing(err) {
		return nil, nil
	}
	if !slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, "/") }) {
		return r.named(names)
	}
	var says strings.Builder
	args := append([]string{"--git-dir=" + r.GitDir, "for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, names...)
	out, err := asked(proc.Call{Says: &says}, r.GitDir, r.environ, args...)
	if err != nil {
		return nil, fmt.Errorf("read references of %s: %w", r.GitDir, err)
	}
	for line := range strings.Lines(says.String()) {
		if name, broken := strings.CutPrefix(strings.TrimSpace(line), "warning: ignoring broken ref "); broken && slices.Contains(names, name) {
			return nil, fmt.Errorf("read %s in %s: %w", name, r.GitDir, errBroken)
		}
	}
	all := map[string]ref{}
	for line := range strings.Lines(string(out)) {
		if parts := strings.Split(strings.TrimSuffix(line, "\n"), " "); len(parts) > 2 {
			all[parts[1]] = ref{parts[0], parts[2]}
		}
	}
	return all, nil
}

var errBroken = errors.New("malformed ref")

// named reads references by name.
func (r *Repository) named(names []string) (map[string]ref, error) {
	const deepest = 5 // as in git
	all, from := map[string]ref{}, dotgit.New(plainFiles{osfs.New(r.CommonDir)})
	for _, name := range names {
		is, err := from.Ref(plumbing.ReferenceName(name))
		for depth := 0; err == nil && is.Type() == plumbing.SymbolicReference && depth < deepest; depth++ {
			is, err = from.Ref(is.Target())
		}
		switch {
		case errors.Is(err, plumbing.ErrReferenceNotFound), errors.Is(err, dotgit.ErrReferenceNameEscape): // there can be none of such a name
		case err != nil:
			return nil, fmt.Errorf("read %s in %s: %w", name, r.GitDir, err)
		case is.Hash().IsZero():
			return nil, fmt.Errorf("read %s in %s: %w", name, r.GitDir, errBroken)
		default:
			all[name] = ref{is.Hash().String(), ""}
			if string(is.Name()) != name {
				all[name] = ref{is.Hash().String(), string(is.Name())}
			}
		}
	}
	return all, nil
}

// plainFiles are the regular files of a directory: anybody may have put a pipe into a repository.
type plainFiles struct{ billy.Filesystem }

// Open implements [billy.Filesystem].
func (f plainFiles) Open(name string) (billy.File, error) {
	info, err := f.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: file.ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	return f.Filesystem.Open(name)
}
