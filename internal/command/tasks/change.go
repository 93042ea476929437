package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/queue"
	"codeloops/internal/queue/play"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/pager"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// changeTask completes a command that changes one task, and prints the task's new state.
func changeTask(q *Access, cmd *cobra.Command, change func(context.Context, *backlog, queue.Record) (queue.Record, error)) *cobra.Command {
	var asJSON bool
	cmd.Args, cmd.ValidArgsFunction, cmd.PreRunE = oneTask, q.complete, q.UsersCommand
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return q.withTask(cmd.Context(), args[0], func(b *backlog, r queue.Record) error {
			r, err := change(cmd.Context(), b, r)
			switch {
			case err != nil:
				return err
			case asJSON:
				return q.JSON(r)
			}
			_, err = fmt.Fprintf(q.Out, "%s  %s\n", r.Task.ID, r.State)
			return pager.UnlessGone(err)
		})
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func newQueueCancelCmd(q *Access) *cobra.Command {
	return changeTask(q, &cobra.Command{
		Use:         "cancel ID",
		Annotations: command.Exits("the task is cancelled", ""),
		Short:       "Cancel a task; an agent that works on it is stopped",
		Long: `Cancel a task. An agent that works on it is stopped. Its work tree and branch stay
until ` + "`codeloops queue rm`" + `; ` + "`codeloops queue retry`" + ` continues it.`,
		Example: `  codeloops queue cancel iso-weeks`,
	}, func(ctx context.Context, b *backlog, r queue.Record) (queue.Record, error) {
		return b.on.Change(ctx, r.Task.ID, b.cancel)
	})
}

// cancel cancels a task.
func (b *backlog) cancel(r *queue.Record) error {
	if r.State.Over() {
		return hint.Errorf("codeloops queue list shows where tasks stand", "task %s is %s already", r.Task.ID, r.State)
	}
	return r.Move(queue.Cancelled, b.on.Now(), "")
}

func newQueueRetryCmd(q *Access) *cobra.Command {
	said := ""
	cmd := changeTask(q, &cobra.Command{
		Use:         "retry ID [words…]",
		Annotations: command.Exits("the task waits for a worker again", ""),
		Short:       "Retry a task that failed, was cancelled or needs a person",
		Long: `Retry a task from where its last attempt stopped: its session is resumed, with more
iterations if it has used them up. What you say, such as the answer to what the critic
asked, is part of the task from then on. If the task waits for an agent's limit to end, the
agent is tried again now: you may know that the limit is over.`,
		Example: `  codeloops queue retry iso-weeks
  codeloops queue retry iso-weeks "weeks begin on Monday"`,
	}, func(ctx context.Context, b *backlog, r queue.Record) (queue.Record, error) {
		return b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error { return b.retry(r, said) })
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return oneTask(cmd, args)
		}
		said = strings.TrimSpace(strings.Join(args[1:], " "))
		return task.Check(said, "what is said")
	}
	return cmd
}

// retry has a task tried again.
func (b *backlog) retry(r *queue.Record, said string) error {
	r.Say(said)
	r.NotBefore = time.Time{}
	if r.Limited != "" {
		return nil
	}
	return r.Retry(b.on.Now())
}

