package tasks

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/queue"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/work"
	"codeloops/internal/screen/queueview"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

func newQueueRunCmd(q *Access) *cobra.Command {
	o := &taskOptions{but: "jobs"}
	var jobs int
	budget := &budgetFlags{}
	cmd := &cobra.Command{
		Use: "run [FILE]",
		Annotations: command.Exits("everything is merged, or finished with --no-merge",
			"something is left: failed, cancelled, over budget, waiting for a person, or waiting for such a task"),
		Short: "Work on the tasks of this repository, and merge the results",
		Long: `Work on the tasks of this repository, several at once, and merge the results.
The command ends when no task can continue without you, and prints the state of
each. The open tasks of a checklist or prd.json given as FILE are added first,
with the settings given here; see ` + "`codeloops queue import`" + `.

--budget-cost, --budget-tokens and --budget-time limit what the tasks of this repository
cost together, whoever works on them. No turn starts once the limit is reached: tasks go
back to waiting, and the command exits with 1. Turns that are under way then may exceed
it. The budget stays until you set another.

Ctrl+C stops the agents; a second one kills them. The next ` + "`codeloops queue run`" + `
continues where this one stopped, and repeats no finished turn.`,
		Example: `  codeloops queue run tasks.md --jobs 3`,
		Args:    atMostOne("checklist", "import the others before: codeloops queue import FILE"),
		PreRunE: q.jobs(&jobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if given := o.settings(cmd); len(args) == 0 && len(given) > 0 {
				return hint.Errorf("use it when you add tasks, or give a checklist", "--%s is for tasks that are added", given[0].Name)
			}
			changes, err := budget.changes(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return q.run(cmd, o, changes, args, jobs)
		},
	}
	cmd.Flags().IntVar(&jobs, "jobs", 1, "work on `n` tasks at once")
	manual.Group("Queue", cmd.Flags(), "jobs")
	budget.add(cmd)
	o.addFlags(cmd, q)
	return cmd
}

// jobs checks what all commands do that take a number of jobs.
func (q *Access) jobs(jobs *int) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if *jobs < 1 {
			return hint.Errorf("--jobs 1 works on one task after the other", "--jobs cannot be %d", *jobs)
		}
		return q.UsersCommand(cmd, args)
	}
}

// run works on the tasks of the user's repository, after adding those of the files, and prints a table at the end.
func (q *Access) run(cmd *cobra.Command, o *taskOptions, budget []func(*queue.Amount), files []string, jobs int) error {
	return q.open(cmd.Context(), (*hub.Home).Share, func(b *backlog) error {
		here, err := b.repository()
		if err != nil {
			return err
		}
		for _, file := range files {
			added, there, err := o.take(cmd, b, q.file(file))
			if err != nil {
				return err
			}
			fmt.Fprintln(q.Err, imported(len(added), there)) //nolint:errcheck // only information
		}
		if len(budget) > 0 {
			if err := b.on.ChangeBudget(cmd.Context(), here, func(b *queue.Budget) error { b.Set(budget...); return nil }); err != nil {
				return err
			}
		}
		if err := b.lookAgain(cmd.Context(), here); err != nil {
			return err
		}
		s, err := b.begin(cmd.Context(), jobs)
		if err != nil {
			return err
		}
		defer s.end()
		s.alone(here)
		shown, err := s.show(cmd.Context())
		if err != nil {
			return err
		}
		err = s.worker.Run(cmd.Context())
		if shown(); err != nil {
			return b.stays(cmd.Context(), err, o.asJSON)
		}
		all, err := b.mine(cmd.Context(), false)
		if err != nil {
			return err
		}
		if len(all) == 0 && !o.asJSON && !b.OutTTY {
			fmt.Fprintln(b.Err, `nothing to do, as there are no tasks: codeloops queue add "what to do" adds one`) //nolint:errcheck // only information
			b.lost(cmd.Context())
		}
		if err := b.list(cmd.Context(), all, nil, o.asJSON); err != nil {
			return err
		}
		return s.conclude(cmd.Context(), all)
	})
}

// stays shows where the tasks of an interrupted run stand, and says that it can be carried on.
func (b *backlog) stays(ctx context.Context, err error, asJSON bool) error {
	cause := context.Cause(ctx)
	if cause == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	if b.link.IsConnected() && !asJSON {
		if all, unread := b.mine(ctx, false); unread == nil {
			_ = b.list(ctx, all, nil, false) // a courtesy
		}
	}
	return hint.Add(cause, "the tasks stay in the queue: codeloops queue run carries on")
}

// lastLook is how long the hub has to say where the tasks stand after Ctrl+C.
const lastLook = 2 * time.Second

