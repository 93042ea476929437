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
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/wording"
)

// runOptions are the flags of a run.
type runOptions struct {
	prompt     task.Sources
	workingDir string
	settings   run.Settings

	dryRun     bool
	yes        bool
	jsonOutput bool
	logFile    string
	quiet      bool
	verbose    bool
	edit       bool
	demo       bool // a throw-away run, which nobody carries on
}

// addFlags declares the flags of a new run.
func (o *runOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringP("prompt", "p", "", "the task, as one `text`")
	f.StringVar(&o.prompt.File, "prompt-file", "", "read the task from `file`; - is standard input")
	f.StringVar(&o.prompt.Name, "prompt-name", "", "the task that the repository has in .codeloops/prompts/`name`.md")
	f.BoolVarP(&o.edit, "edit", "e", false, "write the task in your editor ($VISUAL, $EDITOR), or go over it there")
	f.StringVarP(&o.workingDir, "working-dir", "d", "", "work in `dir` instead of the current directory")
	o.addRunFlags(f)
	f.BoolVarP(&o.yes, "yes", "y", false, "run a prompt of a few words without asking")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be run, and run nothing")
	manual.Under(string(run.AboutTask), f, "prompt", "prompt-file", "prompt-name", "edit", "working-dir", "yes", "dry-run")
}

// addRunFlags declares the flags of every run, new or resumed. The defaults of
// settings live in the configuration and are not repeated here.
func (o *runOptions) addRunFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	for _, s := range run.Table() {
		o.addSetting(f, s)
	}
	f.BoolVar(&o.jsonOutput, "json-output", false, "print one JSON object on standard output at the end, and nothing else there")
	f.StringVar(&o.logFile, "log-file", "", "append a debug log to `file`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress, only the result")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also show what the agents print while they work")
	manual.Under(string(run.AboutOutput), f, "json-output", "log-file", "quiet", "verbose")
}

// addSetting declares the flag of one setting.
func (o *runOptions) addSetting(f *pflag.FlagSet, s run.Setting) {
	switch s.Kind {
	case run.Text, run.File:
		f.StringP(s.Flag, s.Short, "", s.Usage)
	case run.Number:
		f.IntP(s.Flag, s.Short, 0, s.Usage)
	case run.Switch:
		f.BoolP(s.Flag, s.Short, false, s.Usage)
	case run.List:
		f.StringSliceP(s.Flag, s.Short, nil, s.Usage)
	case run.Lines:
		f.StringArrayP(s.Flag, s.Short, nil, s.Usage)
	}
	manual.Under(string(s.Group), f, s.Flag)
}

// take collects what the command line says after it has been parsed.
func (o *runOptions) take(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	o.prompt.Words = args
	if o.dryRun && o.jsonOutput {
		return usagef("leave one of them out", "--dry-run and --json-output contradict each other")
	}
	if o.quiet && o.verbose {
		return usagef("leave one of them out", "--quiet and --verbose contradict each other")
	}
	if flags.Changed("prompt") {
		text, _ := flags.GetString("prompt") // declared above
		o.prompt.Flag = &text
	}
	return o.takeSettings(flags)
}

// takeSettings collects the settings among the flags, as they were typed.
func (o *runOptions) takeSettings(flags *pflag.FlagSet) (err error) {
	o.settings, err = run.NewSettings(given(flags))
	return err
}

// given are the settings among the flags, in the order in which they were typed.
func given(flags *pflag.FlagSet) (said []loop.Flag) {
	known := map[string]bool{}
	for _, s := range run.Table() {
		known[s.Flag] = true
	}
	flags.Visit(func(f *pflag.Flag) {
		if !known[f.Name] {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		said = append(said, loop.Flag{Name: f.Name, Values: values})
	})
	return said
}

// flagError says what is wrong with a flag, with the nearest one there is.
func flagError(cmd *cobra.Command, args []string, err error) error {
	hint := "`" + cmd.CommandPath() + " --help` lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if line := asPrompt(cmd, args, unknown.GetSpecifiedName()); line != "" {
			return usagef(fmt.Sprintf("%q is a command; as a prompt: %s", cmd.Name(), line), "%s has no flag %s", cmd.CommandPath(), dashed(unknown.GetSpecifiedName()))
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name, near := wording.Nearest(unknown.GetSpecifiedName(), names); near {
			hint = "did you mean --" + name + "?"
		}
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() == "int" {
		return usagef(hint, "--%s must be a whole number, not %q", bad.GetFlag().Name, bad.GetValue())
	}
	return usagef(hint, "%v", err)
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// asPrompt is the command line that takes the name of a command, and what is behind it, for a
// prompt, where a flag of runs stands before it; "" where none does.
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
