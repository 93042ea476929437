// Package place manages the work trees of tasks, each with a branch of its own.
//
// A place is a linked work tree below a directory of the caller's, with a record of its progress. A place that was
// not finished is made again; one that was ready is never reset. It belongs to one caller at a time.
//
// Ignored files that .worktreeinclude names are copied into it, sharing blocks where the file system can. An
// overlay, as used for forks, would not do: it is visible to one process only, and would change with the user's
// files.
package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// branches is the prefix of places' branches.
const branches = "codeloops/"

// A branch is the branch of a place, as a ref of the repository.
type branch struct {
	repo *git.Repo
	name string
}

func (b branch) ref() string { return "refs/heads/" + b.name }

// A Site manages the places of a repository.
type Site struct {
	repo           *git.Repo
	trees, records string
}

// New returns a repository's site below a directory, which it creates.
func New(r *git.Repo, dir string) (*Site, error) {
	trees, err := r.Home(dir, "places")
	if err != nil {
		return nil, err
	}
	records, err := r.Home(dir, "records")
	return &Site{repo: r, trees: trees, records: records}, err
}

// Repository is the repository of the places.
func (s *Site) Repository() *git.Repo { return s.repo }

// Dir is the path of a task's work tree, whether it exists or not.
func (s *Site) Dir(task string) string { return filepath.Join(s.trees, task) }

// Commit returns the last commit of a ref, also while an agent works in the task's place; ok is false if there is none.
func (s *Site) Commit(ctx context.Context, task, ref string) (id string, ok bool, err error) {
	return s.repo.Trees().Commit(ctx, s.Dir(task), ref)
}

// A Place is the work tree of a task, with its record.
type Place struct {
	Task string
	Dir  string

	repo   *git.Repo
	site   *Site
	branch branch
	tree   tree
	rec    record
	head   string // the last result; "" is none
	tell   func(sentence string)
}

// A Task describes the place to open.
type Task struct {
	Name  string
	Base  string // the ID of the commit that a new branch begins at
	Head  string // the task's last result, whose branch is made already; "" is none
	Setup string // a shell command that prepares a new place; "" is none
	Dir   string // where it runs, relative to the root, with slashes
	Log   string // a file for its output
	// Fill writes files into a new work tree, before the setup command; nil writes none.
	Fill func(ctx context.Context, dir string) error
	Tell func(sentence string) // what commands have done beside its work tree
}

// nameOfTask matches names that are valid for a branch, and for a directory on every system.
var nameOfTask = wording.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

func (s *Site) place(task string) (*Place, error) {
	if !nameOfTask().MatchString(task) || len(task) > 100 || strings.HasSuffix(strings.ToLower(task), ".lock") {
		return nil, hint.Errorf("use up to 100 letters, digits, - and _, with single dots between them",
			"%s cannot be the name of a task: it is not valid as the name of a branch and a directory", wording.Quote(task, 120))
	}
	dir, on := s.Dir(task), branch{s.repo, branches + task}
	p := &Place{
		Task: task, Dir: dir, repo: s.repo, site: s, branch: on, tree: tree{s.repo, dir, on},
		rec: record{file: filepath.Join(s.records, task+recordEnding)},
	}
	return p, p.rec.load()
}

// Adopt takes over a task's branch that was made elsewhere. It removes any work tree; [Site.Open] makes a new one.
func (s *Site) Adopt(task, base string) error {
	p, err := s.place(task)
	if err == nil {
		p.rec = record{file: p.rec.file, Base: base}
		err = p.rec.save()
	}
	if err == nil {
		err = p.tree.remove(p.Dir, p.tree.twin())
	}
	if err != nil {
		return fmt.Errorf("take over the branch of task %s: %w", task, err)
	}
	return nil
}

// Find returns the place of a task, also an unfinished one; nil is none.
func (s *Site) Find(task string) (*Place, error) {
	p, err := s.place(task)
	if err != nil || !p.rec.kept {
		return nil, err
	}
	return p, nil
}

// Open opens the place of a task, or makes it if it is not ready. Earlier work on its branch and in its work tree
// is kept.
func (s *Site) Open(ctx context.Context, t Task) (*Place, error) {
	p, err := s.place(t.Name)
	if err == nil {
		p.head, p.tell = t.Head, t.Tell
		err = p.open(ctx, t)
	}
	if err != nil {
		return nil, fmt.Errorf("open the work tree of task %s: %w", t.Name, err)
	}
	return p, nil
}

