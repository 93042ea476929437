package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/diff/repo"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/play"
	"codeloops/internal/run"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/door"
	"codeloops/internal/session/lookup"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

func newQueueListCmd(a *app) *cobra.Command {
	var everywhere, asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Aliases:     []string{"ls"},
		Annotations: exits("the tasks were listed", ""),
		Short:       "List the tasks of this repository, in the order in which they are worked on",
		Long: `List the tasks of this repository: as a table on a terminal, elsewhere as lines of
id, state, attempt, worker, iteration, phase, seconds in this state, cost and title,
separated by tabs.

A task is waiting, offered to the workers, running, finished (its result waits for
the merge), merged, needs-human (its result could not be merged), failed (its run
did not end with DONE), dead (its workers were lost three times) or cancelled.`,
		Example: `  codeloops queue list --all --json`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			b, err := a.openBacklog(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			all, err := b.mine(cmd.Context(), everywhere)
			if err != nil {
				return err
			}
			if asJSON {
				return b.listJSON(cmd.Context(), all)
			}
			return b.list(cmd.Context(), all)
		},
	}
	cmd.Flags().BoolVar(&everywhere, "all", false, "the tasks of all repositories")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object: the records of the tasks, and the budgets")
	return cmd
}

func printJSON(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

// listJSON lists tasks, and what they may cost, for programs.
func (b *backlog) listJSON(ctx context.Context, all queue.Backlog) error {
	budgets, _, err := b.budgets(ctx, all)
	if err != nil {
		return err
	}
	return printJSON(b.app.Out, struct {
		Tasks   []*queue.Record `json:"tasks"`
		Budgets []queue.Budget  `json:"budgets,omitempty"`
	}{all.Sorted(), budgets})
}

// list lists tasks.
func (b *backlog) list(ctx context.Context, all queue.Backlog) error {
	a, now := b.app, b.on.Now()
	budgets, holds, err := b.budgets(ctx, all)
	if err != nil {
		return err
	}
	for _, budget := range budgets {
		defer fmt.Fprintf(a.Err, "budget: %s\n", &budget) //nolint:errcheck // a courtesy
	}
	if a.OutTTY {
		if len(all) == 0 {
			fmt.Fprintln(a.Out, `no tasks: codeloops queue add "…" adds one`) //nolint:errcheck // a reader that has gone
			return nil
		}
		return b.table(all, holds, now)
	}
	for _, r := range all.Sorted() {
		if _, err := fmt.Fprintln(a.Out, strings.Join(b.cells(all, r, now), "\t")); err != nil {
			return err
		}
	}
	return nil
}

// cells are what is said of a task for programs.
func (b *backlog) cells(_ queue.Backlog, r *queue.Record, now time.Time) []string {
	return []string{
		r.Task.ID, string(r.State), strconv.Itoa(r.Attempt), r.Worker.Name, strconv.Itoa(r.Progress.Iteration), r.Progress.Phase,
		strconv.Itoa(int(now.Sub(r.Since).Seconds())), dollars(r.Progress.Dollars), term.Line(r.Task.Title()),
	}
}

func dollars(d float64) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.2f", d)
}

// phaseOf is the phase that the run of a task is in, for people.
func phaseOf(r *queue.Record) string {
	s, ok := loop.ParseState(r.Progress.Phase)
	if !ok {
		return term.Line(r.Progress.Phase) // of another version
	}
	return words.Phase(s)
}

func newQueueShowCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "show ID",
		Annotations:       exits("the task was shown", ""),
		Short:             "Show a task: what is asked, its course, its sessions, its merge",
		Example:           `  codeloops queue show iso-weeks`,
		Args:              oneTask,
		ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			return a.withTask(cmd.Context(), args[0], func(ctx context.Context, b *backlog, r queue.Record) error {
				if asJSON {
					return printJSON(a.Out, r)
				}
				return b.show(ctx, &r)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

func newQueueLogsCmd(a *app) *cobra.Command {
	l := a.logs()
	l.All = true // its work tree is none that anybody stands in
	o := &replayOptions{speed: "max"}
	var follow bool
	cmd := &cobra.Command{
		Use:         "logs ID",
		Annotations: lookExits(),
		Short:       "Show what the agents of a task have done, or do",
		Long: `Show the last session of a task as ` + "`codeloops replay`" + ` does. With --follow, one that
runs is followed to its end, as ` + "`codeloops watch`" + ` does, and its exit code is that of
the run, whichever machine works on it.`,
		Example: `  codeloops queue logs --follow iso-weeks`,
		Args:    oneTask, ValidArgsFunction: a.completeTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			var id string
			away := false
			if err := a.withTask(cmd.Context(), args[0], func(ctx context.Context, b *backlog, r queue.Record) error {
				busy := r.State == queue.Running || r.State == queue.Offered
				if away = busy && r.Worker.Home != "" && r.Worker.Home != b.home.ID(); away && follow {
					w := &watching{logs: l, run: lookup.Run{Client: &door.Client{}}, from: play.Follow(ctx, b.link.Conn, b.on, r.Task.ID, func(id string) iter.Seq2[session.Entry, error] {
						return l.rest(ctx, id)
					})}
					w.run.Holder.Lock.Session = r.Progress.Session
					return w.watch(ctx, o)
				}
				if id = r.Progress.Session; id == "" {
					return hint.Errorf("codeloops queue show "+r.Task.ID+" tells its course", "no session of task %s has begun", r.Task.ID)
				}
				if away {
					return hint.Errorf("--follow shows it from there", "%s works on task %s, and has the log", r.Worker.Name, r.Task.ID)
				}
				return nil
			}); err != nil || away {
				return err
			}
			if follow {
				return runWatch(cmd.Context(), l, o, id)
			}
			return runReplay(cmd.Context(), l, o, id)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "follow it while it runs")
	f.StringVar(&o.format, "log-format", "", "how it is shown: `pretty|compact|json` (default: as a run is)")
	return cmd
}

// rest are the events of a session, if its log is here.
func (l *logs) rest(ctx context.Context, id string) iter.Seq2[session.Entry, error] {
	one, err := l.Find(id)
	if err != nil {
		return func(yield func(session.Entry, error) bool) { yield(session.Entry{}, err) }
	}
	store, err := session.NewStore(filepath.Dir(one.Path))
	if err != nil {
		return func(yield func(session.Entry, error) bool) { yield(session.Entry{}, err) }
	}
	return store.Follow(ctx, one.ID, 0)
}

// withTask opens the queue for what is to be done with one task.
func (a *app) withTask(ctx context.Context, ref string, do func(context.Context, *backlog, queue.Record) error) error {
	b, err := a.openBacklog(ctx)
	if err != nil {
		return err
	}
	r, err := b.find(ctx, ref)
	if err == nil {
		err = do(ctx, b, r)
	}
	return errors.Join(err, b.Close())
}

// toTake is the command that takes what a task was merged into, from where the user stands.
func (b *backlog) toTake(r *queue.Record) string {
	at, err := repo.Open(b.app.Dir, b.app.LookupEnv)
	if err == nil && at.WorkTree == r.Task.Repository.Root || strings.HasPrefix(r.Merge.Take, "git -C ") {
		return r.Merge.Take
	}
	return "cd " + wording.Shell(r.Task.Repository.Root) + " && " + r.Merge.Take
}

// show shows a task.
func (b *backlog) show(ctx context.Context, r *queue.Record) error {
	all, err := b.on.All(ctx)
	if err != nil {
		return err
	}
	holds, err := b.on.Ledger.Holds(ctx, b.home.ID())
	if err != nil {
		return err
	}
	var s strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&s, "%-10s %s\n", name, term.Line(value))
		}
	}
	fmt.Fprintf(&s, "%s  %s\n", r.Task.ID, r.State)
	line("why", r.Why)
	if waits := all.Waits(r, b.app.Now(), holds); waits != r.Why {
		line("waits", waits)
	}
	line("repository", r.Task.Repository.Root)
	line("target", r.Task.Target)
	line("branch", r.Task.Branch())
	line("after", strings.Join(r.Task.After, ", "))
	line("touches", strings.Join(r.Task.Touches, ", "))
	line("settings", strings.Join(run.Spelled(r.Task.Flags), " "))
	for _, id := range r.Sessions() {
		line("session", id+": codeloops sessions show "+id)
	}
	if r.Progress.Dollars > 0 {
		line("cost", dollars(r.Progress.Dollars))
	}
	line("merged", r.Merge.Commit)
	if r.Merge.Take != "" {
		line("take it", b.toTake(r))
	}
	s.WriteString("\n" + strings.TrimRight(term.Clean(r.Task.Prompt), "\n") + "\n\n")
	for _, m := range r.Course {
		what := string(m.State)
		if m.State == queue.Running {
			what = fmt.Sprintf("running, attempt %d by %s", m.Attempt, m.Worker)
		}
		if m.Why != "" {
			what += ": " + term.Line(m.Why)
		}
		fmt.Fprintf(&s, "%s  %s\n", m.At.In(b.app.Now().Location()).Format(time.DateTime), what)
	}
	_, err = io.WriteString(b.app.Out, s.String())
	return err
}
