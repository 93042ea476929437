// Package tasks holds the commands for the queue: its tasks, workers and hub.
package tasks

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/signals"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/redact"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Access opens the queue for commands.
type Access struct {
	*command.Console

	Signals *signals.Signals
	Board   board.Options // set by tests

	hub string // the address from the command line
}

// Commands returns the command queue, and the commands of earlier versions that are now below it.
func (q *Access) Commands() []*cobra.Command {
	work, serve := newWorkCmd(q), newHubCmd(q, "hub") // the names of earlier versions
	work.Hidden, serve.Hidden = true, true
	q.flags(work)
	return []*cobra.Command{newQueueCmd(q), work, serve}
}

func newQueueCmd(q *Access) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "queue",
		Annotations: command.Exits("what was asked for was done", ""),
		Short:       "Work on many tasks, each in a work tree of its own, and merge the results",
		Long: `Keep a backlog of tasks for this repository, and work on it: each task is an ordinary
session in a git work tree of its own, on a branch codeloops/ID. When its run ends
with DONE, the result is merged into the target after the checks have passed on the
merge, and only then its work tree and branch are removed. Your checkout, index and
HEAD stay as they are: if the target is checked out, merges wait at a ref until
` + "`codeloops queue take`" + ` takes them.

On a terminal the command alone shows the tasks, and how they progress; keys open a task,
show its diff, stop, tell, retry, cancel and accept it.`,
		Example: `  codeloops queue add "make the parser accept ISO weeks, with tests"
  codeloops queue run --jobs 3`,
		Args: command.OwnCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.InTTY && q.ErrTTY && !q.Plain {
				return q.watch(cmd.Context())
			}
			return cmd.Help()
		},
	}
	q.flags(cmd)
	cmd.AddCommand(newQueueAddCmd(q), newQueueImportCmd(q), newQueueListCmd(q), newQueueShowCmd(q), newQueueLogsCmd(q), newQueueDiffCmd(q), newQueueTakeCmd(q), newQueueAcceptCmd(q), newQueueRejectCmd(q), newQueueCancelCmd(q), newQueueRetryCmd(q), newQueueRmCmd(q), newQueueRunCmd(q), newHubCmd(q, "serve"), newWorkCmd(q))
	return cmd
}

// settings loads the queue's settings. Project files play no part in it.
func (q *Access) settings() (config.Queue, error) {
	o := config.Options{Env: q.Environ, Home: q.Home()}
	if q.hub != "" {
		o.Flags = map[string][]string{"queue.hub": {q.hub}}
	}
	cfg, err := config.Load(o)
	if err != nil {
		return config.Queue{}, err
	}
	secrets := slices.Clip(q.Environ)
	for _, secret := range hub.Secrets(cfg.Queue.Hub) { // kept out of logs and messages
		secrets = append(secrets, "QUEUE_PASSWORD="+secret)
	}
	if len(secrets) > len(q.Environ) {
		q.Secrets = redact.New(secrets)
	}
	return cfg.Queue, nil
}

// flags adds the flags for the hub's address.
func (q *Access) flags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&q.hub, "hub", "", "use the queue at `URL`, as printed by `codeloops queue serve` there (default: on this machine)")
	f.StringVar(&q.hub, "nats", "", "use the queue on your own NATS server with JetStream, at `URL`")
	manual.Group("Queue", f, "hub", "nats")
}

// open opens the queue for do: at the hub that the user has configured, or else at this home's, which own reaches.
func (q *Access) open(ctx context.Context, own func(*hub.Home, context.Context) (*hub.Link, error), do func(*backlog) error) error {
	home, err := hub.Open(q.Data("queue"))
	if err != nil {
		return err
	}
	s, err := q.settings()
	if err != nil {
		return err
	}
	var link *hub.Link
	if s.Hub == "" {
		link, err = own(home, ctx)
	} else {
		link, err = home.Reach(hub.Address{URL: s.Hub, CA: s.CA, Cert: s.Cert, Key: s.Key, Creds: s.Creds})
	}
	if err != nil {
		return err
	}
	b, err := q.through(ctx, home, link, s)
	if err != nil {
		return err
	}
	err = do(b) // before close is read, which it may change
	return errors.Join(err, b.close())
}

// through opens the queue through a link, and closes that on errors.
func (q *Access) through(ctx context.Context, home *hub.Home, link *hub.Link, s config.Queue) (*backlog, error) {
	o := q.Board
	o.Replicas, o.Now = s.Replicas, q.Now
	on, err := board.Open(ctx, link.Conn, o)
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	b := &backlog{
		Access: q, home: home, link: link, on: on, close: link.Close, replicas: s.Replicas, merge: s.Merge,
		at: sync.OnceValues(func() (*git.Repository, error) { return git.Open(q.Dir, q.Environ) }),
	}
	b.runner = sync.OnceValue(func() *proc.Runner { // few commands need one, which starts a process
		runner := proc.NewRunner(q.Now)
		b.close = func() error { return errors.Join(runner.Close(), link.Close()) }
		return runner
	})
	return b, nil
}

// with opens the queue for do, without serving it to others.
func (q *Access) with(ctx context.Context, do func(*backlog) error) error {
	return q.open(ctx, (*hub.Home).Connect, do)
}

// withTask opens the queue for do, and finds a task.
func (q *Access) withTask(ctx context.Context, ref string, do func(*backlog, queue.Record) error) error {
	return q.with(ctx, func(b *backlog) error {
		r, err := b.find(ctx, ref)
		if err != nil {
			return err
		}
		return do(b, r)
	})
}

// complete completes the IDs of tasks.
func (q *Access) complete(cmd *cobra.Command, args []string, _ string) (ids []cobra.Completion, how cobra.ShellCompDirective) {
	if len(args) == 0 {
		_ = q.with(cmd.Context(), func(b *backlog) error { // without a queue there is nothing to offer
			all, err := b.mine(cmd.Context(), false)
			for _, r := range all.Sorted() {
				ids = append(ids, cobra.CompletionWithDesc(r.Task.ID, string(r.State)+": "+term.Line(q.Secrets.String(r.Task.Title()))))
			}
			return err
		})
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// atMostOne allows one argument.
func atMostOne(what, advice string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return hint.Errorf(advice, "%s takes one %s, but got %s", cmd.CommandPath(), what, wording.Count(len(args), "argument"))
	}
}

// oneTask requires exactly one argument, the ID of a task.
func oneTask(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return hint.Errorf("codeloops queue list shows the tasks", "%s takes the ID of one task, but got %s", cmd.CommandPath(), wording.Count(len(args), "argument"))
}
