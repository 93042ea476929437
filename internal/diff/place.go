package diff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// Repository returns the repository with the settings that it had at the last look, or else when the tree was opened.
func (t *Tree) Repository() (*git.Repository, *git.Config) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened.Repository, t.opened.Config
}

// BaseCommit returns the commit that HEAD was at when the baseline was taken, or else when the
// tree was opened, as 40 hexadecimal digits. It is "" on a branch without commits.
func (s *start) BaseCommit() string { return s.head.Commit }

// Root returns the absolute path of the work tree, free of symbolic links.
func (p *place) Root() string { return p.repo.WorkTree }

// GitDir returns the absolute path of the work tree's git directory.
func (p *place) GitDir() string { return p.repo.GitDir }

// CommonDir returns the absolute path of the git directory that all work trees of the repository
// share, also of a task. It is GitDir unless this is a linked work tree.
func (p *place) CommonDir() string { return p.repo.Family }

// LockMode returns the permissions of a lock file in the git directory: everybody who shares the
// repository (core.sharedRepository) must be able to take it, as git lets them write HEAD.
func (p *place) LockMode() os.FileMode {
	const own = 0o600
	info, err := os.Stat(filepath.Join(p.GitDir(), "HEAD"))
	if err != nil || info.Mode()&0o020 == 0 {
		return own
	}
	return info.Mode().Perm()&0o666 | own
}

// Head returns the commit and the branch that HEAD is at now. Either may be "".
func (p *place) Head() (commit, branch string, err error) {
	head, err := p.repo.Head()
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	return head.Commit, head.Branch, nil
}

// The references that matter besides HEAD.
const (
	tags         = "refs/tags/"
	replacements = "refs/replace/" // replaced objects
)

// position returns where the repository stood at the last look.
func (w *watcher) position() loop.Position {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.refs)) {
		if strings.HasPrefix(name, tags) {
			fmt.Fprintf(&all, "%q %q\n", name, w.refs[name])
		}
	}
	return loop.Position{Head: w.where(), Index: w.tracked.digest, Tags: digest(all.String())}
}

// where says in words where HEAD was at the last look.
func (s *seen) where() string {
	switch {
	case s.atErr != nil:
		return "a place that cannot be read"
	case s.at.Commit == "":
		return fmt.Sprintf("%q without commits", s.at.Branch)
	}
	return whereIs(s.at.Commit, wording.Name(s.at.Branch))
}

func whereIs(commit, branch string) string {
	if branch == "" {
		return short(commit)
	}
	return fmt.Sprintf("%q at %s", branch, short(commit))
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// reopen reads the configuration again. The directory that the session began in may be gone by
// now, or be part of another repository.
func (w *watcher) reopen() error {
	var reading sync.WaitGroup
	reading.Go(func() { w.at, w.refs, w.atErr = w.repo.Position(tags, replacements) })
	found, err := openedAt(w.dir, w.options.Environ)
	if err != nil {
		found, err = openedAt(w.Root(), w.options.Environ)
	}
	same := err == nil && found.GitDir == w.GitDir()
	switch {
	case same && found.WorkTree == w.Root():
		w.elsewhere = ""
	case err == nil && !same:
		w.elsewhere = found.GitDir
		fallthrough
	default:
		found, err = openedAt(w.Root(), w.environment(w.GitDir(), w.Root()))
	}
	reading.Wait()
	if errors.Is(err, ErrNotRepository) {
		err = w.lost()
	}
	if err != nil {
		return err
	}
	w.opened = found
	if w.excludes, err = found.ExcludesFile(); err != nil {
		return err
	}
	w.files = fileSystem{FileMode: true, Symlinks: true}
	for key, field := range map[string]*bool{
		"core.fileMode": &w.files.FileMode, "core.symlinks": &w.files.Symlinks,
		"core.ignoreCase": &w.files.IgnoreCase, "core.precomposeUnicode": &w.files.Precompose,
	} {
		if *field, err = found.Bool(key, *field); err != nil {
			return err
		}
	}
	return nil
}

// lost returns the error for a repository that was removed or damaged during the session.
func (p *place) lost() error {
	if _, err := os.Lstat(p.GitDir()); file.Missing(err) {
		return fmt.Errorf("the repository that the session began in is gone: %w", err)
	}
	return fmt.Errorf("%s, which the session began in, is %w any more", p.GitDir(), ErrNotRepository)
}

// environment returns the user's environment, with variables that name a given repository.
func (p *place) environment(gitDir, workTree string) []string {
	return append(git.WithoutRepository(p.options.Environ), "GIT_DIR="+gitDir, "GIT_WORK_TREE="+workTree)
}

// absolute returns the absolute path of a slash-separated one.
func (p *place) absolute(path string) string {
	return filepath.Join(p.Root(), filepath.FromSlash(path))
}

// nameOf returns the path from the root if a file is in the work tree, or else the path as given.
func (p *place) nameOf(path string) string {
	if below, err := filepath.Rel(p.Root(), path); err == nil && filepath.IsLocal(below) {
		return filepath.ToSlash(below)
	}
	return path
}

// Blob returns the content of a blob of the baseline or the repository, given its full id.
func (t *Tree) Blob(ctx context.Context, id string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.make(); err != nil {
		return nil, err
	}
	content, err := t.objects.blob(plumbing.NewHash(id))
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return content, err
	}
	v := &view{shadow: t.shadow, also: t.objectDirs()}
	if content, err = v.run(ctx, nil, nil, "cat-file", "blob", id); err == nil && plumbing.ComputeHash(plumbing.BlobObject, content).String() != id {
		err = ErrForged
	}
	return content, err
}

// committedState returns the files of a commit of the repository, with those of nests as they are now. It keeps them.
func (t *Tree) committedState(ctx context.Context, commit string) (*state, error) {
	v := &view{shadow: t.shadow, also: t.objectDirs()}
	out, err := v.run(ctx, nil, nil, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return nil, err
	}
	tree := plumbing.NewHash(strings.TrimSpace(string(out)))
	if t.keptIn, err = t.keep(ctx, plumbing.ZeroHash, tree); err != nil {
		return nil, err
	}
	t.kept = tree
	edits := map[string]*object.TreeEntry{}
	for _, name := range t.basis.nests {
		if edits[name], err = t.objects.at(t.basis.state.tree, name); err != nil {
			return nil, err
		}
	}
	if tree, err = t.objects.edited(tree, edits); err != nil {
		return nil, err
	}
	return t.objects.named(tree, beside{Links: t.basis.state.Links})
}
