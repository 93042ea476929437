package tasks

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/muesli/termenv"
	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/queue"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

func newQueueTakeCmd(q *Access) *cobra.Command {
	o := &taskOptions{}
	cmd := &cobra.Command{
		Use:         "take [BRANCH]",
		Annotations: command.Exits("the branch has all that was merged for it", ""),
		Short:       "Take what was merged into your branch",
		Long: `Take what was merged for a branch, by default the one that is checked out: as a
fast-forward, or as a merge if you have commits of your own. If changes of yours are in
the way, nothing happens. What was merged before you rewrote the branch is moved to what
it is now, without the commits that you removed.`,
		Example: `  codeloops queue take
  codeloops queue take develop`,
		Args:    atMostOne("branch", "codeloops queue take BRANCH"),
		PreRunE: q.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.target = args[0]
			}
			return q.with(cmd.Context(), func(b *backlog) error { return o.takeMerged(cmd.Context(), b) })
		},
	}
	addJSON(cmd, &o.asJSON)
	manual.Group("Queue", cmd.Flags(), "json")
	return cmd
}

// takeMerged takes what waits for the target.
func (o *taskOptions) takeMerged(ctx context.Context, b *backlog) error {
	here, err := b.repository()
	if err != nil {
		return err
	}
	target, err := o.into(b)
	if err != nil {
		return err
	}
	commit, err := b.player().Take(ctx, here, target)
	if err != nil {
		return err
	}
	tasks := []string{}
	all, err := b.mine(ctx, false)
	if err != nil {
		return err
	}
	for _, r := range all.Sorted() {
		if r.Merge.Take == "" || r.Task.Target != target {
			continue
		}
		if _, err := b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error { r.Merge.Take = ""; return nil }); err != nil {
			return err
		}
		tasks = append(tasks, r.Task.ID)
	}
	if o.asJSON {
		return b.JSON(map[string]any{"target": target, "commit": commit, "tasks": tasks})
	}
	said := "nothing waits for " + term.Line(target)
	if commit != "" {
		said = fmt.Sprintf("%s is at %.12s", term.Line(target), commit)
	}
	_, err = fmt.Fprintln(b.Out, said)
	return pager.UnlessGone(err)
}

func newQueueDiffCmd(q *Access) *cobra.Command {
	noPager := false
	cmd := &cobra.Command{
		Use:               "diff ID",
		Annotations:       command.Exits("the diff was shown", ""),
		Short:             "Show what the result of a task changes",
		Long:              `Show what the result of a task changes in the commit that it began at, as git does. On a terminal it goes through the pager that git uses.`,
		Example:           `  codeloops queue diff iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: q.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.withTask(cmd.Context(), args[0], func(b *backlog, r queue.Record) error { return b.diff(cmd.Context(), &r, noPager) })
		},
	}
	cmd.Flags().BoolVar(&noPager, "no-pager", false, "do not use a pager")
	return cmd
}

// diff shows what the result of a task changes.
func (b *backlog) diff(ctx context.Context, r *queue.Record, noPager bool) error {
	switch {
	case r.Head == "":
		return hint.Errorf("codeloops queue logs "+r.Task.ID+" shows what its agents do", "task %s is %s, and has no result yet", r.Task.ID, r.State)
	case !r.Task.Repository.At(b.home.ID()):
		return hint.Errorf("run the command there", "the result of task %s is on the machine of its repository", r.Task.ID)
	}
	dir, err := os.MkdirTemp("", "codeloops-diff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system tidies it up
	file := filepath.Join(dir, "diff")
	if err := b.player().Diff(ctx, r, file, b.OutTTY && b.OutRenderer().ColorProfile() != termenv.Ascii); err != nil {
		return err
	}
	return b.Page(ctx, noPager, func(_ context.Context, w io.Writer) error {
		text, err := os.Open(file)
		if err != nil {
			return err
		}
		defer text.Close() //nolint:errcheck // only read
		_, err = io.Copy(w, text)
		return err
	})
}

func newQueueAcceptCmd(q *Access) *cobra.Command {
	return changeTask(q, &cobra.Command{
		Use:         "accept ID",
		Annotations: command.Exits("the result will be merged", ""),
		Short:       "Accept the result of a task, which is then merged",
		Long: `Accept the result of a task that waits for your word, as those of tasks that were added
with --merge ask do. ` + "`codeloops queue run`" + `, or a worker, merges it.`,
		Example: `  codeloops queue accept iso-weeks`,
	}, func(ctx context.Context, b *backlog, r queue.Record) (queue.Record, error) {
		err := b.accept(ctx, &r)
		return r, err
	})
}

// accept has the result of a task merged.
func (b *backlog) accept(ctx context.Context, r *queue.Record) (err error) {
	*r, err = b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error { return r.Accept(b.on.Now()) })
	return err
}

func newQueueRejectCmd(q *Access) *cobra.Command {
	why := ""
	cmd := changeTask(q, &cobra.Command{
		Use:         "reject ID words…",
		Annotations: command.Exits("the task waits for a worker again", ""),
		Short:       "Reject the result of a task, and say why",
		Long: `Reject the result of a task that waits for your word. What you say is what its actor is
told next, and its critic judges by.`,
		Example: `  codeloops queue reject iso-weeks "weeks begin on Monday"`,
	}, func(ctx context.Context, b *backlog, r queue.Record) (queue.Record, error) {
		return b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error { return r.Reject(b.on.Now(), why) })
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return hint.Errorf("codeloops queue reject ID \"why\"", "%s takes the ID of a task and what is wrong with its result", cmd.CommandPath())
		}
		why = strings.TrimSpace(strings.Join(args[1:], " "))
		return task.Check(why, "what is said")
	}
	return cmd
}
