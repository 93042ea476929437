package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

func newQueueCancelCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "cancel ID",
		Annotations: exits("the task is cancelled", ""),
		Short:       "Cancel a task; an agent that works on it is stopped",
		Long: `Cancel a task. An agent that works on it is stopped. Its work tree and its branch
stay until ` + "`codeloops queue rm`" + `; ` + "`codeloops queue retry`" + ` goes on where it was.`,
		Example:           `  codeloops queue cancel iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeTask(cmd, args[0], asJSON, func(r *queue.Record, now time.Time) error {
				if r.State.Over() {
					return hint.Errorf("codeloops queue list shows where tasks stand", "task %s is %s already", r.Task.ID, r.State)
				}
				return r.Move(queue.Cancelled, now, "")
			})
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func newQueueRetryCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "retry ID",
		Annotations: exits("the task waits for a worker again", ""),
		Short:       "Have a task tried again that failed, was cancelled or needs a person",
		Long: `Have a task tried again, from where its last attempt stopped: the session is
carried on, with more iterations if it has used them up. Of one that waits for the end
of an agent's limit, the agent is asked again now: you may know that it is over.`,
		Example:           `  codeloops queue retry iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.usersOwn(map[string]bool{"`codeloops queue retry`": true}); err != nil {
				return err
			}
			return a.withTask(cmd.Context(), args[0], func(ctx context.Context, b *backlog, r queue.Record) error {
				limited, err := b.limited(ctx, &r)
				if err != nil {
					return err
				}
				r, err = b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error {
					if r.NotBefore = (time.Time{}); len(limited) > 0 && r.State == queue.Waiting {
						return nil
					}
					return r.Retry(b.on.Now())
				})
				for _, agent := range limited { // from here on it may be begun
					if err == nil {
						err = b.on.Ledger.Unlimited(ctx, b.home.ID(), agent)
					}
				}
				if err != nil {
					return err
				}
				return a.changed(&r, asJSON)
			})
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// limited are the agents whose limits a task waits for.
func (b *backlog) limited(ctx context.Context, r *queue.Record) (agents []string, err error) {
	if r.State != queue.Waiting {
		return nil, nil
	}
	holds, err := b.on.Ledger.Holds(ctx, b.home.ID())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.Agents(), func(agent string) bool { return holds.Limited(agent, b.on.Now()) == nil }), nil
}

// changeTask changes the record of a task, for the user.
func (a *app) changeTask(cmd *cobra.Command, ref string, asJSON bool, change func(*queue.Record, time.Time) error) error {
	if err := a.usersOwn(map[string]bool{"`" + cmd.CommandPath() + "`": true}); err != nil {
		return err
	}
	return a.withTask(cmd.Context(), ref, func(ctx context.Context, b *backlog, r queue.Record) error {
		r, err := b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error { return change(r, b.on.Now()) })
		if err != nil {
			return err
		}
		return a.changed(&r, asJSON)
	})
}

// changed says where a task stands that was changed.
func (a *app) changed(r *queue.Record, asJSON bool) error {
	if asJSON {
		return printJSON(a.Out, r)
	}
	_, err := fmt.Fprintf(a.Out, "%s  %s\n", r.Task.ID, r.State)
	return err
}

func newQueueRmCmd(a *app) *cobra.Command {
	var force, merged, asJSON bool
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
			gone := &removals{Removed: []string{}}
			err = b.removeAll(cmd.Context(), args, force, gone)
			if asJSON {
				return errors.Join(err, printJSON(a.Out, gone))
			}
			for _, ref := range gone.Kept {
				fmt.Fprintf(a.Out, "its work is kept at %s\n", ref) //nolint:errcheck // a reader that has gone
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also tasks whose work is not merged")
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&merged, "merged", false, "all tasks of this repository that are merged")
	return cmd
}

// removals are the tasks that were removed.
type removals struct {
	Removed []string `json:"removed"`
	Kept    []string `json:"kept,omitempty"` // refs at which their work is
}

// removeAll removes the tasks that references mean; without any, those that are merged.
func (b *backlog) removeAll(ctx context.Context, refs []string, force bool, gone *removals) error {
	if len(refs) == 0 {
		all, err := b.mine(ctx, false)
		for _, r := range all.Sorted() {
			if err == nil && r.State == queue.Merged {
				err = b.remove(ctx, *r, force, gone)
			}
		}
		return err
	}
	for _, ref := range refs {
		r, err := b.find(ctx, ref)
		if err == nil {
			err = b.remove(ctx, r, force, gone)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *backlog) remove(ctx context.Context, r queue.Record, force bool, gone *removals) error {
	if r.State == queue.Running || r.State == queue.Offered {
		return hint.Errorf("codeloops queue cancel "+r.Task.ID+" stops that", "task %s is being worked on", r.Task.ID)
	}
	if r.Base != "" && r.State != queue.Merged {
		if !force {
			return hint.Errorf("look at its branch "+r.Task.Branch()+"; --force removes that, and keeps its last commit at a ref",
				"the work on task %s is not merged", r.Task.ID)
		}
		runner := proc.NewRunner(b.on.Now)
		defer runner.Close() //nolint:errcheck // nothing of it is left
		ref, err := b.player(runner).Discard(ctx, &r)
		if err != nil {
			return err
		}
		if ref != "" {
			gone.Kept = append(gone.Kept, ref)
		}
	}
	if err := b.on.Remove(ctx, r); err != nil {
		return err
	}
	gone.Removed = append(gone.Removed, r.Task.ID)
	return nil
}