// free returns an error if the name of a task cannot be used, and reports whether its branch exists.
func (s *Site) free(task string) (begun bool, err error) {
	name, all := branches+task, strings.TrimSuffix("refs/heads/"+branches, "/")
	refs, err := s.repo.Refs(all) // the branch itself, or those below it
	if _, taken := refs[all]; taken {
		return false, hint.Errorf("give it another name: git branch -m codeloops NAME",
			"there is a branch codeloops, so there can be none called %s", name)
	}
	same := func(what, is, wanted string) error {
		if is == wanted || !strings.EqualFold(is, wanted) {
			return nil
		}
		return hint.Errorf("give the task a name of its own", "there is a %s %s, and on many systems that is the same name as %s", what, is, wanted)
	}
	for ref := range refs {
		err = errors.Join(err, same("branch", strings.TrimPrefix(ref, "refs/heads/"), name))
	}
	entries, e := os.ReadDir(s.records)
	for _, r := range entries {
		err = errors.Join(err, same("task", strings.TrimSuffix(r.Name(), recordEnding), task))
	}
	_, begun = refs["refs/heads/"+name]
	return begun, errors.Join(err, e)
}

// aside returns a free path for a repository that was found in the place of a task.
func (s *Site) aside(task string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.git-%d", filepath.Join(s.records, task), n)
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}

func (p *Place) open(ctx context.Context, t Task) error {
	if err := p.tree.remove(p.tree.twin()); err != nil {
		return err
	}
	begun, err := p.site.free(p.Task)
	if err == nil {
		err = p.tree.unused(ctx)
	}
	if err != nil {
		return err
	}
	if p.rec.Removing {
		return hint.Errorf("remove it again, then open it", "it was being removed")
	}
	if _, err := os.Lstat(p.Dir); p.rec.Ready && err == nil {
		return p.settle(ctx)
	}
	p.rec.Base = cmp.Or(p.rec.Base, t.Base)
	return p.make(ctx, t, begun)
}

// make makes the place, with an existing branch or a new one. Nobody has worked in it so far.
func (p *Place) make(ctx context.Context, t Task, begun bool) error {
	if _, err := os.Lstat(p.Dir); err == nil && !p.rec.kept {
		return hint.Errorf("move it away", "%s was not made by codeloops: there is no record of it", p.Dir)
	}
	p.rec.Ready, p.rec.Brought, p.rec.Beside, p.rec.Update = false, nil, nil, nil
	if err := errors.Join(p.rec.save(), p.tree.unlock(), p.tree.remove(p.Dir)); err != nil {
		return err
	}
	what := []string{p.Dir, p.branch.name}
	if !begun {
		what = []string{"-b", p.branch.name, p.Dir, p.rec.Base} // git rejects what is no commit
	}
	err := p.repo.Trees().Add(ctx, what...)
	if err == nil {
		err = p.repo.Trees().CheckOut(ctx, p.Dir)
	}
	if err != nil {
		return err
	}
	if p.rec.Brought, err = p.site.Bring(ctx, p.Dir); err != nil {
		return err
	}
	if t.Fill != nil {
		if err := t.Fill(ctx, p.Dir); err != nil {
			return err
		}
	}
	if t.Setup != "" {
		err := p.Part(ctx)
		if err == nil {
			err = p.site.setup(ctx, t)
		}
		if err = cmp.Or(err, p.Rejoin(context.WithoutCancel(ctx))); err != nil {
			return err
		}
		if err := p.setAside(ctx); err != nil {
			return err
		}
	}
	p.rec.Ready = true
	return p.rec.save()
}

// setAside records what the setup command has left, which is not the task's work.
func (p *Place) setAside(ctx context.Context) error {
	tree, err := p.everything(ctx)
	if err != nil {
		return err
	}
	left, err := p.differences(ctx, nil, "HEAD", tree)
	p.rec.Beside = map[string]string{}
	for _, c := range left {
		p.rec.Beside[c.path] = c.now
	}
	if err == nil {
		_, err = p.tree.git(ctx, "reset", "--quiet") // nothing stays staged
	}
	return err
}
