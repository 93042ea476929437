package main

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/command/gates"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/wording/hint"
)

// gateOptions are the flags of `codeloops gate`.
type gateOptions struct {
	runOptions
	task   string
	since  string
	hook   string
	strict bool
	rounds int
	within time.Duration
}

// sinceStart is what a change is measured from in a hook.
const sinceStart = "start"

func newGateCmd(a *app) *cobra.Command {
	o := &gateOptions{}
	cmd := &cobra.Command{
		Use:         "gate [flags] [task…]",
		Annotations: runExits(),
		Short:       "Let the critic judge the work that is there now",
		Long: `Judge the present work tree against a task, as a run judges the work of its
actor: the checks, the rules and the critic. No actor plays. The session is
logged, and its exit code says whether the work was approved.

The task comes from the command line, --task or --task-file, or else from
standard input or prompt.md; without any of them it is that of the last session
in this work tree.

With --hook it is a hook of Claude Code or Codex, which ` + "`codeloops gate install`" + `
sets up: the agent may stop once its work is approved, and gets the findings
before. See codeloops help hooks.`,
		Example: `  codeloops gate "the parser accepts ISO weeks, with tests"
  codeloops gate --since main --check "go test ./..." --task-file issue.md --json
  codeloops gate install claude`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.takeSettings(cmd.Flags()); err != nil {
				return err
			}
			o.prompt.Words, o.prompt.By = args, "codeloops gate"
			if cmd.Flags().Changed("task") {
				o.prompt.Flag = &o.task
			}
			if o.hook != "" {
				return o.answer(cmd.Context(), a)
			}
			return o.judge(cmd.Context(), a)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.task, "task", "", "the task, as a single `text`")
	f.StringVar(&o.prompt.File, "task-file", "", "read the task from `file`; - is standard input")
	f.StringVar(&o.since, "since", "", "what the change is measured from: a `commit`, or "+worktree.MergeBase+" with the main branch (the default), or, in a hook, "+
		sinceStart+" of the conversation")
	f.StringVarP(&o.workingDir, "working-dir", "d", "", "judge the work tree of `dir` instead of the current one")
	f.StringVar(&o.hook, "hook", "", "be a hook of the agent `claude|codex`: read its event, and print the decision")
	f.BoolVar(&o.strict, "strict", false, "in a hook: also keep the agent from stopping when the work could not be judged")
	f.IntVar(&o.rounds, "rounds", 3, "in a hook: let the agent stop after it was sent back `n` times")
	f.DurationVar(&o.within, "within", gates.Patience, "in a hook: let the agent stop if there is no verdict after this `time`")
	manual.Group(config.TopicTask, f, "task", "task-file", "since", "working-dir")
	manual.Group("Hook", f, "hook", "strict", "rounds", "within")
	for _, k := range config.Flags() {
		if !slices.Contains(ofActors(), k.Flag) {
			command.AddSetting(f, k)
		}
	}
	f.BoolVar(&o.jsonOutput, "json", false, "print one JSON object to standard output at the end, and nothing else")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress, only the result")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also show what the critic prints while it works")
	manual.Group(config.TopicOutput, f, "json", "quiet", "verbose")
	manual.Usual(f, "task", "task-file", "since", "hook", "json")
	cmd.AddCommand(gates.Commands(a.Console)...)
	return cmd
}

// ofActors are the flags of runs that mean nothing without an actor.
func ofActors() []string {
	return []string{
		"actor-agent", "actor-model", "actor-timeout", "max-iterations", "check-before", "require-change",
		"strategy", "jobs", "approve-plan", "best-of",
	}
}

// judge judges the work tree once.
func (o *gateOptions) judge(ctx context.Context, a *app) error {
	if err := a.RequireUser(map[string]bool{"--trust-project": o.settings.Trusts()}); err != nil {
		return err
	}
	dir, err := worktree.RealDir(a.Path(o.workingDir))
	if err != nil {
		return err
	}
	if o.since == sinceStart {
		return hint.Errorf("name a commit, or leave it out", "--since %s is of a hook", sinceStart)
	}
	o.gate = true
	r := &runCommand{app: a, opts: &o.runOptions}
	if r.prompt, err = o.asked(ctx, a, dir); err != nil {
		return err
	}
	options := r.options("")
	options.Prompt, options.Judge = r.prompt, &run.Judged{By: loop.AgentRef{Agent: "you"}}
	if options.Judge.Since, err = worktree.Commit(ctx, &a.Host, dir, cmp.Or(o.since, worktree.MergeBase)); err != nil {
		return err
	}
	if r.plan, err = run.Prepare(ctx, options); err != nil {
		return err
	}
	defer r.plan.Close() //nolint:errcheck // write errors have been reported
	return r.run(ctx)
}

// asked returns the task.
func (o *gateOptions) asked(ctx context.Context, a *app, dir string) (string, error) {
	if o.prompt.None() && !task.Written(dir) && a.CanAsk() {
		return lastTask(a, dir)
	}
	text, _, err := o.prompt.Await(ctx, dir, a.In, func() { a.Tell("waiting for the task") })
	return text, err
}

// lastTask is that of the last session in the work tree.
func lastTask(a *app, dir string) (string, error) {
	missing := hint.Errorf("say what should be true: codeloops gate 'TASK'", "there is no task to judge the work by")
	l, here := a.Logs(), a.Host
	here.Dir = dir
	store, err := l.Store()
	if err != nil {
		return "", err
	}
	id, err := store.Latest(lookup.Here(&here).Tree)
	if err != nil {
		return "", missing
	}
	if text := session.Look(store.Path(id)).Session.Prompt; strings.TrimSpace(text) != "" {
		a.Tell("the task is that of session " + id)
		return text, nil
	}
	return "", missing
}

// answer answers one event of an agent's hook. Whatever goes wrong, it ends with 0 and, if it must, a decision.
func (o *gateOptions) answer(ctx context.Context, a *app) error {
	if o.hook != gates.Claude && o.hook != gates.Codex {
		return hint.Errorf("name one of "+gates.Claude+", "+gates.Codex, "no hook of the agent %q is known", o.hook)
	}
	if a.InTurn() {
		return nil // of a run, which has a critic of its own
	}
	h := &gates.Hook{
		Agent: o.hook, Strict: o.strict, Rounds: o.rounds, Since: o.since, Within: o.within,
		Host: &a.Host, Version: command.Version(), Settings: o.settings,
	}
	if reply := h.Answer(ctx, a.In); reply != nil {
		return a.JSON(reply)
	}
	return nil
}

// isHook recognizes the command line of a hook, also one that does not parse.
func isHook(args []string) bool {
	return len(args) > 1 && args[0] == "gate" && slices.ContainsFunc(args, func(arg string) bool { return arg == "--hook" || strings.HasPrefix(arg, "--hook=") })
}

// bugsAreCrashes has a bug of ours, in whichever goroutine, end this process by a signal. Agents tell their user then that
// the hook has failed; an exit code of 2, as Go's own, they take for a decision.
func bugsAreCrashes() {
	debug.SetTraceback("crash")
	proc.LeaveNoCore() // it would lie in the user's repository
}

// letGo answers a hook that went wrong before it had an answer, as by a flag that does not exist. An exit code of 2, as of
// other commands, would keep the agent from stopping.
func (a *app) letGo(err error) int {
	_ = a.JSON((&gates.Hook{}).Unsure(err)) // there is nowhere else to say it
	return command.ExitDone
}
