package evals

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/eval/trial"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// Play plays trials through a queue.
type Play func(ctx context.Context, dir string, jobs int, all []trial.Trial, ended func(done, of int)) (map[string]trial.End, error)

type tasksOptions struct {
	reportOptions
	configs []string
	times   int
	jobs    int
	home    string
	timeout time.Duration
}

func newTasksCmd(l *command.Logs, play Play) *cobra.Command {
	o := &tasksOptions{}
	cmd := &cobra.Command{
		Use:         "tasks DIR",
		Annotations: command.Exits("the report was printed", ""),
		Short:       "Try configurations on tasks whose checks nobody who works on them sees",
		Long: `Play each task of a folder under each configuration, some times over, through a
queue of their own, and report how many were solved: the loop said DONE and the
task's check, which neither actor nor critic sees, passed. A DONE whose check fails
is a false DONE. The first configuration is compared with each other one, task by
task. The same command carries on after Ctrl+C or a crash, and plays no trial
twice. docs/eval.md describes what a task looks like.`,
		Example: `  codeloops eval tasks tasks/ --config with-critic.toml --config alone.toml -n 5 --jobs 4`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return hint.Errorf("codeloops eval tasks DIR --config FILE", "%s takes one folder of tasks, but got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		PreRunE: l.Console.UsersCommand,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), l, args[0], play) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.configs, "config", nil, "try the configuration in `file`, of the form of a project's codeloops.toml; may be repeated")
	f.IntVarP(&o.times, "times", "n", 1, "play each task `n` times under each configuration")
	f.IntVar(&o.jobs, "jobs", 2, "play `n` trials at the same time")
	f.StringVar(&o.home, "home", "", "keep repositories, sessions and results in `dir` (default: beside the session logs)")
	f.DurationVar(&o.timeout, "check-timeout", 10*time.Minute, "a check or a setup fails after this `time`")
	manual.Group("Trials", f, "config", "times", "jobs", "home", "check-timeout")
	o.formats(f)
	return cmd
}

func (o *tasksOptions) run(ctx context.Context, l *command.Logs, dir string, play Play) (err error) {
	c := l.Console
	switch {
	case len(o.configs) == 0:
		return hint.Errorf("--config FILE; it may be repeated", "there is no configuration to try")
	case o.times < 1 || o.jobs < 1:
		return hint.Errorf("leave them out", "--times and --jobs are at least 1")
	}
	dir = c.Path(dir)
	tasks, err := trial.Tasks(dir)
	if err != nil {
		return err
	}
	var configs []trial.Config
	for _, path := range o.configs {
		one, err := trial.ReadConfig(c.Path(path))
		if err != nil {
			return err
		}
		configs = append(configs, one)
	}
	if o.home == "" {
		store, err := l.Store()
		if err != nil {
			return err
		}
		o.home = filepath.Join(store.Dir(), "eval", "tasks", filepath.Base(dir))
	}
	runner := proc.NewRunner(c.Now)
	defer func() { err = errors.Join(err, runner.Close()) }()
	last := -1
	lab := &trial.Lab{
		Home: c.Path(o.home), Environ: c.Environ, Runner: runner, Play: play, Jobs: o.jobs, Timeout: o.timeout, Tell: c.Tell,
		Ended: func(done, of int) {
			if done != last {
				last = done
				fmt.Fprintf(c.Err, "%d of %d\n", done, of) //nolint:errcheck // only information
			}
		},
	}
	all, err := lab.Run(ctx, tasks, configs, o.times)
	if err != nil {
		return err
	}
	r := trial.NewReport(all, configs)
	return o.show(c, r, "Which configuration solves more?", r.Tables())
}
