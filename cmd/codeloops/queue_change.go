package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

func newQueueCancelCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "cancel ID",
		Annotations: exits("the task is cancelled", ""),
		Short:       "Cancel a task; an agent that works on it is stopped",
		Long: `Cancel a task. An agent that works on it is stopped. Its work tree and its branch
stay until ` + "`codeloops queue rm`" + `; ` + "`codeloops queue retry`" + ` goes on where it was.`,
		Example:           `  codeloops queue cancel iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeTask(cmd, args[0], func(r *queue.Record, now time.Time) error {
				if r.State.Over() {
					return hint.Errorf("codeloops queue list shows where tasks stand", "task %s is %s already", r.Task.ID, r.State)
				}
				return r.Move(queue.Cancelled, now, "")
			})
		},
	}
}

func newQueueRetryCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "retry ID",
		Annotations: exits("the task waits for a worker again", ""),
		Short:       "Have a task tried again that failed, was cancelled or needs a person",
		Long: `Have a task tried again, from where its last attempt stopped: the session is
carried on, with more iterations if it has used them up.`,
		Example:           `  codeloops queue retry iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeTask(cmd, args[0], (*queue.Record).Retry)
		},
	}
}

// changeTask changes the record of a task, for the user.
func (a *app) changeTask(cmd *cobra.Command, ref string, change func(*queue.Record, time.Time) error) error {
	if err := a.usersOwn(map[string]bool{"`" + cmd.CommandPath() + "`": true}); err != nil {
		return err
	}
	return a.withTask(cmd.Context(), ref, func(ctx context.Context, b *backlog, r queue.Record) error {
		r, err := b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error { return change(r, b.on.Now()) })
		if err == nil {
			fmt.Fprintf(a.Out, "%s  %s\n", r.Task.ID, r.State) //nolint:errcheck // a reader that has gone
		}
		return err
	})
}

func newQueueRmCmd(a *app) *cobra.Command {
	var force, merged bool
	cmd := &cobra.Command{
		Use:         "rm [ID…]",
		Annotations: exits("the tasks are gone", ""),
		Short:       "Take tasks out of the queue",
		Long: `Take tasks out of the queue that nobody works on. One whose work is not merged is
refused without --force, which removes its work tree and its branch: what was on
them stays as a commit at a ref that you are told. Sessions stay.`,
		Example: `  codeloops queue rm --force iso-weeks
  codeloops queue rm --merged`,
		Args: func(_ *cobra.Command, args []string) error {
			if merged == (len(args) == 0) {
				return nil
			}
			return usagef("codeloops queue rm ID…, or codeloops queue rm --merged", "queue rm takes the IDs of tasks, or --merged")
		},
		ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := a.usersOwn(map[string]bool{"`codeloops queue rm`": true}); err != nil {
				return err
			}
			b, err := a.openBacklog(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			return b.removeAll(cmd.Context(), args, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also tasks whose work is not merged")
	cmd.Flags().BoolVar(&merged, "merged", false, "all tasks of this repository that are merged")
	return cmd
}

// removeAll removes the tasks that references mean; without any, those that are merged.
func (b *backlog) removeAll(ctx context.Context, refs []string, force bool) error {
	if len(refs) == 0 {
		all, err := b.mine(ctx, false)
		for _, r := range all.Sorted() {
			if err == nil && r.State == queue.Merged {
				err = b.remove(ctx, *r, force)
			}
		}
		return err
	}
	for _, ref := range refs {
		r, err := b.find(ctx, ref)
		if err == nil {
			err = b.remove(ctx, r, force)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *backlog) remove(ctx context.Context, r queue.Record, force bool) error {
	if r.State == queue.Running || r.State == queue.Offered {
		return hint.Errorf("codeloops queue cancel "+r.Task.ID+" stops that", "task %s is being worked on", r.Task.ID)
	}
	if r.Base != "" && r.State != queue.Merged {
		if !force {
			return hint.Errorf("look at its branch "+r.Task.Branch()+"; --force removes that, and keeps its last commit at a ref",
				"the work on task %s is not merged", r.Task.ID)
		}
		runner := proc.NewRunner(b.app.Now)
		defer runner.Close() //nolint:errcheck // nothing of it is left
		ref, err := b.player(runner).Discard(ctx, &r)
		if err != nil {
			return err
		}
		if ref != "" {
			fmt.Fprintf(b.app.Out, "its work is kept at %s\n", ref) //nolint:errcheck // a reader that has gone
		}
	}
	return b.on.Remove(ctx, r)
}
