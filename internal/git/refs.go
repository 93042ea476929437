package git

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

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
func (r *Repository) Head() (h Head, err error) {
	out, err := r.ask("rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
	if err == nil {
		commit, name, _ := strings.Cut(string(out), "\n")
		h.Commit = commit
		h.Branch, _ = strings.CutPrefix(strings.TrimSpace(name), branches)
		if h.Branch == "HEAD" {
			h.Branch = ""
		}
		return h, nil
	}
	if out, err = r.ask("symbolic-ref", "HEAD"); err != nil {
		return h, fmt.Errorf("read HEAD of %s: %w", r.GitDir, err)
	}
	h.Branch, _ = strings.CutPrefix(strings.TrimSpace(string(out)), branches) // it has no commit yet
	return h, nil
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

// Refs returns the ids of references by name: those with the given names, and those below them, as below "refs/tags/".
// A symbolic one has the id of what it stands for. Broken references are left out, as git does, unless they are given by
// name. There are none where there is no repository.
func (r *Repository) Refs(names ...string) (map[string]string, error) {
	all, err := r.list(names...)
	refs := make(map[string]string, len(all))
	for name, is := range all {
		refs[name] = is.id
	}
	return refs, err
}

// A ref is the value of a reference: the id of an object, and for a symbolic one what it stands for.
type ref struct{ id, target string }

func (r *Repository) list(names ...string) (map[string]ref, error) {
	if _, err := os.Stat(r.GitDir); file.Missing(err) {
		return nil, nil
	}
	var says strings.Builder
	out, err := r.says(&says, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, names...)...)
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

// ask runs git in the git directory.
func (r *Repository) ask(args ...string) ([]byte, error) { return r.says(nil, args...) }

func (r *Repository) says(to *strings.Builder, args ...string) ([]byte, error) {
	call := proc.Call{}
	if to != nil {
		call.Says = to
	}
	return asked(call, r.GitDir, r.environ, append([]string{"--git-dir=" + r.GitDir}, args...)...)
}
