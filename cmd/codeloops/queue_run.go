package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/play"
	"codeloops/internal/queue/work"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

func newQueueRunCmd(a *app) *cobra.Command {
	o := &taskOptions{but: "jobs"}
	var jobs int
	budget := &budgetFlags{}
	cmd := &cobra.Command{
		Use: "run [FILE]",
		Annotations: exits("everything is merged, or finished where it is not to be",
			"something is left: failed, cancelled, over budget, waiting for a person, or waiting for such a task"),
		Short: "Work off the tasks of this repository, and merge the results",
		Long: `Work off the tasks of this repository, several at once, and merge the results. It
ends when nothing more becomes of any task by itself, and says where each stands.
The open tasks of a checklist or a prd.json that is named are added first, with the settings that
are said here; see ` + "`codeloops queue import`" + `.

With --budget-cost, --budget-tokens or --budget-time the tasks of this repository cost
no more than that together, whoever works on them: what a turn may cost is reserved
before it starts. Where that is not to be had any more, tasks go back to waiting, and
the command ends with 1. The budget stays until another one is said.

Ctrl+C stops the agents; a second one kills them. The next ` + "`codeloops queue run`" + `
goes on where this one was: no turn that has ended is played again.`,
		Example: `  codeloops queue run tasks.md --jobs 3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return usagef("import the others before: codeloops queue import FILE", "%s takes one checklist, but got %s", cmd.CommandPath(), wording.Count(len(args), "argument"))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.usersOwn(map[string]bool{"`codeloops queue run`": true}); err != nil {
				return err
			}
			if jobs < 1 {
				return usagef("--jobs 1 works on one task after the other", "--jobs cannot be %d", jobs)
			}
			if given := o.settings(cmd); len(args) == 0 && len(given) > 0 {
				return usagef("say it when you add tasks, or name a checklist", "--%s is for tasks that are added", given[0].Name)
			}
			change, err := budget.change()
			if err != nil {
				return err
			}
			return runQueue(cmd, a, o, change, args, jobs)
		},
	}
	cmd.Flags().IntVar(&jobs, "jobs", 1, "work on `n` tasks at once")
	manual.Under("Queue", cmd.Flags(), "jobs")
	budget.add(cmd)
	o.addFlags(cmd)
	return cmd
}

// errUnmerged says that something is left in the queue. Its user has been told.
var errUnmerged = errors.New("something is left in the queue")

// runQueue works off the backlog of the repository where the user stands, with the tasks of a
// file if one is named.
func runQueue(cmd *cobra.Command, a *app, o *taskOptions, budget queue.BudgetChange, files []string, jobs int) error {
	return a.serving(cmd.Context(), func(b *backlog) error {
		here, err := b.repository()
		if err != nil {
			return err
		}
		for _, file := range files {
			if _, err := b.take(cmd, o, b.file(file)); err != nil {
				return err
			}
		}
		if budget.Any() {
			if _, err := b.on.Ledger.ChangeBudget(cmd.Context(), here, func(b *queue.Budget) error { b.Set(budget); return nil }); err != nil {
				return err
			}
		}
		return b.work(cmd.Context(), jobs, here, o.asJSON)
	})
}

// serving does something with the queue. Where nobody serves it, it is served to others for as
// long as that lasts.
func (a *app) serving(ctx context.Context, do func(*backlog) error) (err error) {
	end := func() error { return nil }
	b, err := a.open(ctx, func(home *hub.Home) (link *hub.Link, err error) {
		link, shared, err := home.Share(ctx)
		if err == nil {
			end = shared
		}
		return link, err
	})
	if err != nil {
		return errors.Join(err, end())
	}
	err = do(b)
	return errors.Join(err, b.Close(), end())
}

// player plays the tasks of this home.
func (b *backlog) player(starter git.Starter) *play.Player {
	return &play.Player{
		Host: &b.app.Host, Version: version(), Home: b.home, Starter: starter, Board: b.on, Conn: b.link.Conn, Replicas: b.replicas, Remote: b.remote,
		Tell: func(task, sentence string) { b.app.tell(task + ": " + sentence) },
	}
}

// worker is one of this process. The first Ctrl+C has it end what it works on, the second one
// kills that.
// It answers for its home, too, when workers on other machines ask for tasks of that.
func (b *backlog) worker(ctx context.Context, jobs int) (w *work.Worker, done func(), err error) {
	a := b.app
	runner := proc.NewRunner(a.Now)
	player := b.player(runner)
	answered, err := player.Answer(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, runner.Close())
	}
	a.signals.On(func() {
		fmt.Fprintln(a.Err, "stopping; Ctrl+C again kills at once") //nolint:errcheck // a courtesy
	}, player.Kill)
	b.link.Tell(a.tell)
	if ahead := b.on.Ahead(); ahead.Abs() > time.Minute {
		way := map[bool]string{true: "ahead of", false: "behind"}[ahead > 0]
		a.tell(fmt.Sprintf("the clock of this machine is %s %s that of the hub; the queue goes by the hub's", render.Span(ahead.Abs()), way))
	}
	name, _ := os.Hostname() // "" says no less
	return &work.Worker{
		Board: b.on, Who: queue.Worker{Name: fmt.Sprintf("%s/%d", name, os.Getpid()), Home: b.home.ID()}, Slots: jobs,
		Only: player.Reachable,
		Play: player.Play, Merge: player.Merge, Bring: player.Bring, Sweep: player.Sweep, Report: player.Report, Now: b.on.Now, Tell: a.tell,
	}, func() { answered(); _ = runner.Close() }, nil // nothing of it is left
}

// work works off the backlog of a repository, says what becomes of it, and ends with a table.
func (b *backlog) work(ctx context.Context, jobs int, here queue.Repository, asJSON bool) error {
	w, done, err := b.worker(ctx, jobs)
	if err != nil {
		return err
	}
	defer done()
	w.Only = func(r queue.Repository) bool { return r == here }
	w.Until = func(all queue.Backlog) bool {
		for _, r := range all {
			if r.Task.Repository == here && all.Pending(r) && (r.State != queue.Waiting || w.Holds().Over(here) == "") {
				return false
			}
		}
		return true
	}
	watch, shown, err := b.told(ctx, w)
	if err != nil {
		return err
	}
	w.Watch = watch
	err = w.Run(ctx)
	if shown(); err != nil {
		return err
	}
	all, err := b.mine(ctx, false)
	if err != nil {
		return err
	}
	if asJSON {
		err = b.listJSON(ctx, all)
	} else {
		err = b.list(ctx, all)
	}
	if err != nil {
		return err
	}
	return b.conclude(ctx, all)
}

// conclude says how to take what waits for its target, and whether anything is left.
func (b *backlog) conclude(ctx context.Context, all queue.Backlog) error {
	left, last := false, map[string]*queue.Record{} // by target
	for _, r := range all {
		left = left || r.State != queue.Merged && (r.State != queue.Finished || !r.Task.Unmerged)
		if r.Merge.Take != "" && (last[r.Task.Target] == nil || last[r.Task.Target].Since.Before(r.Since)) {
			last[r.Task.Target] = r
		}
	}
	runner := proc.NewRunner(b.app.Now)
	defer runner.Close() //nolint:errcheck // nothing of it is left
	for _, target := range slices.Sorted(maps.Keys(last)) {
		r := last[target]
		if taken, err := b.player(runner).Taken(ctx, r); err == nil && !taken {
			fmt.Fprintf(b.app.Err, "%s is checked out, so what is merged waits; to take it:\n  %s\n", term.Line(r.Task.Target), term.Line(b.toTake(r))) //nolint:errcheck // a courtesy
		}
	}
	if budget, err := b.budgetHere(ctx); err == nil && left && budget.Over != "" {
		b.overBudget(budget)
	}
	if left {
		b.remains(all)
		return errUnmerged
	}
	return nil
}

// remains says what is left, and what to do about the first one that nothing more becomes of by itself.
func (b *backlog) remains(all queue.Backlog) {
	count, first := map[queue.State]int{}, ""
	for _, r := range all.Sorted() {
		if count[r.State]++; first == "" && r.State.Over() && r.State != queue.Merged {
			first = r.Task.ID
		}
	}
	delete(count, queue.Merged)
	var said []string
	for _, s := range queue.States() {
		if n := count[s]; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, s))
		}
	}
	text := "left: " + strings.Join(said, ", ") + "\n"
	if first != "" {
		text += "codeloops queue show " + first + " says why; codeloops queue retry " + first + " has it tried again\n"
	}
	fmt.Fprint(b.app.Err, text) //nolint:errcheck // a courtesy
}

// told says what becomes of tasks: on a terminal a line for each that is under way, elsewhere one for
// each change. A terminal that hangs holds nobody up: what it does not take is not said. shown waits for
// the rest, for a moment.
func (b *backlog) told(ctx context.Context, w *work.Worker) (watch func(queue.Record), shown func(), err error) {
	if b.app.ErrTTY && !b.app.Plain {
		return b.drawn(ctx, w.Only, w.Holds)
	}
	of := w.Only
	last, lines, done := map[string]string{}, make(chan string, 1_000), make(chan struct{})
	go func() {
		defer close(done)
		for line := range lines {
			fmt.Fprintln(b.app.Err, line) //nolint:errcheck // a courtesy
		}
	}()
	watch = func(r queue.Record) {
		what := stateLine(&r)
		if what == "" || last[r.Task.ID] == what || !of(r.Task.Repository) {
			return
		}
		last[r.Task.ID] = what
		select {
		case lines <- b.app.Now().Format(time.TimeOnly) + "  " + r.Task.ID + "  " + what:
		default:
		}
	}
	return watch, func() {
		close(lines)
		select {
		case <-done:
		case <-time.After(time.Second):
		}
	}, nil
}

// stateLine says where a task stands, in a line; "" is nothing worth one.
func stateLine(r *queue.Record) string {
	switch {
	case r.State == queue.Offered:
		return ""
	case r.State == queue.Running && r.Progress.Phase != "":
		return fmt.Sprintf("iteration %d, %s", r.Progress.Iteration, phaseOf(r))
	case r.State == queue.Running && r.Progress.Iteration > 0:
		return "" // between two phases
	case r.State == queue.Running:
		return fmt.Sprintf("attempt %d", r.Attempt)
	case r.Why != "":
		return string(r.State) + ": " + term.Line(r.Why)
	}
	return string(r.State)
}

func newWorkCmd(a *app) *cobra.Command {
	var jobs int
	cmd := &cobra.Command{
		Use:         "work",
		Annotations: exits("it was asked to end, and has", ""),
		Short:       "Work on the tasks of the queue, of all repositories, until asked to end",
		Long: `Work on the tasks of all repositories of this user, as they come, and merge the
results, until asked to end. Several may be at work at once, and each may go away
at any time: what it was working on is gone on with by another one.`,
		Example: `  codeloops work --jobs 3`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := a.usersOwn(map[string]bool{"`codeloops work`": true}); err != nil {
				return err
			}
			if jobs < 1 {
				return usagef("--jobs 1 works on one task after the other", "--jobs cannot be %d", jobs)
			}
			return a.workOn(cmd.Context(), jobs)
		},
	}
	cmd.Flags().IntVar(&jobs, "jobs", 1, "work on `n` tasks at once")
	manual.Under("Queue", cmd.Flags(), "jobs")
	a.hubFlags(cmd)
	return cmd
}

// workOn works on whatever there is, until ctx is done.
func (a *app) workOn(ctx context.Context, jobs int) error {
	return a.serving(ctx, func(b *backlog) error {
		w, done, err := b.worker(ctx, jobs)
		if err != nil {
			return err
		}
		defer done()
		watch, shown, err := b.told(ctx, w)
		if err != nil {
			return err
		}
		defer shown()
		w.Watch = watch
		if err := w.Run(ctx); ctx.Err() == nil {
			return err
		}
		return nil
	})
}
