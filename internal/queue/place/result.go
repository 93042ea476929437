package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Judged is what a critic has approved: what has changed between two checkpoints of a session.
type Judged struct {
	Start, End string   // their commits
	Objects    []string // the directories of the private repositories that have them
}

// ErrUnjudged says that a place has changes that no critic has approved.
var ErrUnjudged = errors.New("no critic has approved")

// draft begins where results are made, which reads other objects, too.
func (p *Place) draft(of ...string) (d *git.Draft, done func(), err error) {
	return p.repo.Draft(p.beside("draft"), append(of, filepath.Join(p.Dir, ".git", "objects"))...)
}

// Commit makes the result of a session: what its critic has approved, and nothing else, on top of what it began at. The
// branch is then at the commit that it returns. It is what the work began at if nothing was approved. The error is
// [ErrConflicts] where some are left.
func (p *Place) Commit(ctx context.Context, message string, j *Judged) (head string, err error) {
	head, err = p.commit(ctx, message, j)
	if err != nil && !errors.Is(err, ErrConflicts) { // the caller reports those to the actor
		return "", fmt.Errorf("commit the work of task %s: %w", p.Task, err)
	}
	return head, err
}

func (p *Place) commit(ctx context.Context, message string, j *Judged) (string, error) {
	d, done, err := p.draft(j.Objects...)
	defer done()
	if err != nil {
		return "", err
	}
	entries, err := p.approved(ctx, d, j)
	if err != nil {
		return "", err
	}
	tree, err := d.With(ctx, p.start.commit, entries)
	if err != nil {
		return "", err
	}
	if err := cmp.Or(p.outside(ctx, d, tree), p.conflicts(ctx, d, tree)); err != nil {
		return "", err
	}
	head, err := p.seal(ctx, d, tree, message)
	if err == nil {
		err = p.point(ctx, head)
	}
	return head, err
}

// seal makes a commit of a tree, on top of the start of the work, and gives it to the user's repository. What commits an agent
// has made is not in its history, as no critic has seen them.
func (p *Place) seal(ctx context.Context, d *git.Draft, tree, message string) (commit string, err error) {
	if len(p.start.parents) == 1 {
		if was, err := d.Git(ctx, "rev-parse", p.start.commit+"^{tree}"); err != nil || was == tree {
			return p.start.commit, err
		}
	}
	if commit, err = d.Commit(ctx, tree, message, p.start.parents...); err != nil {
		return "", err
	}
	return commit, d.Give(ctx, commit, held+p.Task)
}

// approved returns the entries of what a critic has approved, by path. What was different from the start of the work before
// the session is not among them, as no critic has seen that.
func (p *Place) approved(ctx context.Context, d *git.Draft, j *Judged) (map[string]string, error) {
	all, err := p.changes(ctx, d, j)
	if err == nil {
		err = p.unseen(ctx, d, j, all)
	}
	if err != nil {
		return nil, err
	}
	entries := map[string]string{}
	var nested []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		switch c := all[path]; {
		case c.start == c.end:
		case c.remade && c.end != git.Absent:
			return nil, hint.Errorf("commit it in "+p.Dir+", git pull that, and take the task out: codeloops queue rm --force "+p.Task, "settings of the repository make git store something else than what is judged of %s: %w that", wording.Path(path), ErrUnjudged)
		case p.aside(path, c.end):
		case p.nested(path):
			nested = append(nested, path)
		default:
			entries[path] = c.end
		}
	}
	return entries, notMerged(nested)
}

// unseen returns an error for what was there before the session, and for large files, which a checkpoint only describes.
func (p *Place) unseen(ctx context.Context, d *git.Draft, j *Judged, changed map[string]*change) error {
	was, now, err := leftOut(ctx, d, j)
	if err != nil {
		return err
	}
	var strange, large []string
	for path, c := range changed {
		dirty := git.Difference{Was: c.base, Now: c.start}
		if c.base != c.start && !c.remade && c.base != was[path] && !dirty.Gone() && !dirty.Nested() && !p.aside(path, c.start) && !p.nested(path) {
			strange = append(strange, wording.Path(path))
		}
	}
	all := maps.Clone(was)
	maps.Copy(all, now)
	for path := range all {
		if was[path] != now[path] && !(git.Difference{Was: was[path], Now: now[path]}).Nested() {
			large = append(large, wording.Path(path))
		}
	}
	slices.Sort(strange)
	switch {
	case len(strange) > 0:
		return hint.Errorf("an earlier session may have left them: look at them in "+p.Dir, "%w: %s", ErrUnjudged, wording.List(strange, 5))
	case len(large) > 0:
		return hint.Errorf("commit them yourself, if you want them: they are in "+p.Dir, "%w what is in large files: %s", ErrUnjudged, wording.List(large, 5))
	}
	return nil
}

// nested reports whether a path is in a repository inside the work tree.
func (p *Place) nested(path string) bool {
	for at, c := range path {
		if c == '/' {
			if _, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(path[:at]), ".git")); err == nil {
				return true
			}
		}
	}
	return false
}

// outside returns an error for a tree that has other commits of submodules, or repositories inside: git stores but a commit,
// and nobody has judged what that has.
func (p *Place) outside(ctx context.Context, d *git.Draft, tree string) error {
	all, err := p.repo.Differences(ctx, d.Env, p.start.commit, tree)
	var nested []string
	for _, c := range all {
		inside := func(other git.Difference) bool { return strings.HasPrefix(other.Path, c.Path+"/") }
		if c.Nested() && (!c.Gone() || slices.ContainsFunc(all, inside)) {
			nested = append(nested, c.Path)
		}
	}
	return cmp.Or(err, notMerged(nested))
}

// notMerged returns an error for paths in repositories inside; nil for none.
func notMerged(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	for i, path := range paths {
		paths[i] = wording.Path(path)
	}
	return hint.Errorf("commit and push it from there, and move a submodule yourself; or remove its .git, and codeloops queue retry goes on",
		"%w what is in a git repository of its own, or in a submodule: %s", ErrUnjudged, wording.List(paths, 5))
}

// aside reports whether what is at a path now is not the task's work.
func (p *Place) aside(path, now string) bool {
	return p.rec.brings(path) || p.rec.Beside[path] == now
}

// leftOut returns the entries of large files that the checkpoints only describe.
func leftOut(ctx context.Context, d *git.Draft, j *Judged) (was, now map[string]string, err error) {
	text, err := d.Git(ctx, "rev-list", "--no-walk=unsorted", "--no-commit-header", "--format=%B%x00", j.Start, j.End)
	messages := strings.Split(strings.TrimSuffix(text, "\x00"), "\x00") // one if both are the same
	return diff.LargeOf(messages[0]), diff.LargeOf(messages[len(messages)-1]), err
}
