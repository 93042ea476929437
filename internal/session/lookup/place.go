// Package lookup finds the sessions that a user means.
package lookup

import (
	"path/filepath"
	"strings"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/session"
)

// A Place identifies the user's work tree, so that its sessions can be told from those of
// other repositories.
type Place struct {
	root   string // of the work tree; "" outside of a repository
	common string // the common git directory of the repository; "" outside of one
	known  map[string]*git.Repository
}

// Here is the place of the working directory.
func Here(h *host.Host) *Place {
	if r, err := git.Open(h.Dir, h.Environ); err == nil {
		return PlaceOf(r.WorkTree, r.Family)
	}
	return PlaceOf("", "")
}

// PlaceOf is the place of a work tree, given its root, "" if there is none, and the common git
// directory of its repository.
func PlaceOf(root, common string) *Place {
	return &Place{root: root, common: common, known: map[string]*git.Repository{}}
}

// Root is the root of the work tree, "" outside of a repository.
func (p *Place) Root() string { return p.root }

// repository returns the repository of a directory, nil if there is none.
func (p *Place) repository(dir string) *git.Repository {
	r, seen := p.known[dir]
	if !seen {
		// GIT_DIR and its like apply only to the working directory.
		r, _ = git.Open(dir, nil)
		p.known[dir] = r
	}
	return r
}

// Tree reports whether a session worked in the user's work tree. Outside of a repository,
// every session counts that is not a demonstration.
func (p *Place) Tree(s session.Overview) bool {
	if p.common == "" {
		return !OfDemo(s)
	}
	dir := p.workedIn(s)
	r := p.repository(dir)
	return inside(dir, p.root) && (r == nil || r.WorkTree == p.root || !inside(r.WorkTree, p.root))
}

// Shares reports whether a session worked in any work tree of the repository.
func (p *Place) Shares(s session.Overview) bool {
	if p.Tree(s) {
		return true
	}
	if s.Session.Task != "" && p.common != "" && s.Session.Checkpoints == session.CheckpointsFor(p.common) {
		return true // its work tree goes when its result is merged
	}
	r := p.repository(p.workedIn(s))
	return r != nil && r.Family == p.common
}

// workedIn is the directory of a session, with symbolic links resolved if it still exists.
func (*Place) workedIn(s session.Overview) string {
	if dir, err := filepath.EvalSymlinks(s.Session.WorkingDir); err == nil {
		return dir
	}
	return s.Session.WorkingDir
}

// inside reports whether a directory is root, or below it.
func inside(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// DemoDir is the prefix of a demonstration's throw-away directory.
const DemoDir = "codeloops-demo-"

// OfDemo reports whether a session is a demonstration, which is not part of the user's work.
func OfDemo(one session.Overview) bool {
	s := one.Session
	return s.Actor.Agent == scripted.Name && strings.HasPrefix(filepath.Base(filepath.Dir(s.WorkingDir)), DemoDir)
}