func newWorkCmd(q *Access) *cobra.Command {
	var jobs int
	cmd := &cobra.Command{
		Use:         "work",
		Annotations: command.ServeExits(),
		Short:       "Work on the tasks of all repositories in the queue, until stopped",
		Long: `Work on the tasks of all repositories of this user, as they come, and merge the
results, until stopped. Several workers may run at once, and each may stop at any
time: another one continues its tasks.`,
		Example: `  codeloops queue work --jobs 3`,
		Args:    command.NoArgs,
		PreRunE: q.jobs(&jobs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return q.work(cmd.Context(), jobs) },
	}
	cmd.Flags().IntVar(&jobs, "jobs", 1, "work on `n` tasks at once")
	manual.Group("Queue", cmd.Flags(), "jobs")
	return cmd
}

// work works on all tasks until ctx is done.
func (q *Access) work(ctx context.Context, jobs int) error {
	return q.open(ctx, (*hub.Home).Share, func(b *backlog) error {
		s, err := b.begin(ctx, jobs)
		if err != nil {
			return err
		}
		defer s.end()
		shown, err := s.show(ctx)
		if err != nil {
			return err
		}
		defer shown()
		return s.worker.Run(ctx)
	})
}

// A shift is the work of this process on the queue.
type shift struct {
	*backlog

	worker *work.Worker
	end    func()
}

// begin starts a shift. The first Ctrl+C stops the agents, the second kills them. It also answers for its home
// when workers on other machines take its tasks.
func (b *backlog) begin(ctx context.Context, jobs int) (*shift, error) {
	player := b.player()
	answered, err := player.Answer(ctx)
	if err != nil {
		return nil, err
	}
	killed, kill := context.WithCancel(context.WithoutCancel(ctx))
	player.Killed = killed
	b.Signals.On(func() {
		fmt.Fprintln(b.Err, "stopping; Ctrl+C again kills at once") //nolint:errcheck // only information
	}, func() { kill(); b.link.Abandon() })
	b.link.Tell(b.Tell)
	name, _ := os.Hostname() // "" will do
	worker := &work.Worker{
		Board: b.on, Who: queue.Worker{Name: fmt.Sprintf("%s/%d", name, os.Getpid()), Home: b.home.ID()}, Slots: jobs,
		Player: player, Only: func(queue.Repository) bool { return true }, Tell: b.Tell,
	}
	player.Budgets = worker.Budgets
	return &shift{backlog: b, worker: worker, end: func() { answered(); kill() }}, nil
}

// alone limits the shift to one repository, until its tasks make no more progress by themselves.
func (s *shift) alone(here queue.Repository) {
	w := s.worker
	w.Only = func(r queue.Repository) bool { return r == here }
	w.Until = func(known queue.Backlog) bool {
		all := maps.Clone(known)
		for id, r := range known {
			if r.State == queue.Waiting && !w.Able(id) { // only others can go on with it
				left := *r
				left.State, all[id] = queue.Failed, &left
			}
		}
		for _, r := range all {
			if r.Task.Repository == here && all.Pending(r) && (r.State != queue.Waiting || w.Budgets().Over(here) == "") {
				return false
			}
		}
		return true
	}
}

// show starts to report changes: on a terminal with a line for each busy task, elsewhere with a line for each
// change.
func (s *shift) show(ctx context.Context) (shown func(), err error) {
	all, err := s.on.All(ctx)
	if err != nil {
		return nil, err
	}
	p := &queueview.Progress{Streams: s.Streams, Now: s.Now, Of: s.worker.Only, Home: s.home.ID(), Keys: s.keys(ctx)}
	watch, _, shown := p.Draw(all, s.on.Now, s.worker.Budgets)
	s.worker.Watch = func(r queue.Record) {
		r.Why = s.Secrets.String(r.Why)
		watch(r)
	}
	return shown, nil
}

// conclude says how to take the merges that wait, and whether tasks are left.
func (s *shift) conclude(ctx context.Context, all queue.Backlog) error {
	left, last := false, map[string]*queue.Record{} // by target
	for _, r := range all {
		left = left || !r.Done()
		if r.Merge.Take != "" && (last[r.Task.Target] == nil || last[r.Task.Target].Since.Before(r.Since)) {
			last[r.Task.Target] = r
		}
	}
	for _, target := range slices.Sorted(maps.Keys(last)) {
		if take := s.toTake(ctx, last[target]); take != "" {
			fmt.Fprintf(s.Err, "%s is checked out, so what is merged waits; to take it:\n  %s\n", term.Line(target), term.Line(take)) //nolint:errcheck // only information
		}
	}
	if !left {
		return nil
	}
	if here, err := s.repository(); err == nil {
		if budget, err := s.on.Budget(ctx, here); err == nil {
			fmt.Fprint(s.Err, overBudget(budget)) //nolint:errcheck // only information
		}
	}
	fmt.Fprint(s.Err, (&queueview.View{Tasks: all}).Left()) //nolint:errcheck // only information
	return command.ErrShort
}
