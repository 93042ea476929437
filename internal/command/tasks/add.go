package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/play"
	"codeloops/internal/queue/source"
	"codeloops/internal/run"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// taskOptions are the flags for new tasks.
type taskOptions struct {
	prompt   task.Sources
	target   string
	after    []string
	setup    string
	priority int
	unmerged bool
	merge    string
	squash   bool
	request  bool
	asJSON   bool
	but      string // a setting whose flag has another meaning for the command
	lack     error  // why this machine cannot run the tasks as it is; nil: it can
}

func (o *taskOptions) addFlags(cmd *cobra.Command, q *Access) {
	f := cmd.Flags()
	f.StringVar(&o.target, "target", "", "merge the result into `branch` (default: the one that is checked out)")
	f.StringArrayVar(&o.after, "after", nil, "begin after the task `ID` is merged")
	_ = cmd.RegisterFlagCompletionFunc("after", func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return q.complete(cmd, nil, typed)
	}) // fails only for an unknown flag
	f.IntVar(&o.priority, "priority", 0, "tasks with a higher `n` are worked on first")
	f.StringVar(&o.setup, "setup", "", "run `command` in a new work tree before an agent starts there")
	f.StringVar(&o.merge, "merge", "", "`auto|ask|never`: merge the result, merge it once you have accepted it, or leave it on the branch of the task (default: as configured)")
	f.BoolVar(&o.unmerged, "no-merge", false, "the same as --merge never")
	f.BoolVar(&o.squash, "squash", false, "merge the result as one commit, so that the history of the target stays linear")
	f.BoolVar(&o.request, "pr", false, "open a pull request with the result, which is then merged there (codeloops help pr)")
	addJSON(cmd, &o.asJSON)
	manual.Group("Queue", f, "target", "after", "priority", "setup", "merge", "no-merge", "squash", "pr", "json")
	manual.Usual(f, "target", "after", "priority", "setup")
	for _, k := range config.Flags() {
		if k.Topic == config.TopicOutput || k.Flag == o.but {
			continue
		}
		command.AddSetting(f, k)
	}
}

func newQueueAddCmd(q *Access) *cobra.Command {
	o := &taskOptions{}
	var file string
	cmd := &cobra.Command{
		Use:         "add [flags] PROMPT…",
		Annotations: command.Exits("the task is in the queue", ""),
		Short:       "Add a task",
		Long: `Add a task for this repository. ` + "`codeloops queue run`" + ` works on it, with the settings
given here and in the configuration.`,
		Example: `  codeloops queue add "make the parser accept ISO weeks, with tests"
  codeloops queue add --after iso-weeks-3f2a91 --check "go test ./..." "print ISO weeks, too"
  codeloops queue add --prompt-file task.md --priority 5`,
		PreRunE: q.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.prompt.Words, o.prompt.File, o.prompt.By = args, file, cmd.CommandPath()
			text, _, err := o.prompt.Await(cmd.Context(), q.Dir, q.In, func() {})
			if err != nil {
				return err
			}
			return q.with(cmd.Context(), func(b *backlog) error { return o.add(cmd, b, text) })
		},
	}
	cmd.Flags().StringVar(&file, "prompt-file", "", "read the task from `file`; - is standard input")
	manual.Group("Queue", cmd.Flags(), "prompt-file")
	o.addFlags(cmd, q)
	return cmd
}

// add adds a task with the settings of a command line.
func (o *taskOptions) add(cmd *cobra.Command, b *backlog, prompt string) error {
	t, err := o.task(cmd.Context(), b, o.settings(cmd))
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
		advice := "codeloops queue rm " + t.ID + " takes it out"
		switch {
		case was.State == queue.Waiting:
			advice = "codeloops queue run works on it; " + advice
		case was.State == queue.Running:
			advice = "codeloops queue cancel " + t.ID + " stops the work on it"
		case was.State.Over() && was.State != queue.Merged:
			advice = "codeloops queue retry " + t.ID + " has it tried again, queue rm takes it out"
		}
		return hint.Errorf(advice, "the same task is in the queue already: %s, %s", t.ID, was.State)
	}
	if err := all.Validate([]queue.Task{t}); err != nil {
		return err
	}
	r, err := b.on.Add(cmd.Context(), t)
	if err != nil {
		return err
	}
	o.warn(b, "the task")
	if o.asJSON {
		return b.JSON(r)
	}
	_, err = fmt.Fprintln(b.Out, t.ID)
	return pager.UnlessGone(err)
}

