package main

import (
	"context"
	"fmt"

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
			return a.changeTask(cmd, args[0], func(r *queue.Record) error {
				if r.State.Over() {
					return hint.Errorf("codeloops queue list shows where tasks stand", "task %s is %s already", r.Task.ID, r.State)
				}
				return r.Move(queue.Cancelled, a.Now(), "")
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
			return a.changeTask(cmd, args[0], func(r *queue.Record) error { return r.Retry(a.Now()) })
		},
	}
}

// changeTask changes the record of a task, for the user.
func (a *app) changeTask(cmd *cobra.Command, ref string, change func(*queue.Record) error) error {
	if err := a.usersOwn(map[string]bool{"`" + cmd.CommandPath() + "`": true}); err != nil {
		return err
	}
	return a.withTask(cmd.Context(), ref, func(ctx context.Context, b *backlog, r queue.Record) error {
		r, err := b.on.Change(ctx, r.Task.ID, change)
		if err == nil {
			fmt.Fprintf(a.Out, "%s  %s\n", r.Task.ID, r.State) //nolint:errcheck // a reader that has gone
		}
		return err
	})
}

func newQueueRmCmd(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:         "rm ID",
		Annotations: exits("the task is gone", ""),
		Short:       "Take a task out of the queue",
		Long: `Take a task out of the queue that nobody works on. One whose work is not merged is
refused without --force, which removes its work tree and its branch: what was on
them stays as a commit at a ref that you are told. Its sessions stay.`,
		Example:           `  codeloops queue rm --force iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.usersOwn(map[string]bool{"`codeloops queue rm`": true}); err != nil {
				return err
			}
			return a.withTask(cmd.Context(), args[0], func(ctx context.Context, b *backlog, r queue.Record) error {
				return b.remove(ctx, r, force)
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also a task whose work is not merged")
	return cmd
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
