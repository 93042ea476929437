// Package place manages the work trees of tasks.
//
// A place is a directory with a git repository of its own, which only borrows the objects of the user's, and a record of
// its progress. What commands do there to refs, settings, hooks or a stash reaches nobody. The result of a task is not
// read from there either: it is made of what a critic has approved, which the checkpoints of its session have. A place
// belongs to one caller at a time.
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
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// branches is the prefix of tasks' branches, and held that of refs that keep the commits which work begins at, as long as
// there is a place.
const (
	branches = "codeloops/"
	held     = "refs/codeloops/base/"
)

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

// A Place is the work tree of a task, with its record.
type Place struct {
	Task string
	Dir  string

	repo  *git.Repo
	site  *Site
	rec   record
	start start
	head  string // the last result; "" is none
	made  bool   // just now
}

// A Task describes the place to open.
type Task struct {
	Name  string
	Base  string // the ID of the commit of the target that the work is based on
	Head  string // the task's last result, which the branch is at; "" is none
	Setup string // a shell command that prepares a new place; "" is none
	Dir   string // where it runs, relative to the root, with slashes
	// Fill writes files into a new work tree, before the setup command; nil writes none.
	Fill func(ctx context.Context, dir string) error
}

// nameOfTask matches names that are valid for a branch, and for a directory on every system.
var nameOfTask = wording.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

func (s *Site) place(task string) (*Place, error) {
	if !nameOfTask().MatchString(task) || len(task) > 100 || strings.HasSuffix(strings.ToLower(task), ".lock") {
		return nil, hint.Errorf("use up to 100 letters, digits, - and _, with single dots between them",
			"%s cannot be the name of a task: it is not valid as the name of a branch and a directory", wording.Quote(task, 120))
	}
	p := &Place{Task: task, Dir: s.Dir(task), repo: s.repo, site: s, rec: record{file: filepath.Join(s.records, task+".json")}}
	return p, p.rec.load()
}

func (p *Place) branch() string { return branches + p.Task }
func (p *Place) ref() string    { return "refs/heads/" + p.branch() }

// Adopt takes over a task whose result was made elsewhere: a commit that keep is at, or none where that is "". Its work
// tree is removed; [Site.Open] makes a new one.
func (s *Site) Adopt(ctx context.Context, task, head string) error {
	p, err := s.place(task)
	if err == nil {
		p.rec = record{file: p.rec.file, Set: p.rec.Set}
		err = errors.Join(p.rec.save(), view.Remove(p.Dir))
	}
	if err == nil && head != "" {
		err = p.point(ctx, head)
	}
	if err != nil {
		return fmt.Errorf("take over task %s: %w", task, err)
	}
	return nil
}

// Held is the ref that keeps what the work on a task needs, and is based on.
func Held(task string) string { return held + task }

// Find returns the place of a task, also an unfinished one; nil is none.
func (s *Site) Find(task string) (*Place, error) {
	p, err := s.place(task)
	if err != nil || !p.rec.kept {
		return nil, err
	}
	return p, nil
}

// Open opens the place of a task, or makes it if it is not ready. Work in it is kept, unless it is based on other commits:
// then what is in no result remains only as far as it is in no file that git tracks.
func (s *Site) Open(ctx context.Context, t Task) (*Place, error) {
	p, err := s.place(t.Name)
	if err == nil {
		p.head = t.Head
		err = p.open(ctx, t)
	}
	if err != nil {
		return nil, fmt.Errorf("open the work tree of task %s: %w", t.Name, err)
	}
	return p, nil
}

// Start is the commit that the work begins at: the last result merged with what it is based on.
func (p *Place) Start() string { return p.start.commit }

func (p *Place) open(ctx context.Context, t Task) error {
	if err := p.unused(ctx); err != nil {
		return err
	}
	if err := p.begin(ctx, t.Base); err != nil {
		return err
	}
	if _, err := p.at(); err != nil {
		return err
	}
	if _, err := p.repo.Run(ctx, p.repo.Root, "update-ref", held+p.Task, p.start.commit); err != nil {
		return err
	}
	info, err := os.Lstat(p.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !p.rec.Ready:
		return p.make(ctx, t)
	case err != nil || !info.IsDir(): // a link would lead to others' files
		return cmp.Or(err, hint.Errorf("was it the agent? Move that away", "%s is no longer a directory", p.Dir))
	case p.rec.Start != p.start.commit:
		return p.move(ctx)
	}
	c := git.Call{Dir: p.Dir, Env: []string{"GIT_DIR=" + filepath.Join(p.Dir, ".git")}}
	if _, err := p.repo.Do(ctx, c, "cat-file", "-e", p.start.commit); err != nil && ctx.Err() == nil {
		return p.own() // an agent has damaged it
	}
	return ctx.Err()
}

// unused returns an error if the branch is checked out: it could not be moved.
func (p *Place) unused(ctx context.Context) error {
	tree, err := p.repo.InUse(ctx, p.branch())
	if err == nil && tree != "" {
		return hint.Errorf("switch to another branch there", "the branch %s is checked out in %s", p.branch(), tree)
	}
	return err
}

