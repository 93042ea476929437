package main

import (
	"github.com/spf13/cobra"

	"codeloops/internal/config"
	"codeloops/internal/run/crew"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/strategy"
)

// addCompletions lets a shell offer the values of flags that take one of a few
// words, in all commands that have such a flag.
func addCompletions(a *app, root *cobra.Command) {
	words := map[string]func() []string{
		"log-format":    fixed("pretty", "compact", "json"),
		"profile":       fixed("default", "strict"),
		"strategy":      strategy.Names,
		"critic-env":    fixed("full", "clean"),
		"actor-session": fixed("fresh", "resume"),
		"format":        fixed("html", "markdown", "json"),
		"outcome":       sessionview.Outcomes,
		"sort":          sessionview.Orders,
	}
	for _, name := range []string{"agent", "actor-agent", "critic-agent", "fallback", "agent-order"} {
		words[name] = func() []string {
			cfg, _ := config.Load(a.configOptions(a.Dir))
			return crew.Names(&a.Host, cfg)
		}
	}
	for flag, list := range words {
		offer := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return list(), cobra.ShellCompDirectiveNoFileComp
		}
		visit(root, func(cmd *cobra.Command) {
			if cmd.Flags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, offer) // fails only for a flag that is not there
			}
		})
	}
}

func fixed(words ...string) func() []string { return func() []string { return words } }

// visit calls a function with a command and all below it.
func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		visit(below, do)
	}
}