// warn says why this machine cannot run tasks that were added. Another one may.
func (o *taskOptions) warn(b *backlog, what string) {
	if o.lack != nil {
		b.Tell(what + " cannot run on this machine yet: " + term.Line(hint.Sentence(o.lack)))
	}
}

// addJSON adds the flag --json.
func addJSON(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print one JSON object on standard output, and nothing else")
}

// task makes a task from the command line, with the given settings, and rejects whatever is invalid.
func (o *taskOptions) task(ctx context.Context, b *backlog, given []loop.Flag) (t queue.Task, err error) {
	flags := run.FromAnywhere(given, b.Path)
	settings, err := run.NewSettings(flags)
	if err != nil {
		return t, err
	}
	here, err := b.repository()
	if err != nil {
		return t, err
	}
	dir, project, err := b.project(settings.Trusts())
	if err != nil {
		return t, err
	}
	cast, lack, err := run.Fit(ctx, run.Options{Host: &b.Host, Settings: settings, Project: project, User: run.User{Alone: true}})
	if err != nil {
		return t, err
	}
	o.lack = lack
	policy, err := o.policy(b)
	if err != nil {
		return t, err
	}
	target, err := o.into(b)
	if err != nil {
		return t, err
	}
	if o.request {
		if err := b.aim(ctx, here.Root); err != nil {
			return t, err
		}
	}
	global, err := play.KeepGlobal(b.home, &b.Host)
	if err != nil {
		return t, err
	}
	var after []string
	for _, ref := range o.after {
		r, err := b.find(ctx, ref)
		if err != nil {
			return t, err
		}
		after = append(after, r.Task.ID)
	}
	return queue.Task{
		Repository: here, Dir: dir, Project: project, Global: global, Target: target, Flags: flags, Cast: queue.CastOf(cast), After: after, Setup: o.setup,
		Priority: o.priority, Unmerged: policy == "never", Asks: policy == "ask", Squash: o.squash, Request: o.request, Added: b.on.Now().UTC(),
	}, nil
}

// policy says what becomes of results.
func (o *taskOptions) policy(b *backlog) (string, error) {
	all := []string{"auto", "ask", "never"}
	switch {
	case o.request && (o.squash || o.unmerged || o.merge != ""):
		return "", hint.Errorf("leave it out", "--pr has the result merged where the pull request is, so --merge, --no-merge and --squash mean nothing")
	case o.request:
		return "ask", nil
	case o.unmerged && o.merge != "" && o.merge != "never":
		return "", hint.Errorf("leave one of them out", "--no-merge and --merge %s contradict each other", o.merge)
	case o.unmerged:
		return "never", nil
	case o.merge != "" && !slices.Contains(all, o.merge):
		return "", hint.Errorf("such as --merge ask", "--merge must be one of %s, not %q", strings.Join(all, ", "), o.merge)
	}
	return cmp.Or(o.merge, b.merge), nil
}

// settings are the run settings that were given for tasks.
func (o *taskOptions) settings(cmd *cobra.Command) []loop.Flag {
	return slices.DeleteFunc(command.Given(cmd.Flags()), func(f loop.Flag) bool { return f.Name == o.but })
}

// into is the branch to merge into: the one given, or the one checked out.
func (o *taskOptions) into(b *backlog) (string, error) {
	at, err := b.at()
	if err != nil {
		return "", err
	}
	name := o.target
	if name == "" {
		head, err := at.Head()
		if err != nil {
			return "", err
		}
		if name = head.Branch; name == "" {
			return "", hint.Errorf("check one out: git switch BRANCH", "no branch is checked out here that results could be merged into")
		}
	}
	branch, err := at.Branch(name)
	switch {
	case err != nil:
		return "", err
	case branch.Commit != "" && branch.Branch != "":
		return branch.Branch, nil
	case o.target == "":
		return "", hint.Errorf("make a first commit: git commit", "the branch %s has no commit", name)
	}
	return "", hint.Errorf("git branch lists those that there are", "there is no branch %q", name)
}