func newQueueRmCmd(q *Access) *cobra.Command {
	var force, merged, dropped, asJSON bool
	cmd := &cobra.Command{
		Use:         "rm [ID…]",
		Annotations: command.Exits("the tasks are gone", ""),
		Short:       "Remove tasks from the queue",
		Long: `Remove tasks that nobody works on. A task whose work is not merged needs --force, or your
answer on a terminal; its work tree and branch are removed, and the ref is printed that
keeps its last result. What is in no result is in the checkpoints of its sessions. A task
that others wait for has to be removed together with those; with --force, they begin
without its result. Sessions stay.

--dropped is about the refs that keep such work: it lists them, and with --force removes
them.`,
		Example: `  codeloops queue rm --force iso-weeks
  codeloops queue rm --merged
  codeloops queue rm --dropped`,
		Args: func(_ *cobra.Command, args []string) error {
			if of := map[bool]int{true: 1}; of[merged]+of[dropped]+min(len(args), 1) == 1 {
				return nil
			}
			return hint.Errorf("codeloops queue rm ID…, or codeloops queue rm --merged", "queue rm takes the IDs of tasks, --merged, or --dropped")
		},
		ValidArgsFunction: q.complete,
		PreRunE:           q.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.with(cmd.Context(), func(b *backlog) error {
				gone := &removals{Removed: []string{}}
				var err error
				if dropped {
					err = gone.dropped(cmd.Context(), b, force)
				} else {
					err = gone.all(cmd.Context(), b, args, force)
				}
				if asJSON {
					return errors.Join(err, q.JSON(gone))
				}
				for _, ref := range gone.Kept {
					fmt.Fprintf(q.Out, "%s is kept at %s\n", map[bool]string{true: "work", false: "its work"}[dropped], ref) //nolint:errcheck // the reader may be gone
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also tasks whose work is not merged, or that others wait for; with --dropped: remove them")
	cmd.Flags().BoolVar(&dropped, "dropped", false, "the refs of this repository that keep what was removed")
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&merged, "merged", false, "all tasks of this repository that are merged")
	return cmd
}

// removals are the tasks that were removed.
type removals struct {
	Removed []string `json:"removed"`
	Kept    []string `json:"kept,omitempty"` // refs that keep their work
	// Released are tasks that no longer wait for them.
	Released []string `json:"released,omitempty"`
}

// dropped lists the refs that keep what was removed, and removes them by force. Git keeps their commits for a while.
func (gone *removals) dropped(ctx context.Context, b *backlog, force bool) error {
	here, err := b.repository()
	if err != nil {
		return err
	}
	refs, err := b.player().Dropped(ctx, here, force)
	if err != nil {
		return err
	}
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		if !force {
			gone.Kept = append(gone.Kept, ref)
			continue
		}
		gone.Removed = append(gone.Removed, ref)
		b.Tell(fmt.Sprintf("%s is gone; it was at %s", ref, refs[ref]))
	}
	return nil
}

// all removes the given tasks, or else the merged ones. A task that others wait for must be removed together with
// those, or by force; then it says which begin without its result.
func (gone *removals) all(ctx context.Context, b *backlog, refs []string, force bool) error {
	all, err := b.mine(ctx, len(refs) > 0)
	if err != nil {
		return err
	}
	meant := slices.DeleteFunc(all.Sorted(), func(r *queue.Record) bool { return len(refs) > 0 || r.State != queue.Merged })
	for _, ref := range refs {
		r, err := b.find(ctx, ref)
		if err != nil {
			return err
		}
		meant = append(meant, &r)
	}
	behind := make([][]string, len(meant))
	for i, r := range meant {
		behind[i] = slices.DeleteFunc(all.Dependents(r.Task.ID), func(id string) bool {
			return slices.ContainsFunc(meant, func(m *queue.Record) bool { return m.Task.ID == id })
		})
		if len(behind[i]) > 0 && !force {
			return hint.Errorf("remove them, too, or let them begin without its result: --force",
				"other tasks wait for task %s: %s", r.Task.ID, wording.List(behind[i], 5))
		}
	}
	for i, r := range meant {
		if err := gone.one(ctx, b, *r, force); err != nil {
			return err
		}
		if len(behind[i]) > 0 {
			gone.Released = append(gone.Released, behind[i]...)
			b.Tell(fmt.Sprintf("task %s is gone, and what came after it begins without its result: %s", r.Task.ID, wording.List(behind[i], 5)))
		}
	}
	return nil
}

func (gone *removals) one(ctx context.Context, b *backlog, r queue.Record, force bool) error {
	if r.State == queue.Running {
		return hint.Errorf("codeloops queue cancel "+r.Task.ID+" stops that", "task %s is being worked on", r.Task.ID)
	}
	unmerged := r.Base != "" && r.State != queue.Merged
	switch {
	case !unmerged || force || b.has(ctx, &r):
	case b.Interactive():
		if err := ask.Confirm(ctx, b.Streams, fmt.Sprintf("The work on task %s is not merged. Remove it, and keep its last commit at a ref?", r.Task.ID)); err != nil {
			return err
		}
	case r.Head == "":
		return hint.Errorf("it has no result, only a work tree and the checkpoints of its sessions; --force removes the work tree", "the work on task %s is not merged", r.Task.ID)
	default:
		return hint.Errorf("look at its branch "+r.Task.Branch()+"; --force removes that, and keeps its last commit at a ref",
			"the work on task %s is not merged", r.Task.ID)
	}
	if err := gone.discard(ctx, b, &r, unmerged); err != nil {
		return err
	}
	if err := b.on.Remove(ctx, r); err != nil {
		return err
	}
	gone.Removed = append(gone.Removed, r.Task.ID)
	return nil
}

// discard removes the work tree and the branch of a task. Something may be left of a merged one, too.
func (gone *removals) discard(ctx context.Context, b *backlog, r *queue.Record, unmerged bool) error {
	if r.Base == "" {
		return nil
	}
	if !r.Task.Repository.At(b.home.ID()) {
		if unmerged {
			b.Tell(fmt.Sprintf("what there is of task %s stays on the machine of the repository, %s", r.Task.ID, r.Task.Repository.Root))
		}
		return nil
	}
	ref, err := b.player().Discard(ctx, r)
	if ref != "" {
		gone.Kept = append(gone.Kept, ref)
	}
	if errors.Is(err, play.ErrGone) { // together with the branch
		if unmerged {
			b.Tell(fmt.Sprintf("the repository is no longer at %s: the branch %s is where that is now", r.Task.Repository.Root, r.Task.Branch()))
		}
		return nil
	}
	return err
}
