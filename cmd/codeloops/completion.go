package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/repo"
	"codeloops/internal/run"
	"codeloops/internal/run/crew"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/strategy"
)

// addCompletions lets a shell offer the values of flags, in all commands that have them.
// What a flag's help lists with bars between is offered without being named here.
func addCompletions(a *app, root *cobra.Command) {
	words := map[string]func() []string{
		"strategy": strategy.Names,
		"outcome":  sessionview.Outcomes,
		"sort":     sessionview.Orders,
		"in":       fixed(run.LessonsOfUser, run.LessonsOfProject),
		"speed":    fixed("1", "2", "5", "max"),
	}
	for _, name := range []string{"agent", "actor-agent", "critic-agent", "critic-panel", "fallback", "agent-order"} {
		words[name] = func() []string {
			cfg, _ := config.Load(a.Settings(a.Dir))
			return crew.Names(&a.Host, cfg)
		}
	}
	visit(root, func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction == nil && cmd.Args != nil { // what it takes is no file
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			list, known := words[f.Name]
			switch {
			case strings.HasSuffix(f.Name, "model"):
				_ = cmd.RegisterFlagCompletionFunc(f.Name, a.completeModels(f.Name)) // fails only for a flag that is not there
			case value == "dir":
				_ = cmd.MarkFlagDirname(f.Name)
			case f.Name == "prompt-name":
				_ = cmd.RegisterFlagCompletionFunc(f.Name, a.completePrompts)
			case known:
				_ = cmd.RegisterFlagCompletionFunc(f.Name, offer(list))
			case strings.Contains(value, "|"):
				some := slices.DeleteFunc(strings.Split(value, "|"), func(s string) bool { return s == "n" }) // any number
				_ = cmd.RegisterFlagCompletionFunc(f.Name, offer(fixed(some...)))
			}
		})
	})
}

func fixed(words ...string) func() []string { return func() []string { return words } }

// offer completes a flag with words.
func offer(list func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

// completePrompts offers the prompts of the repository that have names.
func (a *app) completePrompts(cmd *cobra.Command, _ []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, _ := cmd.Flags().GetString("working-dir") // "" where there is no such flag
	if r, err := repo.Open(a.Path(dir), a.LookupEnv); err == nil {
		for _, one := range task.AllNamed(r.WorkTree) {
			names = append(names, command.Completion(one.Name, one.Title))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeModels offers the models that the agents in question list, where they do, and
// those that they had in earlier sessions. A flag that is not of one role is about both.
func (a *app) completeModels(flag string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (models []cobra.Completion, _ cobra.ShellCompDirective) {
		cfg, err := config.Load(a.Settings(a.Dir))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		said := func(flag string) string { name, _ := cmd.Flags().GetString(flag); return name } // "" where there is no such flag
		asked := map[string]bool{}
		for role, configured := range map[string]string{"actor": cfg.Actor.Agent, "critic": cfg.Critic.Agent} {
			if flag == "model" || strings.HasPrefix(flag, role) {
				asked[cmp.Or(said(role+"-agent"), said("agent"), configured)] = true
			}
		}
		for name := range asked {
			models = append(models, crew.Models(cmd.Context(), &a.Host, cfg, name)...)
		}
		earlier, _ := a.Logs().Survey() // without them there is less to offer
		for _, one := range earlier {
			for _, ref := range []loop.AgentRef{one.Session.Actor, one.Session.Critic} {
				if asked[ref.Agent] && ref.Model != "" {
					models = append(models, term.Line(ref.Model))
				}
			}
		}
		slices.Sort(models)
		return slices.Compact(models), cobra.ShellCompDirectiveNoFileComp
	}
}

// visit calls a function with a command and all below it.
func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		visit(below, do)
	}
}
