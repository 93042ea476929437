package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/cli/manual"
	"codeloops/internal/config"
	"codeloops/internal/diff/repo"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/hub"
	"codeloops/internal/redact"
	"codeloops/internal/run"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

func newQueueCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "queue",
		Annotations: exits("what was asked for was done", ""),
		Short:       "Work off many tasks, each in a work tree of its own, and merge the results",
		Long: `Keep a backlog of tasks for this repository, and work it off: each task is an
ordinary session in a git work tree of its own, on a branch codeloops/ID. A result
whose run ended with DONE is merged into the target, checked there once more, and
only then the work tree and the branch go. Your checkout, your index and HEAD stay
as they are: if the target is checked out, what is merged waits at a ref, and you
are told the command that takes it.`,
		Example: `  codeloops queue add "make the parser accept ISO weeks, with tests"
  codeloops queue run --jobs 3`,
		Args: ownCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	a.hubFlags(cmd)
	cmd.AddCommand(newQueueAddCmd(a), newQueueImportCmd(a), newQueueListCmd(a), newQueueShowCmd(a), newQueueLogsCmd(a), newQueueCancelCmd(a), newQueueRetryCmd(a), newQueueRmCmd(a), newQueueRunCmd(a))
	return cmd
}

// A backlog is the queue as a command has it.
type backlog struct {
	app  *app
	home *hub.Home
	link *hub.Link
	on   *board.Board

	replicas int    // of what is kept, on servers of the user's own
	remote   string // of git, that commits travel through
}

// openBacklog opens the user's queue. The caller closes it.
func (a *app) openBacklog(ctx context.Context) (*backlog, error) {
	return a.open(ctx, func(home *hub.Home) (*hub.Link, error) { return home.Connect(ctx) })
}

// open opens the queue, at the hub that the user has named or else at the one of this home.
func (a *app) open(ctx context.Context, own func(*hub.Home) (*hub.Link, error)) (*backlog, error) {
	home, err := hub.Open(a.Data("queue"))
	if err != nil {
		return nil, err
	}
	q, err := a.queueSettings()
	if err != nil {
		return nil, err
	}
	var link *hub.Link
	if q.Hub == "" {
		link, err = own(home)
	} else {
		link, err = home.Reach(hub.Way{URL: q.Hub, CA: q.CA, Cert: q.Cert, Key: q.Key, Creds: q.Creds})
	}
	if err != nil {
		return nil, err
	}
	o := a.board
	o.Replicas, o.Now = q.Replicas, a.Now
	on, err := board.Open(ctx, link.Conn, o)
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return &backlog{app: a, home: home, link: link, on: on, replicas: q.Replicas, remote: q.Through()}, nil
}

// queueSettings say where the queue is. No project has a say in that.
func (a *app) queueSettings() (config.Queue, error) {
	o := config.Options{Env: a.Environ, Home: a.Home(), Outputs: agent.Formats()}
	if a.hub != "" {
		o.Flags = map[string]any{"queue.hub": a.hub}
	}
	cfg, err := config.Load(o)
	if err != nil {
		return config.Queue{}, err
	}
	secrets := slices.Clip(a.Environ)
	for _, secret := range hub.Secrets(cfg.Queue.Hub) { // they are kept out of logs and messages
		secrets = append(secrets, "QUEUE_PASSWORD="+secret)
	}
	if len(secrets) > len(a.Environ) {
		a.Secrets = redact.New(secrets)
	}
	return cfg.Queue, nil
}

// hubFlags are where the queue is served.
func (a *app) hubFlags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&a.hub, "hub", "", "the queue is served at `URL`, as `codeloops hub` prints it there (default: on this machine)")
	f.StringVar(&a.hub, "nats", "", "the same, of a NATS server of yours with JetStream: `URL`")
	manual.Under("Queue", f, "hub", "nats")
}

func (b *backlog) Close() error { return b.link.Close() }

