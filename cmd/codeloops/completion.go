package main

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/draft"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/run/crew"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/lookup"
	"codeloops/internal/strategy"
)

// addCompletions lets shells complete the values of flags in all commands. Values that a
// flag's help lists as a|b|c need no entry here.
func addCompletions(a *app, root *cobra.Command) {
	offers := map[string]cobra.CompletionFunc{
		"strategy":    offer(strategy.Names()),
		"outcome":     offer(lookup.Outcomes()),
		"sort":        offer(lookup.Orders()),
		"in":          offer([]string{run.LessonsOfUser, run.LessonsOfProject}),
		"speed":       offer([]string{"1", "2", "5", "max"}),
		"prompt-name": a.completePrompts,
		"skill":       a.completeSkills,
	}
	for _, name := range []string{"agent", "actor-agent", "critic-agent", "critic-panel", "fallback", "agent-order"} {
		offers[name] = a.completeAgents
	}
	visit(root, func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction == nil && cmd.Args != nil { // its arguments are not files
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			complete := offers[f.Name]
			switch {
			case strings.HasSuffix(f.Name, "model"):
				complete = a.completeModels(f.Name)
			case value == "dir":
				_ = cmd.MarkFlagDirname(f.Name)
			case complete == nil && strings.Contains(value, "|"):
				complete = offer(slices.DeleteFunc(strings.Split(value, "|"), func(s string) bool { return s == "n" })) // n is any number
			}
			if complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // the flag exists
			}
		})
	})
}

// addCompletion adds cobra's command for completion scripts, which ignores an unknown shell, with our
// messages.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, _ := root.Find([]string{"completion"}) // it has just been added
	for _, shell := range cmd.Commands() {
		shell.Args = command.NoArgs
		if shell.Name() == "bash" {
			alone(shell)
		}
	}
	cmd.Args, cmd.RunE = command.OwnCommands, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// alone lets the script for bash do without the package bash-completion.
func alone(bash *cobra.Command) {
	bash.Long = strings.Replace(bash.Long, `
This script depends on the 'bash-completion' package.
If it is not installed already, you can install it via your OS's package manager.
`, "", 1)
	script := bash.RunE
	bash.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := io.WriteString(cmd.OutOrStdout(), standIns); err != nil {
			return err
		}
		return script(cmd, args)
	}
}

// standIns are the functions of bash-completion that cobra's script calls. The package defines its own over
// these, in whichever order the two are read.
const standIns = `# These two are only for a shell without the package bash-completion.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    # Bash splits words at = and :, and the script wants them whole.
    _get_comp_words_by_ref()
    {
        local rest=$COMP_LINE i word
        words=() cword=-1
        for ((i = 0; i <= COMP_CWORD; i++)); do
            word=${COMP_WORDS[i]}
            if ((i > 0)) && { [[ -n $word && $rest == "$word"* ]] || [[ -z $word && -z $rest && $COMP_LINE != *[[:space:]] ]]; }; then
                words[cword]+=$word
            else
                words[++cword]=$word
            fi
            rest=${rest#*"$word"}
        done
        cur=${words[cword]} prev=${words[cword > 0 ? cword - 1 : 0]}
    }
fi
if ! declare -F _filedir >/dev/null; then
    _filedir()
    {
        local kind=-f name
        [[ ${1-} != -d ]] || kind=-d
        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "$kind" -- "$cur")
        compopt -o filenames 2>/dev/null
    }
fi

`

// offer completes a flag with fixed words.
func offer(words []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// completeAgents offers the names of agents, including those in the configuration.
func (a *app) completeAgents(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cfg, _ := config.Load(a.Settings(a.Dir))
	return crew.Names(&a.Host, cfg), cobra.ShellCompDirectiveNoFileComp
}

// completePrompts offers the named prompts of the repository.
func (a *app) completePrompts(cmd *cobra.Command, _ []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, _ := cmd.Flags().GetString("working-dir") // "" where there is no such flag
	for _, one := range draft.In(&a.Host, a.Path(dir)).All() {
		names = append(names, command.Completion(one.Name, one.Title))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeSkills offers the skills of the repository and the user.
func (a *app) completeSkills(cmd *cobra.Command, _ []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, _ := cmd.Flags().GetString("working-dir") // "" where there is no such flag
	for _, one := range draft.In(&a.Host, a.Path(dir)).Skills() {
		names = append(names, command.Completion(one.Name, one.Description))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeModels offers the models that the selected agents list, and those that they used
// in earlier sessions. A flag for no particular role is about both.
func (a *app) completeModels(flag string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (models []cobra.Completion, _ cobra.ShellCompDirective) {
		cfg, err := config.Load(a.Settings(a.Dir))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		said := func(flag string) string { // "" where there is no such flag
			name, _ := cmd.Flags().GetString(flag)
			return loop.ParseAgent(name).Agent
		}
		asked := map[string]bool{}
		for role, configured := range map[string]string{"actor": cfg.Actor.Agent, "critic": cfg.Critic.Agent} {
			if flag == "model" || strings.HasPrefix(flag, role) {
				asked[cmp.Or(said(role+"-agent"), said("agent"), configured)] = true
			}
		}
		for name := range asked {
			models = append(models, crew.Models(cmd.Context(), &a.Host, cfg, name)...)
		}
		earlier, _ := a.Logs().Survey() // on error there is less to offer
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

// visit calls a function with a command and all its subcommands.
func visit(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		visit(below, do)
	}
}
