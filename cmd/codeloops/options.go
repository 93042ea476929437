package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/spell"
)

// runOptions are the flags of a run. Those that are also keys of the
// configuration are not kept here: take collects what the user set of them.
type runOptions struct {
	prompt     promptSources
	workingDir string
	set        map[string]any // configuration key → value, set flags only
	given      *pflag.FlagSet // as the user typed them; nil: nobody did

	noWait       bool
	script       string
	trustProject bool
	dryRun       bool
	yes          bool
	jsonOutput   bool
	logFile      string
	quiet        bool
	verbose      bool
}

// settingFlags maps the flags that are keys of the configuration to them.
func settingFlags() map[string]string {
	return map[string]string{
		"agent":              "agent",
		"actor-agent":        "actor.agent",
		"critic-agent":       "critic.agent",
		"model":              "model",
		"actor-model":        "actor.model",
		"critic-model":       "critic.model",
		"fallback":           "fallback",
		"agent-order":        "agent_order",
		"actor-session":      "actor_session",
		"critic-worktree":    "critic_worktree",
		"critic-env":         "critic_env",
		"env-pass":           "env_pass",
		"max-iterations":     "max_iterations",
		"max-duration":       "max_duration",
		"max-cost":           "max_cost",
		"max-tokens":         "max_tokens",
		"max-wait":           "max_wait",
		"actor-timeout":      "actor.timeout",
		"critic-timeout":     "critic.timeout",
		"check":              "checks",
		"profile":            "profile",
		"approval-threshold": "approval_threshold",
		"require-change":     "require_change",
		"check-before":       "check_before",
		"fail-fast":          "fail_fast",
		"log-format":         "log_format",
		"session-dir":        "session_dir",
	}
}

// addFlags declares the flags of a new run.
func (o *runOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringP("prompt", "p", "", "the task, as one `text`")
	f.StringVar(&o.prompt.file, "prompt-file", "", "read the task from `file`; - is standard input")
	f.StringVarP(&o.workingDir, "working-dir", "d", "", "work in `dir` instead of the current directory")
	o.addRunFlags(f)
	f.BoolVarP(&o.yes, "yes", "y", false, "run a prompt of a few words without asking")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be run, and run nothing")
}

// addRunFlags declares the flags of every run, new or resumed. The defaults of
// settings live in the configuration and are not repeated here.
func (o *runOptions) addRunFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringP("agent", "a", "", "agent for both roles (see codeloops agents)")
	f.String("actor-agent", "", "`agent` that does the work")
	f.String("critic-agent", "", "`agent` that judges it")
	f.StringP("model", "m", "", "model for both roles")
	f.String("actor-model", "", "`model` of the actor")
	f.String("critic-model", "", "`model` of the critic")
	f.StringSlice("agent-order", nil, "`agent`, or agent:model, among which \"auto\" chooses; may be repeated")
	f.StringSlice("fallback", nil, "`agent`, or agent:model, that plays on when one cannot go on; may be repeated")
	f.String("actor-session", "", "`fresh`, or resume: carry on the actor's conversation over the iterations (default fresh)")
	f.Bool("critic-worktree", false, "the critic works in a copy of the work tree, in which it may build and test")
	f.String("critic-env", "", "`full`, or clean: no secrets for the critic but what its model needs (default full)")
	f.StringArray("env-pass", nil, "secret `variable` that a critic gets with a clean environment; may be repeated")
	f.StringVar(&o.script, "script", "", "scenario `file` for the agent called scripted")

	f.IntP("max-iterations", "n", 0, "end after so many iterations; 0 is no limit (default 10)")
	f.String("max-duration", "", "end after this `time`, such as 90m (default: no limit)")
	f.String("max-cost", "", "end when the turns have cost so many US `dollars`, as the agents report it")
	f.Int("max-tokens", 0, "end when the turns have used so many `tokens`, as the agents report them")
	f.String("max-wait", "", "wait at most so long `time` for a rate limit to end (default 6h)")
	f.BoolVar(&o.noWait, "no-wait", false, "do not wait for a rate limit: end with agent_rate_limited")
	f.String("actor-timeout", "", "time `limit` of one turn of the actor; 0s is none (default 1h)")
	f.String("critic-timeout", "", "time `limit` of one turn of the critic; 0s is none (default 1h)")
	f.StringArray("check", nil, "shell `command` that must pass before the work is done; may be repeated")
	f.Bool("check-before", false, "run the checks before the session, too, to tell what failed already")
	f.Bool("fail-fast", false, "run no check after one that fails")
	f.String("profile", "", "what the settings begin with: default or strict (docs/policy.md)")
	f.String("approval-threshold", "", "the critic's `score`, 0 to 1, that approves the work, whatever it decides")
	f.Bool("require-change", false, "the work is done only when something has changed")

	f.String("log-format", "", "how progress is shown: pretty, compact or json (events as JSON lines)")
	f.BoolVar(&o.jsonOutput, "json-output", false, "print one JSON object on standard output at the end, and nothing else there")
	f.StringVar(&o.logFile, "log-file", "", "append a debug log to `file`")
	f.String("session-dir", "", "keep session logs in `dir`")
	f.BoolVar(&o.trustProject, "trust-project", false, "honour keys of the project's codeloops.toml that run commands, for this run")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress, only the result")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also show what the agents print while they work")
}

// take collects what the command line says after it has been parsed.
func (o *runOptions) take(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	o.prompt.words = args
	if o.dryRun && o.jsonOutput {
		return usagef("leave one of them out", "--dry-run and --json-output contradict each other")
	}
	if o.quiet && o.verbose {
		return usagef("leave one of them out", "--quiet and --verbose contradict each other")
	}
	if flags.Changed("prompt") {
		text, _ := flags.GetString("prompt") // declared above
		o.prompt.flag = &text
	}
	return o.takeSettings(flags)
}

// takeSettings collects the settings among the flags.
func (o *runOptions) takeSettings(flags *pflag.FlagSet) error {
	o.set, o.given = map[string]any{}, flags
	for name, key := range settingFlags() {
		if !flags.Changed(name) {
			continue
		}
		f := flags.Lookup(name)
		switch f.Value.Type() {
		case "int":
			o.set[key], _ = flags.GetInt(name)
		case "bool":
			o.set[key], _ = flags.GetBool(name)
		case "stringArray", "stringSlice":
			// For GetStringArray a single value that is empty is none.
			if list, ok := f.Value.(pflag.SliceValue); ok {
				o.set[key] = list.GetSlice()
			}
		default:
			o.set[key] = f.Value.String()
		}
	}
	if !o.noWait {
		return nil
	}
	if wait, ok := o.set["max_wait"]; ok {
		return usagef("leave one of them out", "--no-wait and --max-wait %s contradict each other", wait)
	}
	o.set["max_wait"] = "0s"
	return nil
}

// flagError says what is wrong with a flag, with the nearest one there is.
func flagError(cmd *cobra.Command, err error) error {
	hint := "`" + cmd.CommandPath() + " --help` lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name, near := spell.Nearest(unknown.GetSpecifiedName(), names); near {
			hint = "did you mean --" + name + "?"
		}
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() == "int" {
		return usagef(hint, "--%s must be a whole number, not %q", bad.GetFlag().Name, bad.GetValue())
	}
	return usagef(hint, "%v", err)
}
