package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/command/sessions"
	"codeloops/internal/command/steering"
	"codeloops/internal/queue"
	"codeloops/internal/queue/play"
	"codeloops/internal/run"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

func newQueueListCmd(q *Access) *cobra.Command {
	var everywhere, asJSON bool
	var states []string
	cmd := &cobra.Command{
		Use:         "list",
		Aliases:     []string{"ls"},
		Annotations: command.Exits("the tasks were listed", ""),
		Short:       "List the tasks of this repository, in the order in which they are worked on",
		Long: `List the tasks of this repository: as a table on a terminal, elsewhere as lines of
id, state, attempt, worker, iteration, phase, seconds in this state, cost and title,
separated by tabs.

A task is waiting, running, finished (its result waits for
the merge), merged, needs-human (its result could not be merged), failed (its run
did not end with DONE), dead (its workers were lost three times) or cancelled.`,
		Example: `  codeloops queue list --all --json`,
		Args:    command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return q.with(cmd.Context(), func(b *backlog) error {
				all, err := b.mine(cmd.Context(), everywhere)
				if err != nil {
					return err
				}
				if len(all) == 0 {
					b.lost(cmd.Context())
				}
				if err := known(states); err != nil {
					return err
				}
				return b.list(cmd.Context(), all, states, asJSON)
			})
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only tasks in a `state`, such as waiting or needs-human; several, separated by commas")
	cmd.Flags().BoolVar(&everywhere, "all", false, "the tasks of all repositories")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object: the records of the tasks, and the budgets")
	return cmd
}

// known rejects names that are no states.
func known(states []string) error {
	all := make([]string, len(queue.States()))
	for i, s := range queue.States() {
		all[i] = string(s)
	}
	for _, s := range states {
		if !slices.Contains(all, s) {
			return hint.Errorf("the states are "+strings.Join(all, ", "), "--state cannot be %q", s)
		}
	}
	return nil
}

func newQueueShowCmd(q *Access) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show ID",
		Annotations:       command.Exits("the task was shown", ""),
		Short:             "Show a task: its prompt, history, sessions and merge",
		Example:           `  codeloops queue show iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: q.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			return q.withTask(cmd.Context(), args[0], func(b *backlog, r queue.Record) error {
				if asJSON {
					return q.JSON(r)
				}
				return q.Print(func(w io.Writer) error { return b.show(cmd.Context(), w, &r) })
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

// show writes everything about a task.
func (b *backlog) show(ctx context.Context, w io.Writer, r *queue.Record) error {
	all, err := b.on.All(ctx)
	if err != nil {
		return err
	}
	v, err := b.view(ctx, all)
	if err != nil {
		return err
	}
	return v.Show(w, r, run.Spelled(r.Task.Flags), b.toTake(ctx, r))
}

func newQueueLogsCmd(q *Access) *cobra.Command {
	l := q.Logs()
	l.All = true // nobody is in a task's work tree
	var format string
	var follow bool
	cmd := &cobra.Command{
		Use: "logs ID",
		Annotations: manual.Exits(
			manual.Exit{Code: command.ExitDone, Meaning: "what was asked for was shown; with --follow: the run ended with success, or you left with q"},
			manual.Exit{Code: command.ExitLimit, Meaning: "with --follow: the run ended at the iteration limit, or another budget"},
			manual.Exit{Code: command.ExitError, Meaning: "with --follow: the run failed, or was killed; or an error"},
			manual.Exit{Code: command.ExitInterrupted, Meaning: command.MeansInterrupted + "; with --follow also: the run was interrupted"}),
		Short: "Show what a task's agents have done or are doing",
		Long: `Show the last session of a task as ` + "`codeloops replay`" + ` does. With --follow, a running one
is shown to its end, as by ` + "`codeloops watch`" + `, on whichever machine it runs, and the
exit code is that of the run.`,
		Example: `  codeloops queue logs --follow iso-weeks`,
		Args:    oneTask, ValidArgsFunction: q.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			var id, task string
			away := false
			if err := q.withTask(ctx, args[0], func(b *backlog, r queue.Record) error {
				task = r.Task.ID
				busy := r.State == queue.Running
				if away = busy && r.Worker.Home != "" && r.Worker.Home != b.home.ID(); away && follow {
					return steering.Follow(ctx, l, format, r.Progress.Session, func(ctx context.Context) iter.Seq2[session.Entry, error] {
						return play.Follow(ctx, b.link.Conn, b.on, r.Task.ID, func(id string) iter.Seq2[session.Entry, error] { return rest(ctx, l, id) })
					})
				}
				if id = r.Progress.Session; id == "" {
					return hint.Errorf("codeloops queue show "+r.Task.ID+" tells its course", "no session of task %s has begun", r.Task.ID)
				}
				if away {
					return hint.Errorf("--follow shows it from there", "%s works on task %s, and has the log", r.Worker.Name, r.Task.ID)
				}
				return nil
			}); err != nil || away {
				return lostWorker(err, task)
			}
			if follow {
				return lostWorker(steering.Watch(ctx, l, format, id), task)
			}
			return sessions.Replay(ctx, l, format, id)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "follow it while it runs")
	f.StringVar(&format, "log-format", "", "how it is shown: `pretty|compact|json` (default: as configured for runs)")
	return cmd
}

// lostWorker adds to the error of a killed session who continues it: resuming it by hand would bypass the queue.
func lostWorker(err error, task string) error {
	if killed, ok := errors.AsType[*steering.KilledError](err); ok {
		return hint.Add(killed, fmt.Sprintf("the next worker continues it when the lease of the lost one is over, after 30 s (codeloops queue run starts one); codeloops queue logs -f %s follows it", task))
	}
	return err
}

// lost reports repositories that are gone although the queue has tasks for them: the user may be in one that was
// moved.
func (b *backlog) lost(ctx context.Context) {
	all, err := b.on.All(ctx)
	if err != nil {
		return // the list has just been read
	}
	number := map[string]int{}
	for _, r := range all {
		if root := r.Task.Repository.Root; r.Task.Repository.At(b.home.ID()) {
			if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
				number[root]++
			}
		}
	}
	for _, root := range slices.Sorted(maps.Keys(number)) {
		b.Tell(fmt.Sprintf("the repository that was at %s is gone, and the queue has %s of it: move it back, or see codeloops queue list --all",
			root, wording.Count(number[root], "task")))
	}
}

// list prints tasks, or those in some states, if somebody reads them.
func (b *backlog) list(ctx context.Context, all queue.Backlog, states []string, asJSON bool) error {
	v, err := b.view(ctx, all)
	if err != nil {
		return err
	}
	v.States = states
	if asJSON {
		return b.JSON(v.Document())
	}
	err = b.Print(func(w io.Writer) error { return v.List(w, b.Streams) })
	for _, budget := range v.Budgets {
		fmt.Fprintf(b.Err, "budget: %s\n", &budget) //nolint:errcheck // a courtesy
	}
	return err
}

// rest returns the events of a session whose log is here.
func rest(ctx context.Context, l *command.Logs, id string) iter.Seq2[session.Entry, error] {
	one, err := l.Find(id)
	if err == nil {
		var store *session.Store
		if store, err = session.NewStore(filepath.Dir(one.Path)); err == nil {
			return l.Follow(ctx, store, one.ID)
		}
	}
	return func(yield func(session.Entry, error) bool) { yield(session.Entry{}, err) }
}
