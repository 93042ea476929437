package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"codeloops/internal/diff/repo"
	"codeloops/internal/session"
)

// A place is where the user stands, by which sessions of their own repository are
// told from others.
type place struct {
	root   string // of the work tree, "" without a repository
	common string // what all work trees of the repository share, "" without one
	known  map[string]*repo.Repository
}

// here is the place of the working directory.
func (a *app) here() *place {
	p := &place{known: map[string]*repo.Repository{}}
	if r, err := repo.Open(a.dir, a.lookupEnv); err == nil {
		p.root, p.common = r.WorkTree, r.CommonDir
	}
	return p
}

// repository returns the repository of a directory, nil for none.
func (p *place) repository(dir string) *repo.Repository {
	r, seen := p.known[dir]
	if !seen {
		// GIT_DIR and its like are about the place where the user stands.
		r, _ = repo.Open(dir, func(string) (string, bool) { return "", false })
		p.known[dir] = r
	}
	return r
}

// tree reports whether a session worked in the work tree where the user stands.
// Where there is none, each does that is no demonstration.
func (p *place) tree(s session.Summary) bool {
	if p.common == "" {
		return !ofDemo(s)
	}
	dir := p.workedIn(s)
	r := p.repository(dir)
	return inside(dir, p.root) && (r == nil || r.WorkTree == p.root || !inside(r.WorkTree, p.root))
}

// shares reports whether a session worked in any work tree of the repository.
func (p *place) shares(s session.Summary) bool {
	if p.tree(s) {
		return true
	}
	r := p.repository(p.workedIn(s))
	return r != nil && r.CommonDir == p.common
}

// workedIn is the directory of a session, free of links as far as it is there.
func (*place) workedIn(s session.Summary) string {
	if dir, err := filepath.EvalSymlinks(s.Session.WorkingDir); err == nil {
		return dir
	}
	return s.Session.WorkingDir
}

// inside reports whether a directory is another one, or below it.
func inside(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// beElsewhere lets a command write to a work tree in which the user does not stand
// only when they have named the session and agreed. The question begins with what is
// to be done, and the tree.
func (a *app) beElsewhere(ctx context.Context, root, ref, what string, yes bool) error {
	if root == a.here().root || yes && !session.IsLatest(ref) {
		return nil
	}
	if yes {
		return usagef("name the session, or go there", "%s is not the work tree you stand in", root)
	}
	return a.sure(ctx, fmt.Sprintf("%s is not the work tree you stand in; %s?", root, what))
}

// strange reports whether there are sessions, and none of them counts here.
func (p *place) strange(store *session.Store) bool {
	_, own := store.Latest(p.shares)
	_, other := store.Latest(nil)
	return own != nil && other == nil
}

// none is the error of who looks for the latest session where all are strange.
func (p *place) none(store *session.Store) error {
	whose := "of this repository"
	if p.common == "" {
		whose = "but demonstrations"
	}
	return &hintedError{
		fmt.Errorf("%w: %s holds none %s", session.ErrNotFound, store.Dir(), whose),
		"name one (`codeloops sessions list` shows what there is), or take the latest of any directory: --all",
	}
}

// which returns the sessions among which "latest" is looked for: those of the work
// tree; where it has none, those of the repository's other work trees.
func (p *place) which(store *session.Store) func(session.Summary) bool {
	if _, err := store.Resolve("", p.tree); errors.Is(err, session.ErrNotFound) {
		return p.shares
	}
	return p.tree
}