// at returns where the branch is; "" is nowhere. It is an error if codeloops has not put it there: nobody has judged what it
// has. So it is if there can be no branch.
func (p *Place) at() (commit string, err error) {
	all := strings.TrimSuffix("refs/heads/"+branches, "/")
	refs, err := p.repo.Refs(all, p.ref())
	if refs[all] != "" {
		return "", hint.Errorf("give it another name: git branch -m codeloops NAME", "there is a branch codeloops, so there can be none below it")
	}
	commit = refs[p.ref()]
	if err == nil && commit != "" && !slices.Contains(append(p.rec.Set, p.head, p.rec.Start, p.start.commit), commit) {
		err = hint.Errorf("git branch -m "+p.branch()+" NAME keeps it, and codeloops queue retry goes on",
			"the branch %s is at %.12s, where codeloops has not put it: %w it", p.branch(), commit, ErrUnjudged)
	}
	return commit, err
}

// point points the branch at a commit. The record first has where it will be, as the process may be killed in between.
func (p *Place) point(ctx context.Context, commit string) error {
	was, err := p.at()
	if err == nil {
		p.rec.Set = []string{commit, was}
		err = p.rec.save()
	}
	if err == nil && was != commit {
		_, err = p.repo.Run(ctx, p.repo.Root, "update-ref", p.ref(), commit, was)
	}
	return err
}

// make makes the place. Nobody has worked in it so far.
func (p *Place) make(ctx context.Context, t Task) error {
	if _, err := os.Lstat(p.Dir); err == nil && !p.rec.kept {
		return hint.Errorf("move it away", "%s was not made by codeloops: there is no record of it", p.Dir)
	}
	p.made, p.rec = true, record{file: p.rec.file, Start: p.start.commit, Set: p.rec.Set}
	if err := errors.Join(p.rec.save(), view.Remove(p.Dir), os.MkdirAll(p.Dir, 0o700)); err != nil {
		return err
	}
	err := p.repo.CheckOut(ctx, p.Dir, p.branch(), p.start.commit)
	if err == nil {
		err = copyOf(filepath.Join(p.Dir, ".git", "index"), p.index())
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
		if err := p.setup(ctx, t); err != nil {
			return err
		}
		if err := p.setAside(ctx); err != nil {
			return hint.Add(err, "look there with git status; a repository without a commit inside it is in the way")
		}
	}
	p.rec.Ready = true
	return p.rec.save()
}

// index is a copy of the index of a fresh work tree, which no agent has changed.
func (p *Place) index() string { return p.beside("index") }

// beside is the path of a file beside the record. No task has such a name.
func (p *Place) beside(name string) string { return filepath.Join(p.site.records, p.Task+"~"+name) }

func copyOf(from, to string) error {
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) { // of a commit without files
		return os.RemoveAll(to)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// own replaces the repository of the work tree.
func (p *Place) own() error {
	err := p.repo.Own(p.Dir, p.branch(), p.start.commit)
	if err == nil {
		err = copyOf(p.index(), filepath.Join(p.Dir, ".git", "index"))
	}
	return err
}

// move moves a work tree, with what was done there, to the start of further work. Nothing keeps the earlier start any more.
func (p *Place) move(ctx context.Context) error {
	_ = os.Remove(p.index() + ".lock") // of a killed git; that one says if it stays
	c := p.files()
	c.Env = append(c.Env, "GIT_INDEX_FILE="+p.index())
	_, err := p.repo.Do(ctx, c, "read-tree", "-u", "--reset", p.start.commit)
	if err == nil {
		err = p.own()
	}
	if err != nil {
		return err
	}
	p.rec.Start = p.start.commit
	return p.rec.save()
}

// files is a run of git with the files of the work tree, and the settings of the user.
func (p *Place) files() git.Call {
	return git.Call{Dir: p.Dir, Env: []string{"GIT_DIR=" + p.repo.CommonDir, "GIT_WORK_TREE=" + p.Dir}}
}

// setAside records what the setup command has left, which is not the task's work.
func (p *Place) setAside(ctx context.Context) error {
	d, done, err := p.draft()
	defer done()
	if err == nil {
		err = copyOf(p.index(), filepath.Join(d.Dir(), "index"))
	}
	if err == nil {
		_, err = d.Do(ctx, p.files(), "add", "--all", "--sparse", ".")
	}
	if err != nil {
		return err
	}
	tree, err := d.Do(ctx, p.files(), "write-tree")
	if err != nil {
		return err
	}
	left, err := p.repo.Differences(ctx, d.Env, p.start.commit, tree)
	p.rec.Beside = map[string]string{}
	for _, c := range left {
		p.rec.Beside[c.Path] = c.Now
	}
	return err
}

// Fresh reports whether the place was just made, and nobody has worked in it.
func (p *Place) Fresh() bool { return p.made }
