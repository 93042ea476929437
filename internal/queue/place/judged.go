package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Judged is what a critic has approved: what has changed between two checkpoints of a session.
type Judged struct {
	Start, End   string   // their commits
	Repositories []string // the private ones that have them
}

// ErrUnjudged says that a place has changes that no critic has approved.
var ErrUnjudged = errors.New("no critic has approved")

// gitlink is the mode of an entry for a commit of another repository.
const gitlink = "160000"

// absent begins an entry that does not exist.
const absent = "000000"

// A difference is a path with its entries, "mode id", in two trees.
type difference struct{ path, was, now string }

func (d difference) nested() bool {
	return strings.HasPrefix(d.was, gitlink) || strings.HasPrefix(d.now, gitlink)
}

// differences compares two trees, which may be in the repository with the checkpoints, too.
func (p *Place) differences(ctx context.Context, j *Judged, was, now string) (all []difference, err error) {
	out, err := p.tree.do(ctx, j.call(), "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", was, now)
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // ":100644 100644 ID ID M", path
		if about := strings.Fields(strings.TrimPrefix(fields[i], ":")); len(about) > 3 {
			all = append(all, difference{fields[i+1], about[0] + " " + about[2], about[1] + " " + about[3]})
		}
	}
	return all, err
}

// call lets git read the objects of the checkpoints.
func (j *Judged) call() (c git.Call) {
	if j == nil {
		return c
	}
	dirs := make([]string, len(j.Repositories))
	for i, dir := range j.Repositories {
		dirs[i] = strconv.Quote(filepath.Join(dir, "objects"))
	}
	c.Env = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(dirs, string(filepath.ListSeparator))}
	return c
}

// leftOut returns the entries of large files that a checkpoint only describes.
func (p *Place) leftOut(ctx context.Context, j *Judged, commit string) (map[string]string, error) {
	text, err := p.tree.do(ctx, j.call(), "cat-file", "commit", commit)
	all := map[string]string{}
	for _, f := range checkpoint.LeftOut(text) {
		all[f.Path] = fmt.Sprintf("%06o %s", f.Mode, f.ID)
	}
	return all, err
}

// approve adds to the approved paths, with their entries, what has changed in a session. What was different from the task's
// work before it is not among them, as no critic has seen that: a session that failed may have left it.
func (p *Place) approve(ctx context.Context, j *Judged, clean string) error {
	if j == nil {
		return nil
	}
	changed, err := p.differences(ctx, j, j.Start, j.End)
	if err != nil {
		return err
	}
	dirty, err := p.differences(ctx, j, clean, j.Start)
	if err != nil {
		return err
	}
	was, err := p.leftOut(ctx, j, j.Start)
	if err != nil {
		return err
	}
	now, err := p.leftOut(ctx, j, j.End)
	if err != nil {
		return err
	}
	for path, entry := range now {
		if was[path] != entry {
			changed = append(changed, difference{path, was[path], entry})
		}
	}
	unseen := map[string]bool{}
	for _, d := range dirty {
		unseen[d.path] = d.was != was[d.path] && !strings.HasPrefix(d.now, absent) && !slices.Contains([]string{p.rec.Judged[d.path], p.rec.Beside[d.path], p.rec.marked(d.path)}, d.now) &&
			!p.inNested(dirty, d.path)
	}
	if p.rec.Judged == nil {
		p.rec.Judged = map[string]string{}
	}
	for _, c := range changed {
		if !unseen[c.path] {
			p.rec.Judged[c.path] = c.now
		}
	}
	return p.rec.save()
}