// repository is the one where the user stands.
func (b *backlog) repository() (queue.Repository, error) {
	r, err := repo.Open(b.app.Dir, b.app.LookupEnv)
	if err != nil {
		return queue.Repository{}, err
	}
	main := r.WorkTree
	if filepath.Base(r.CommonDir) == ".git" {
		if first, err := repo.Open(filepath.Dir(r.CommonDir), b.app.LookupEnv); err == nil { // else it is bare
			main = first.WorkTree // of all its work trees
		}
	}
	return queue.Repository{Home: b.home.ID(), Root: main}, nil
}

// mine are the tasks of the repository where the user stands, or all.
func (b *backlog) mine(ctx context.Context, everywhere bool) (queue.Backlog, error) {
	all, err := b.on.All(ctx)
	if err != nil || everywhere {
		return all, err
	}
	here, err := b.repository()
	if err != nil {
		return nil, err
	}
	for id, r := range all {
		if r.Task.Repository != here {
			delete(all, id)
		}
	}
	return all, nil
}

// taskOptions are the flags of tasks that are added.
type taskOptions struct {
	run      runOptions
	target   string
	after    []string
	touches  []string
	setup    string
	priority int
	unmerged bool
	asJSON   bool
	but      string // a setting whose flag means something else to the command
}

func (o *taskOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.target, "target", "", "merge the result into `branch`; the one that is checked out, unless you say otherwise")
	f.StringArrayVar(&o.after, "after", nil, "begin when the task `ID` is merged")
	f.StringArrayVar(&o.touches, "touches", nil, "`glob` of files that the task may change; two tasks whose globs may meet are worked on one after the other")
	f.IntVar(&o.priority, "priority", 0, "tasks with a higher `n` are worked on first")
	f.StringVar(&o.setup, "setup", "", "run `command` in a new work tree before an agent starts there")
	f.BoolVar(&o.unmerged, "no-merge", false, "leave the result on the branch of the task")
	addJSON(cmd, &o.asJSON)
	manual.Under("Queue", f, "target", "after", "touches", "priority", "setup", "no-merge", "json")
	for _, s := range run.Table() {
		if s.Group == run.AboutOutput || s.Flag == o.but {
			continue
		}
		o.run.addSetting(f, s)
	}
}

func newQueueAddCmd(a *app) *cobra.Command {
	o := &taskOptions{}
	var file string
	cmd := &cobra.Command{
		Use:         "add [flags] PROMPT…",
		Annotations: exits("the task is in the queue", ""),
		Short:       "Add a task",
		Long: `Add a task for this repository. It is worked on by ` + "`codeloops queue run`" + `, with the
settings that are said here and those of the configuration.`,
		Example: `  codeloops queue add "make the parser accept ISO weeks, with tests"
  codeloops queue add --after iso-weeks-3f2a91 --check "go test ./..." "print ISO weeks, too"
  codeloops queue add --prompt-file task.md --priority 5 --touches 'docs/**'`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := a.usersOwn(map[string]bool{"`codeloops queue add`": true}); err != nil {
				return err
			}
			o.run.prompt.Words, o.run.prompt.File = args, file
			text, _, err := o.run.prompt.Await(cmd.Context(), a.Dir, a.In, func() {})
			if err != nil {
				return err
			}
			b, err := a.openBacklog(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			return b.add(cmd, o, text)
		},
	}
	cmd.Flags().StringVar(&file, "prompt-file", "", "read the task from `file`; - is standard input")
	manual.Under("Queue", cmd.Flags(), "prompt-file")
	o.addFlags(cmd)
	return cmd
}

// add adds a task with the settings of a command line.
func (b *backlog) add(cmd *cobra.Command, o *taskOptions, prompt string) error {
	t, err := b.task(cmd, o)
	if err != nil {
		return err
	}
	t.Prompt = prompt
	t.Name()
	all, err := b.on.All(cmd.Context())
	if err != nil {
		return err
	}
	if was, there := all[t.ID]; there {
		return hint.Errorf("codeloops queue retry "+t.ID+" has it tried again, queue rm takes it out",
			"the same task is in the queue already: %s, %s", t.ID, was.State)
	}
	if err := all.Fits([]queue.Task{t}); err != nil {
		return err
	}
	r, err := b.on.Add(cmd.Context(), t)
	if err != nil {
		return err
	}
	if o.asJSON {
		return printJSON(b.app.Out, r)
	}
	fmt.Fprintln(b.app.Out, t.ID) //nolint:errcheck // a reader that has gone
	return nil
}

