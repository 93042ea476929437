package play

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"codeloops/internal/queue"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/source"
)

// Source opens the source of an origin, in a repository.
func (p *Player) Source(o queue.Origin, root string) (source.Source, error) {
	return source.Open(o.Kind, o.Name, source.Means{Runner: p.Starter, Dir: root, Env: p.Host.Environ, Now: p.Host.Now})
}

// Report tells the origin of a task what has become of it.
func (p *Player) Report(ctx context.Context, r queue.Record) error {
	from, err := p.Source(r.Task.Origin, r.Task.Repository.Root)
	if err != nil {
		return err
	}
	result := source.Result{Task: r.Task.ID, Session: r.Progress.Session, Commit: r.Merge.Commit, Why: r.Why}
	if r.State == queue.Merged {
		err = from.Done(ctx, r.Task.Origin.Key, result)
	} else {
		err = from.Failed(ctx, r.Task.Origin.Key, result)
	}
	if errors.Is(err, source.ErrGone) {
		p.Tell(r.Task.ID, withHint(err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("tell %s what has become of task %s: %w", r.Task.Origin.Name, r.Task.ID, err)
	}
	return nil
}

// Closed are the tasks of a backlog that nobody has begun, and whose source has them open no more.
func Closed(all queue.Backlog, from source.Source, open []queue.Task) (ids []string) {
	for _, r := range all.Sorted() {
		if r.State == queue.Waiting && r.Attempt == 0 && r.Task.Origin.Kind == from.Kind() && r.Task.Origin.Name == from.Name() &&
			!slices.ContainsFunc(open, func(t queue.Task) bool { return t.ID == r.Task.ID }) {
			ids = append(ids, r.Task.ID)
		}
	}
	return ids
}

// Forget removes what a home keeps of a task beside its work tree and its sessions.
func Forget(home *hub.Home, task string) error {
	if err := os.Remove(setupLog(home.In("trees"), task)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// setupLog is where what the setup command of a task has printed is kept, in a directory.
func setupLog(dir, task string) string { return filepath.Join(dir, task+".setup.log") }

// Tasks are the open items of a source as tasks that are like t, in their order.
func Tasks(ctx context.Context, from source.Source, t queue.Task) ([]queue.Task, error) {
	items, err := from.List(ctx)
	if err != nil {
		return nil, err
	}
	var all []queue.Task
	ids := map[string]string{}
	for n, item := range source.Pending(items) {
		one := t
		one.Prompt, one.Order, one.Origin = item.Prompt, n, queue.Origin{Kind: from.Kind(), Name: from.Name(), Key: item.Key}
		one.Priority += item.Priority
		one.Touches = append(slices.Clip(one.Touches), item.Touches...)
		one.Name()
		ids[item.Key] = one.ID
		all = append(all, one)
	}
	for i, item := range source.Pending(items) {
		after := slices.Clip(all[i].After)
		for _, key := range item.After {
			after = append(after, ids[key])
		}
		all[i].After = after
	}
	return all, nil
}
