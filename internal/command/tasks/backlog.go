package tasks

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/command"
	"codeloops/internal/config"
	program "codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/play"
	"codeloops/internal/screen/queueview"
	"codeloops/internal/wording"
)

// A backlog is the open queue of a command.
type backlog struct {
	*Access

	home *hub.Home
	link *hub.Link
	on   *board.Board

	at       func() (*program.Repository, error) // that the user is in
	runner   func() *proc.Runner
	close    func() error
	replicas int    // how many servers of a cluster keep parcels
	merge    string // what becomes of results, unless it is said when a task is added
}

// repository is the one that the user is in, as the queue names it.
func (b *backlog) repository() (queue.Repository, error) {
	r, err := b.at()
	if err != nil {
		return queue.Repository{}, err
	}
	main := r.WorkTree
	if root := program.First(r.Family); root != "" && root != main {
		if _, err := program.Open(root, b.Environ); err == nil { // otherwise the repository is bare
			main = root // shared by all linked work trees, whatever core.worktree says
		}
	}
	return queue.Repository{Home: b.home.ID(), Root: main}, nil
}

// project returns the directory that the user is in, relative to the root, and the configuration file that applies there.
func (b *backlog) project(trusts bool) (dir string, file *config.ProjectFile, err error) {
	at, err := b.at()
	if err != nil {
		return "", nil, err
	}
	in, err := filepath.EvalSymlinks(b.Dir)
	if err == nil {
		dir, err = filepath.Rel(at.WorkTree, in)
	}
	if err != nil {
		return "", nil, err
	}
	if dir == "." {
		dir = ""
	}
	file, err = config.ReadProject(config.Options{Env: b.Environ, Home: b.Home(), WorkingDir: in, RepositoryRoot: at.WorkTree, TrustProject: trusts})
	return filepath.ToSlash(dir), file, err
}

// mine returns the tasks of the repository that the user is in, or all tasks.
func (b *backlog) mine(ctx context.Context, everywhere bool) (queue.Backlog, error) {
	all, err := b.on.All(ctx)
	if err != nil || everywhere {
		return all, err
	}
	here, err := b.repository()
	if err != nil {
		return nil, err
	}
	for id, r := range all {
		if r.Task.Repository != here {
			delete(all, id)
		}
	}
	return all, nil
}

// find finds a task by its full ID, or by an abbreviation in the repository that the user is in, if any.
func (b *backlog) find(ctx context.Context, ref string) (queue.Record, error) {
	r, err := b.on.Get(ctx, ref)
	if err == nil || !errors.Is(err, board.ErrNone) {
		return r, err
	}
	_, outside := b.repository()
	all, err := b.mine(ctx, outside != nil)
	if err != nil {
		return r, err
	}
	return all.Find(ref)
}

// view shows tasks with their budgets.
func (b *backlog) view(ctx context.Context, all queue.Backlog) (*queueview.View, error) {
	budgets, err := b.on.Budgets(ctx)
	if err != nil {
		return nil, err
	}
	var of []queue.Budget
	there := map[string]bool{}
	if here, err := b.repository(); err == nil {
		there[here.Key()] = true
	}
	for _, r := range all {
		there[r.Task.Repository.Key()] = true
	}
	for key, budget := range budgets {
		if !there[key] || !budget.Any() {
			continue
		}
		of = append(of, budget)
	}
	slices.SortFunc(of, func(x, y queue.Budget) int { return strings.Compare(x.Repository.Root, y.Repository.Root) })
	now := b.on.Now().In(b.Now().Location())
	return &queueview.View{Tasks: all, Budgets: of, Holds: all.Holds(budgets, b.home.ID(), now), Now: now}, nil
}

// toTake is the command that takes a task's merge, as run from the current directory; "" where that is taken.
func (b *backlog) toTake(ctx context.Context, r *queue.Record) string {
	if r.Merge.Take == "" || b.has(ctx, r) {
		return ""
	}
	if here, err := b.repository(); err == nil && here == r.Task.Repository {
		return r.Merge.Take
	}
	return "cd " + wording.Shell(r.Task.Repository.Root) + " && " + r.Merge.Take
}

// has reports whether it is known that the target of a task has its result, however it came there.
func (b *backlog) has(ctx context.Context, r *queue.Record) bool {
	if !r.Task.Repository.At(b.home.ID()) {
		return false
	}
	has, err := b.player().Has(ctx, r)
	return has && err == nil // the repository, or the target, may be gone
}

// player returns the player of this home's tasks.
func (b *backlog) player() *play.Player {
	return &play.Player{
		Host: &b.Host, Version: command.Version(), Home: b.home, Starter: b.runner(), Board: b.on, Conn: b.link.Conn, Replicas: b.replicas, Request: b.request,
		Tell: func(task, sentence string) { b.Tell(task + ": " + sentence) },
	}
}