// addJSON declares the flag of what is printed for programs.
func addJSON(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print one JSON object on standard output, and nothing else there")
}

// task is what the command line says of any task. Whatever can be refused is refused here.
func (b *backlog) task(cmd *cobra.Command, o *taskOptions) (t queue.Task, err error) {
	flags := run.FromAnywhere(o.settings(cmd), b.app.Path)
	settings, err := run.NewSettings(flags)
	if err != nil {
		return t, err
	}
	here, err := b.repository()
	if err != nil {
		return t, err
	}
	host := b.app.Host
	host.Dir = here.Root
	cast, err := run.Fit(cmd.Context(), run.Options{Host: &host, Settings: settings, User: run.User{Alone: true}})
	if err != nil {
		return t, err
	}
	target, err := b.target(cmd.Context(), here.Root, o.target)
	if err != nil {
		return t, err
	}
	return queue.Task{
		Repository: here, Target: target, Flags: flags, Cast: queue.CastOf(cast), After: o.after, Touches: o.touches, Setup: o.setup,
		Priority: o.priority, Unmerged: o.unmerged, Added: b.on.Now().UTC(),
	}, nil
}

// settings are those of a run that were said of tasks.
func (o *taskOptions) settings(cmd *cobra.Command) []loop.Flag {
	return slices.DeleteFunc(given(cmd.Flags()), func(f loop.Flag) bool { return f.Name == o.but })
}

// target is the branch that results are merged into: the one that is said, or checked out.
func (b *backlog) target(ctx context.Context, root, said string) (string, error) {
	runner := proc.NewRunner(b.app.Now)
	defer runner.Close() //nolint:errcheck // nothing of it is left
	g, err := git.Open(ctx, root, runner, b.app.Environ)
	if err != nil {
		return "", err
	}
	name := said
	if name == "" {
		if name, err = g.Run(ctx, b.app.Dir, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil {
			return "", hint.Errorf("--target BRANCH", "no branch is checked out here that results could be merged into")
		}
	}
	_, there, err := g.Commit(ctx, "refs/heads/"+name)
	if err != nil {
		return "", err
	}
	if !there {
		return "", hint.Errorf(cmp.Or(map[bool]string{true: "make a first commit: git commit"}[said == ""], "git branch lists those that there are"),
			"the branch %s has no commit", name)
	}
	return name, nil
}

// completeAfter completes the IDs of tasks behind a flag.
func (a *app) completeAfter(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeTask(cmd, nil, typed)
}

// completeTask completes the IDs of tasks.
func (a *app) completeTask(cmd *cobra.Command, args []string, _ string) (ids []cobra.Completion, how cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	b, err := a.openBacklog(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer b.Close() //nolint:errcheck // it was only read
	all, err := b.mine(cmd.Context(), false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, r := range all.Sorted() {
		ids = append(ids, cobra.CompletionWithDesc(r.Task.ID, string(r.State)+": "+term.Line(r.Task.Title())))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// oneTask takes the ID of a task.
func oneTask(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return usagef("codeloops queue list shows those that there are", "%s takes the ID of one task, but got %s", cmd.CommandPath(), wording.Count(len(args), "argument"))
}

// find is the task that a reference means: an ID or the beginning of one.
func (b *backlog) find(ctx context.Context, ref string) (queue.Record, error) {
	r, err := b.on.Get(ctx, ref)
	if err == nil || !errors.Is(err, board.ErrNone) {
		return r, err
	}
	all, err := b.on.All(ctx)
	if err != nil {
		return r, err
	}
	return all.Meant(ref)
}
