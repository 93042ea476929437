package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/file"
)

const (
	idLen     = 40      // hex digits of a SHA-1
	maxRef    = 4 << 10 // bytes of a loose ref
	maxPacked = 1 << 30 // bytes of packed-refs
	maxLinks  = 5       // of symbolic refs, as in git
	headName  = "HEAD"
)

// A Head is the value of HEAD, or of a branch.
type Head struct {
	Commit string // 40 hex digits; "" on a branch without commits
	Branch string // without refs/heads/; "" if HEAD is detached, or the branch stands for none
}

// Head reads HEAD.
func (r *Repository) Head() (Head, error) { return r.follow(headName) }

// Branch resolves a branch, given its name without refs/heads/, which may stand for another one. Its commit is "" if
// there is no such branch.
func (r *Repository) Branch(name string) (Head, error) {
	if name = "refs/heads/" + name; !validRef(name) {
		return Head{}, nil
	}
	return r.follow(name)
}

// follow resolves a reference, by "ref" and "symref" in gitglossary(7).
func (r *Repository) follow(first string) (Head, error) {
	name := first
	for range maxLinks {
		v, err := r.read(name)
		if err != nil {
			return Head{}, fmt.Errorf("read the ref %s: %w", name, err)
		}
		if v.target == "" {
			if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok {
				return Head{Commit: v.commit, Branch: branch}, nil
			}
			return Head{Commit: v.commit}, nil
		}
		name = v.target
	}
	return Head{}, fmt.Errorf("follow %s to %s: too many symbolic refs", first, name)
}

// A ref is the value of a reference. One field is set, or none if the reference does not exist.
type ref struct {
	commit string
	target string // the ref that a symbolic ref names
}

var errBadRef = errors.New("malformed ref")

func (r *Repository) read(name string) (ref, error) {
	v, err := r.loose(name)
	if err == nil && name != headName && v == (ref{}) {
		err = r.eachPacked(func(packed, id string) {
			if packed == name {
				v.commit = id
			}
		})
	}
	return v, err
}

// loose reads a reference that has its own file.
func (r *Repository) loose(name string) (ref, error) {
	path := filepath.Join(r.dirOf(name), filepath.FromSlash(name))
	if target, err := os.Readlink(path); err == nil && validRef(filepath.ToSlash(target)) {
		return ref{target: filepath.ToSlash(target)}, nil
	}
	data, _, err := file.Read(path, file.Options{Max: maxRef})
	switch {
	case file.Missing(err), errors.Is(err, file.ErrNotRegular):
		return ref{}, nil // a directory of other references, perhaps an empty one
	case err != nil:
		return ref{}, err
	}
	text := strings.TrimRight(string(data), " \t\r\n")
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		if target = strings.TrimLeft(target, " \t\r\n"); !validRef(target) {
			return ref{}, errBadRef
		}
		return ref{target: target}, nil
	}
	if !startsWithID(text) || len(text) > idLen && !strings.ContainsRune(" \t\r\n", rune(text[idLen])) {
		return ref{}, errBadRef
	}
	return ref{commit: strings.ToLower(text[:idLen])}, nil
}

// dirOf returns the directory that a reference is in: work trees share most of them.
func (r *Repository) dirOf(name string) string {
	for _, own := range []string{headName, "refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			return r.GitDir
		}
	}
	return r.CommonDir
}

// eachPacked calls take for the references in packed-refs.
func (r *Repository) eachPacked(take func(name, id string)) error {
	data, _, err := file.Read(filepath.Join(r.CommonDir, "packed-refs"), file.Options{Max: maxPacked})
	if err != nil && !file.Missing(err) {
		return err
	}
	for line := range strings.Lines(string(data)) {
		id, name, found := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if found && len(id) == idLen && plumbing.IsHash(id) {
			take(name, id)
		}
	}
	return nil
}

// validRef reports whether name is below refs/ and safe to use as a path. The other rules of
// git-check-ref-format(1) do not matter for reading.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.ContainsAny(name, "\\\x00\n") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// startsWithID reports whether a text begins with an object id.
func startsWithID(text string) bool { return len(text) >= idLen && plumbing.IsHash(text[:idLen]) }

// Refs returns references by name: those with the given names, and those below them, as below "refs/tags/". The value
// is an object id, the name of another reference, or the error if it cannot be read.
func (r *Repository) Refs(names ...string) map[string]string {
	refs := make(map[string]string)
	for _, name := range names { // first, because git may move some to packed-refs meanwhile
		r.looseAt(name, refs)
	}
	err := r.eachPacked(func(packed, id string) {
		wanted := slices.ContainsFunc(names, func(name string) bool {
			return strings.HasPrefix(packed+"/", strings.TrimSuffix(name, "/")+"/")
		})
		if _, loose := refs[packed]; wanted && !loose {
			refs[packed] = id
		}
	})
	if err != nil {
		refs[names[0]] = err.Error()
	}
	return refs
}

// Resolved is Refs with only object ids: those of a symbolic reference are those of the one that it stands for. Broken
// references are left out, as git does, unless they are given by name.
func (r *Repository) Resolved(names ...string) (map[string]string, error) {
	refs := r.Refs(names...)
	for name, is := range refs {
		if strings.HasPrefix(is, "refs/") {
			at, _ := r.follow(name) // an error means that it stands for nothing
			is = at.Commit
		}
		switch {
		case plumbing.IsHash(is):
			refs[name] = is
		case is != "" && slices.Contains(names, name):
			return nil, fmt.Errorf("read %s in %s: %s", name, r.CommonDir, is)
		default:
			delete(refs, name)
		}
	}
	return refs, nil
}

// looseAt adds the references with a name, and below it, that have their own files.
func (r *Repository) looseAt(name string, refs map[string]string) {
	root := r.dirOf(name)
	_ = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(name)), func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, path)
		name := filepath.ToSlash(rel)
		var v ref
		switch {
		case file.Missing(err), relErr != nil:
			return nil //nolint:nilerr // it does not exist, or was just removed
		case err == nil && !d.IsDir() && !strings.HasSuffix(name, ".lock"):
			v, err = r.loose(name)
		}
		if err != nil {
			refs[name] = err.Error()
		} else if v != (ref{}) {
			refs[name] = v.commit + v.target
		}
		return nil
	})
}
