package main

import (
	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/browse"
	"codeloops/internal/config"
)

// addCompletions lets a shell offer the values of flags that take one of a few
// words, in all commands that have such a flag.
func (a *app) addCompletions(root *cobra.Command) {
	words := map[string]func() []string{
		"log-format":    fixed("pretty", "compact", "json"),
		"profile":       fixed("default", "strict"),
		"critic-env":    fixed("full", "clean"),
		"actor-session": fixed("fresh", "resume"),
		"format":        fixed("html", "markdown", "json"),
		"outcome":       browse.Outcomes,
		"sort":          browse.Orders,
	}
	for _, name := range []string{"agent", "actor-agent", "critic-agent", "fallback", "agent-order"} {
		words[name] = a.agentNames
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

// agentNames are all agents that a role can be given to.
func (a *app) agentNames() []string {
	names := []string{autoName}
	if cfg, err := config.Load(a.configOptions(a.dir)); err == nil {
		if own, err := a.specs(cfg, &runOptions{}); err == nil {
			for _, spec := range own {
				names = append(names, spec.Name)
			}
		}
	}
	for _, spec := range agent.Catalogue() {
		names = append(names, spec.Name)
	}
	return names
}

// visit calls a function with a command and all below it.
func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		visit(below, do)
	}
}
