package play

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"codeloops/internal/queue"
	"codeloops/internal/queue/source"
	"codeloops/internal/wording/hint"
)

// Source opens the source that an origin names.
func (p *Player) Source(o queue.Origin, root string) (source.Source, error) {
	return source.Open(o.Kind, o.Name, source.Means{Runner: p.Starter, Dir: root, Env: p.Host.Environ})
}

// Report tells the origin of a task its outcome.
func (p *Player) Report(ctx context.Context, r queue.Record) error {
	if r.State == queue.Merged && r.Merge.Ticked {
		return nil
	}
	from, err := p.Source(r.Task.Origin, r.Task.Repository.Root)
	if err != nil {
		return err
	}
	result := source.Result{Task: r.Task.ID, Session: r.Progress.Session, Commit: r.Merge.Commit, Why: r.Why, Prompt: r.Task.Prompt}
	if r.State == queue.Merged {
		result.Summary = r.Summary
		err = from.Done(ctx, r.Task.Origin.Key, result)
	} else {
		err = from.Failed(ctx, r.Task.Origin.Key, result)
	}
	if errors.Is(err, source.ErrGone) || errors.Is(err, source.ErrChanged) {
		p.Tell(r.Task.ID, hint.Sentence(err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("tell %s what has become of task %s: %w", r.Task.Origin.Name, r.Task.ID, err)
	}
	return nil
}

// Closed lists the tasks that have not begun and are no longer open at their source.
func Closed(all queue.Backlog, from source.Source, open []queue.Task) (ids []string) {
	for _, r := range all.Sorted() {
		if r.State == queue.Waiting && r.Attempt == 0 && r.Task.Origin.Kind == from.Kind() && r.Task.Origin.Name == from.Name() &&
			!slices.ContainsFunc(open, func(t queue.Task) bool { return t.ID == r.Task.ID }) {
			ids = append(ids, r.Task.ID)
		}
	}
	return ids
}

// ReopenHints says, for each open item whose task is in the backlog but differs from it, how to have it worked on
// again.
func ReopenHints(all queue.Backlog, open []queue.Task) (sentences []string) {
	for _, t := range open {
		r, what := all[t.ID], ""
		switch {
		case r == nil:
			continue
		case !source.SameText(r.Task.Prompt, t.Prompt):
			what = "with another text than " + t.Origin.Name + " has now"
		case r.State == queue.Merged && r.Told == queue.Merged && !r.Merge.Ticked:
			what = "and " + t.Origin.Name + " has it open again"
		default:
			continue
		}
		sentences = append(sentences, fmt.Sprintf("task %s is in the queue already (%s), %s: to have that worked on, codeloops queue rm %[1]s and import it again",
			t.ID, r.State, what))
	}
	return sentences
}

// Tasks makes tasks like t from the open items of a source, in order.
func Tasks(ctx context.Context, from source.Source, t queue.Task) ([]queue.Task, error) {
	items, err := from.List(ctx)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(item source.Item) bool { return item.Done })
	all := make([]queue.Task, len(items))
	ids := map[string]string{}
	for n, item := range items {
		one := t
		one.Prompt, one.Order, one.Origin = item.Prompt, n, queue.Origin{Kind: from.Kind(), Name: from.Name(), Key: item.Key}
		one.Priority += item.Priority
		one.Name()
		ids[item.Key], all[n] = one.ID, one
	}
	for n, item := range items {
		after := slices.Clip(all[n].After)
		for _, key := range item.After {
			if id, open := ids[key]; open && id != all[n].ID {
				after = append(after, id)
			}
		}
		all[n].After = after
	}
	return all, nil
}
