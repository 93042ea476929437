package tasks

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/proc"
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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return hint.Errorf("codeloops queue take BRANCH", "%s takes one branch, but got %d", cmd.CommandPath(), len(args))
		},
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
	runner := proc.NewRunner(b.on.Now)
	defer runner.Close() //nolint:errcheck // it leaves nothing behind
	commit, err := b.player(runner).Take(ctx, here, target)
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
