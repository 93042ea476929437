package tasks

import (
	"context"

	"codeloops/internal/command/sessions"
	"codeloops/internal/forge"
	"codeloops/internal/queue"
)

// request opens the pull request of a task with its result, or brings it up to date.
func (b *backlog) request(ctx context.Context, r *queue.Record) (forge.Request, error) {
	l := b.Logs()
	l.All = true // nobody is in a task's work tree
	return (&sessions.Restorer{Console: b.Console}).RequestResult(ctx, l, r.Progress.Session, r.Task.Repository.Root, r.Head,
		forge.Request{Title: b.Secrets.String(r.Task.Title()), Head: r.Task.Branch(), Base: r.Task.Target})
}

// aim reports what is wrong where requests are to be opened, before tasks cost anything.
func (b *backlog) aim(ctx context.Context, root string) error {
	_, err := (&sessions.Restorer{Console: b.Console}).Target(ctx, root)
	return err
}

// lookAgain has the results of a repository's tasks looked at again that were left to a person, who may have merged them.
func (b *backlog) lookAgain(ctx context.Context, here queue.Repository) error {
	all, err := b.on.All(ctx)
	if err != nil {
		return err
	}
	for id, r := range all {
		if r.Task.Repository != here || r.State != queue.NeedsHuman || !b.has(ctx, r) && (r.Request == "" || !r.AwaitsWord()) {
			continue
		}
		if _, err := b.on.Change(ctx, id, func(r *queue.Record) error {
			if r.State != queue.NeedsHuman {
				return nil
			}
			return r.Move(queue.Finished, b.on.Now(), "")
		}); err != nil {
			return err
		}
	}
	return nil
}