// stage stages the changes to commit. What differs from the approved state, or came in beside it, is an error.
func (p *Place) stage(ctx context.Context, j *Judged, clean string) error { //nolint:gocyclo // the steps belong together, and read top to bottom
	now, err := p.everything(ctx)
	if err != nil {
		return err
	}
	changed, err := p.differences(ctx, nil, clean, now)
	if err == nil && j != nil {
		err = p.compare(ctx, j, now, changed)
	}
	if err != nil {
		return err
	}
	var back strings.Builder
	var strange []string
	for _, c := range changed {
		approved := j == nil && !p.rec.beside(c.path) || j != nil && p.approves(c)
		switch {
		case approved && !p.rec.brings(c.path):
			continue
		case c.nested() && p.rec.Beside == nil:
			p.rec.Beside = map[string]string{c.path: c.now}
		case c.nested():
			p.rec.Beside[c.path] = c.now
		case !p.rec.brings(c.path) && p.rec.Beside[c.path] != c.now:
			strange = append(strange, wording.Path(c.path))
		}
		back.WriteString(c.was + "\t" + c.path + "\x00")
	}
	if len(strange) > 0 {
		return hint.Errorf("an earlier session may have left them: look at them in "+p.Dir+", and merge what you want of the branch "+p.branch.name+" by hand",
			"%w: %s", ErrUnjudged, wording.List(strange, 5))
	}
	if back.Len() > 0 {
		_, err = p.tree.do(ctx, git.Call{Stdin: []byte(back.String())}, "update-index", "-z", "--index-info")
	}
	return cmp.Or(err, p.tree.nested(ctx, clean))
}

// approves reports whether a path is approved. The files of a nested repository stand for the commit that it is at.
func (p *Place) approves(c difference) bool {
	found := p.rec.Judged[c.path] == c.now
	for path := range p.rec.Judged {
		found = found || c.nested() && strings.HasPrefix(path, c.path+"/")
	}
	return found
}

// everything stages all that git does not ignore, and returns its tree.
func (p *Place) everything(ctx context.Context) (tree string, err error) {
	if _, err := p.tree.git(ctx, "add", "--all", "--sparse", ":/"); err != nil {
		return "", err
	}
	return p.tree.git(ctx, "write-tree")
}

// clean returns the tree before the task's sessions since its last result.
func (p *Place) clean(ctx context.Context) (tree string, err error) {
	was := cmp.Or(p.head, p.rec.Base)
	if u := p.rec.Update; u != nil {
		has, err := p.repo.Contains(ctx, was, u.Theirs)
		if err != nil {
			return "", err
		}
		if !has {
			m, err := p.repo.MergeTree(ctx, was, u.Theirs)
			return m.Tree, err
		}
	}
	tree, _, err = p.repo.Object(ctx, was+"^{tree}")
	return tree, err
}

// compare returns an error for a tree that is not the approved one, given how it differs from that before the task. What a
// sparse checkout has left out all the time is in no checkpoint, and stays as it was.
func (p *Place) compare(ctx context.Context, j *Judged, tree string, from []difference) error {
	changed, err := p.differences(ctx, j, j.End, tree)
	if err != nil {
		return err
	}
	began, err := p.differences(ctx, j, j.Start, tree)
	if err != nil {
		return err
	}
	sparse := map[string]bool{}
	for _, c := range began {
		sparse[c.path] = strings.HasPrefix(c.was, absent)
	}
	for _, c := range from {
		delete(sparse, c.path)
	}
	left, err := p.leftOut(ctx, j, j.End)
	var strange []string
	for _, c := range changed {
		leftOut := sparse[c.path] && strings.HasPrefix(c.was, absent)
		if !leftOut && !c.nested() && !p.rec.brings(c.path) && left[c.path] != c.now && !p.inNested(changed, c.path) {
			strange = append(strange, wording.Path(c.path))
		}
	}
	if err == nil && len(strange) > 0 {
		err = hint.Errorf("git hides them, or shows others, in "+p.Dir+": look there with git status and git ls-files -v, and merge what you want of the branch "+p.branch.name+" by hand",
			"%w what git would commit of %s", ErrUnjudged, wording.List(strange, 5))
	}
	return err
}

// inNested reports whether a path lies in a nested repository.
func (p *Place) inNested(changed []difference, path string) bool {
	return slices.ContainsFunc(changed, func(c difference) bool { return c.nested() && strings.HasPrefix(path, c.path+"/") })
}