func newQueueImportCmd(q *Access) *cobra.Command {
	o := &taskOptions{}
	var program string
	cmd := &cobra.Command{
		Use:         "import [FILE]",
		Annotations: command.Exits("the tasks are in the queue", ""),
		Short:       "Add the open tasks of a checklist, a prd.json or a program",
		Long: `Add the tasks of a source that are open and not in the queue yet. A source is

  a Markdown checklist  each open box (- [ ]) is a task, with the text indented below
                        it; each comes after those above it, unless [P] after its box
                        says that it may run in parallel
  a file *.json         user stories with their acceptance criteria
  --command PROGRAM     whatever a program of yours lists; there are such programs for
                        the issues of GitHub, GitLab and beads

Codeloops reports results to the source: for example, it ticks the box of a task once
that is merged. See codeloops help queue-sources.`,
		Example: `  codeloops queue import tasks.md --check "go test ./..."
  codeloops queue import --command ./github.sh`,
		Args: func(cmd *cobra.Command, args []string) error {
			given := len(args)
			if program != "" {
				given++
			}
			if given == 1 {
				return nil
			}
			return hint.Errorf("codeloops queue import tasks.md", "%s takes one source, but got %d", cmd.CommandPath(), given)
		},
		PreRunE: q.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			from := queue.Origin{Kind: "command", Name: program}
			if len(args) > 0 {
				from = q.file(args[0])
			}
			return q.with(cmd.Context(), func(b *backlog) error {
				added, there, err := o.take(cmd, b, from)
				if err == nil && o.asJSON {
					err = q.JSON(map[string]any{"added": added})
				} else if err == nil {
					_, err = fmt.Fprintln(q.Out, imported(len(added), there))
				}
				return pager.UnlessGone(err)
			})
		},
	}
	cmd.Flags().StringVar(&program, "command", "", "what `PROGRAM` lists")
	manual.Group("Queue", cmd.Flags(), "command")
	o.addFlags(cmd, q)
	return cmd
}

// file is the origin of tasks in a file.
func (q *Access) file(name string) queue.Origin {
	return queue.Origin{Kind: source.KindOf(name), Name: q.Path(name)}
}

// imported says how many tasks were added, and how many the queue had already.
func imported(added, there int) string {
	return fmt.Sprintf("%s added, %d there already", wording.Count(added, "task"), there)
}

// take adds the tasks of a source that are not in the queue yet. It returns how many are.
func (o *taskOptions) take(cmd *cobra.Command, b *backlog, origin queue.Origin) (added []queue.Record, already int, err error) {
	like, err := o.task(cmd.Context(), b, o.settings(cmd))
	if err != nil {
		return nil, 0, err
	}
	from, err := b.player().Source(origin, like.Repository.Root)
	if err != nil {
		return nil, 0, err
	}
	tasks, err := play.Tasks(cmd.Context(), from, like)
	if err != nil {
		return nil, 0, err
	}
	there, err := b.on.All(cmd.Context())
	if err != nil {
		return nil, 0, err
	}
	if err := there.Validate(tasks); err != nil {
		return nil, 0, err
	}
	for _, id := range play.Closed(there, from, tasks) {
		b.Tell(fmt.Sprintf("task %s waits, and %s does not have it open any more: codeloops queue rm %[1]s takes it out", id, term.Line(origin.Name)))
	}
	for _, sentence := range play.ReopenHints(there, tasks) {
		b.Tell(term.Line(sentence))
	}
	added = []queue.Record{}
	for _, t := range tasks {
		r, err := b.on.Add(cmd.Context(), t)
		if errors.Is(err, board.ErrThere) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		added = append(added, r)
	}
	if len(added) > 0 {
		o.warn(b, "the tasks")
	}
	return added, len(tasks) - len(added), nil
}
