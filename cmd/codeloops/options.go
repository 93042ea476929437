package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/run"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// runOptions are the flags of a run.
type runOptions struct {
	prompt     task.Sources
	workingDir string
	settings   run.Settings

	dryRun     bool
	yes        bool
	waits      bool // for answers of other processes
	jsonOutput bool
	logFile    string
	quiet      bool
	verbose    bool
	edit       bool
	demo       bool // a demonstration, which cannot be resumed
	gate       bool // only judge what is there
	pr         bool // open a pull request with what was approved
	draft      bool // which is a draft
}

// addFlags declares the flags of a new run.
func (o *runOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringP("prompt", "p", "", "the task, as a single `text`")
	f.StringVar(&o.prompt.File, "prompt-file", "", "read the task from `file`; - is standard input")
	f.StringVar(&o.prompt.Name, "prompt-name", "", "read the task from .codeloops/prompts/`name`.md in the repository")
	f.StringArrayVar(&o.prompt.Skills, "skill", nil, "name the skill `name` in the task (repeatable; codeloops prompt skills)")
	f.BoolVarP(&o.edit, "edit", "e", false, "write or edit the task in your editor ($VISUAL, $EDITOR)")
	f.StringVarP(&o.workingDir, "working-dir", "d", "", "work in `dir` instead of the current directory")
	o.addRunFlags(f)
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask before running a very short prompt")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be run, without running it")
	manual.Group(config.TopicTask, f, "prompt", "prompt-file", "prompt-name", "skill", "edit", "working-dir", "yes", "dry-run")
	manual.Usual(f, "prompt", "prompt-file", "working-dir")
}

// addRunFlags declares the flags of every run, new or resumed. The defaults of
// settings are in the configuration and not repeated here.
func (o *runOptions) addRunFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	for _, k := range config.Flags() {
		command.AddSetting(f, k)
	}
	f.BoolVar(&o.waits, "wait-for-answers", false, "without a terminal, wait for answers that codeloops say, the page or an agent gives")
	f.BoolVar(&o.jsonOutput, "json-output", false, "print one JSON object to standard output at the end, and nothing else")
	f.StringVar(&o.logFile, "log-file", "", "append a debug log to `file`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress, only the result")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also show what the agents print while they work")
	f.BoolVar(&o.pr, "pr", false, "open a pull request with what the critic has approved (codeloops help pr)")
	f.BoolVar(&o.draft, "draft", false, "with --pr: as a draft")
	manual.Group(config.TopicTask, f, "wait-for-answers")
	manual.Group(config.TopicOutput, f, "json-output", "log-file", "quiet", "verbose", "pr", "draft")
}

// run runs the loop with the parsed flags and arguments of a command.
func (o *runOptions) run(a *app, cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	o.prompt.Words = args
	if o.dryRun && o.jsonOutput {
		return hint.Errorf("leave one of them out", "--dry-run and --json-output contradict each other")
	}
	if o.quiet && o.verbose {
		return hint.Errorf("leave one of them out", "--quiet and --verbose contradict each other")
	}
	if flags.Changed("prompt") {
		text, _ := flags.GetString("prompt") // declared above
		o.prompt.Flag = &text
	}
	if err := o.takeSettings(flags); err != nil {
		return err
	}
	return runRun(cmd.Context(), a, o)
}

// takeSettings collects the settings among the flags.
func (o *runOptions) takeSettings(flags *pflag.FlagSet) (err error) {
	if o.draft && !o.pr {
		return hint.Errorf("add --pr", "--draft needs --pr")
	}
	o.settings, err = run.NewSettings(command.Given(flags))
	return err
}

// flagError explains a bad flag, and suggests the nearest one.
func flagError(cmd *cobra.Command, args []string, err error) error {
	what := "`" + cmd.CommandPath() + " --help` lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if line := asPrompt(cmd, args, unknown.GetSpecifiedName()); line != "" {
			return hint.Errorf(fmt.Sprintf("%q is a command; as a prompt: %s", cmd.Name(), line), "%s has no flag %s", cmd.CommandPath(), dashed(unknown.GetSpecifiedName()))
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name, near := wording.Nearest(unknown.GetSpecifiedName(), names); near {
			what = "did you mean --" + name + "?"
		}
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() == "int" {
		return hint.Errorf(what, "--%s must be a whole number, not %q", bad.GetFlag().Name, bad.GetValue())
	}
	return hint.Errorf(what, "%v", err)
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// asPrompt returns the command line with -- before the name of the command, if the unknown flag is
// one of runs: then that name was probably meant as part of a prompt. Otherwise it returns "".
func asPrompt(cmd *cobra.Command, args []string, flag string) string {
	root := cmd.Root()
	known := root.Flags().Lookup(flag)
	if len(flag) == 1 {
		known = root.Flags().ShorthandLookup(flag)
	}
	at := slices.IndexFunc(args, func(word string) bool { return word == cmd.Name() || cmd.HasAlias(word) })
	if known == nil || cmd.Parent() != root || at < 1 {
		return ""
	}
	words := []string{root.Name()}
	for _, word := range slices.Insert(slices.Clone(args), at, "--") {
		words = append(words, wording.Shell(word))
	}
	return strings.Join(words, " ")
}
