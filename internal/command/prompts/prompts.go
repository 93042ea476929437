// Package prompts holds the commands for prompts that are kept in a repository.
package prompts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/draft"
	"codeloops/internal/run"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

type prompts struct {
	*command.Console
}

// New returns the command and its subcommands.
func New(c *command.Console) *cobra.Command {
	p := &prompts{c}
	cmd := &cobra.Command{
		Use:         "prompt",
		Annotations: command.Exits("the prompts were listed", ""),
		Short:       "Write, list, show and remove the prompts of a repository",
		Long: `Write, list, show and remove the prompts of a repository, which are the files
.codeloops/prompts/NAME.md. codeloops --prompt-name NAME runs one. Without a
command it lists them.`,
		Example: `  codeloops prompt new defect
  codeloops prompt show fix-weeks
  codeloops --prompt-name fix-weeks`,
		Args: command.OwnCommands,
		RunE: func(*cobra.Command, []string) error { return p.list(nil, false) },
	}
	cmd.AddCommand(p.newNewCmd(), p.newEditCmd(), p.newListCmd(), p.newShowCmd(), p.newRmCmd(), p.newSkillsCmd())
	return cmd
}

func (p *prompts) store() draft.Store { return draft.In(&p.Host, p.Dir) }

func (p *prompts) newListCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list [WORD…]",
		Annotations: command.Exits("the prompts were listed; there may be none", ""),
		Aliases:     []string{"ls"},
		Short:       "List the prompts that hold all the words",
		Long: `List the prompts that hold all the words, in any case: name, kind of work,
estimated tokens with all that it inherits, and title. Elsewhere than on a
terminal, tabs separate them.`,
		Example: `  codeloops prompt list parser`,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(_ *cobra.Command, words []string) error { return p.list(words, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

func (p *prompts) list(words []string, asJSON bool) error {
	rows, text := p.store().All(words...), strings.Builder{}
	for _, r := range rows {
		about := term.Line(cmp.Or(r.Problem, r.Title))
		line := fmt.Sprintf("%s\t%s\t%d\t%s", r.Name, r.Kind, r.Tokens, about)
		if p.OutTTY {
			line = render.Cut(fmt.Sprintf("%-24s  %-8s  %6d  %s", r.Name, r.Kind, r.Tokens, about), p.OutWidth())
		}
		text.WriteString(line + "\n")
	}
	if len(rows) == 0 && p.OutTTY {
		fmt.Fprintln(p.Err, "no prompts; codeloops prompt new writes one") //nolint:errcheck // a courtesy
	}
	if rows == nil {
		rows = []draft.Row{}
	}
	return p.Show(asJSON, rows, text.String())
}

// A sheet is what is shown of a prompt.
type sheet struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Parents []string `json:"parents,omitempty"`
	Skills  []string `json:"skills,omitempty"`
	File    string   `json:"file"`
	Missing []string `json:"missing,omitempty"` // what has to be known, and is not said
	Tokens  int      `json:"tokens"`            // estimated, of what the actor reads
	Reads   string   `json:"reads"`             // what the actor reads in its first turn
}

func (p *prompts) newShowCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "show NAME",
		Annotations: command.Exits("the prompt was shown", ""),
		Short:       "Show what the actor will read, and how many tokens that is",
		Long: `Show exactly what the actor will read in its first turn, with all that the prompt
inherits and the skills that it names; and on standard error, how many tokens
that is about, and what has to be known of such work and is not said.`,
		Example:           `  codeloops prompt show fix-weeks`,
		Args:              p.oneName,
		ValidArgsFunction: p.complete,
		RunE: func(_ *cobra.Command, args []string) error {
			s := p.store()
			d, from, err := s.Read(args[0])
			if err != nil {
				return err
			}
			text, err := s.Resolve(args[0], d)
			if err != nil {
				return err
			}
			if text, err = Reads(p.Console, p.Dir, text); err != nil {
				return err
			}
			about := sheet{args[0], d.Kind, d.Parents, d.Skills, from, d.Missing(), draft.Tokens(text), text}
			if !asJSON {
				fmt.Fprintf(p.Err, "about %s\n", wording.Count(about.Tokens, "token")) //nolint:errcheck // a courtesy
				p.tellMissing(d)
			}
			return p.Show(asJSON, about, term.Clean(text))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

// tellMissing says what a prompt lacks. Nobody has to fill in a form.
func (p *prompts) tellMissing(d draft.Draft) {
	if missing := d.Missing(); len(missing) > 0 && d.Kind != draft.Free {
		fmt.Fprintf(p.Err, "not said yet: %s\n", strings.Join(missing, ", ")) //nolint:errcheck // a courtesy
	}
}

func (p *prompts) newSkillsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "skills",
		Annotations: command.Exits("the skills were listed; there may be none", ""),
		Short:       "List the skills that a prompt can name",
		Long: `List the skills that a prompt can name: files SKILL.md below .codeloops/skills, below
skills in the user's configuration directory, and in the agents' own
directories, such as .claude/skills, of the project and of the user. Of those
with the same name the first counts.

A prompt that names a skill tells the agent to read that file. codeloops itself
neither reads more of it than its description, nor runs anything of it.`,
		Example: `  codeloops prompt skills
  codeloops --skill release "bring out version 2"`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, text := p.store().Skills(), strings.Builder{}
			for _, s := range all {
				line := fmt.Sprintf("%s\t%s\t%s\t%s", s.Name, s.Scope, wording.OSPath(s.Path), term.Line(s.Description))
				if p.OutTTY {
					line = render.Cut(fmt.Sprintf("%-20s  %-7s  %s  %s", s.Name, s.Scope, wording.OSPath(s.Path), term.Line(s.Description)), p.OutWidth())
				}
				text.WriteString(line + "\n")
			}
			if len(all) == 0 && p.OutTTY {
				fmt.Fprintln(p.Err, "no skills") //nolint:errcheck // a courtesy
			}
			if all == nil {
				all = []draft.Skill{}
			}
			return p.Show(asJSON, all, text.String())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

// Reads returns what the actor of a run in a directory reads first, as the configuration there has it.
func Reads(c *command.Console, dir, task string) (string, error) {
	cfg, err := config.Load(c.Settings(dir))
	if err != nil {
		return "", err
	}
	return run.Reads(cfg, task)
}

func (p *prompts) oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return hint.Errorf("`codeloops prompt list` shows what there is", "%s needs the name of one prompt", cmd.CommandPath())
	}
	return draft.CheckName(args[0])
}

// complete offers the names of the prompts.
func (p *prompts) complete(_ *cobra.Command, args []string, _ string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, one := range p.store().All() {
		if len(args) == 0 {
			found = append(found, command.Completion(one.Name, one.Title))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
