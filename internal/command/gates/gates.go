// Package gates answers the hooks of agents that a person sits in, and sets them up: an agent may stop once the work of its
// conversation is approved.
//
// The rules are those of somebody's own work: a hook that cannot judge lets go and says so, it never sends an agent back
// for ever, and it says how to switch it off. The formats are those of the hooks of Claude Code and of Codex.
package gates

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/cli/clients"
	"codeloops/internal/command"
	"codeloops/internal/session/lookup"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

type setup struct {
	*command.Console
	command.Scope

	events []string
}

// Commands returns the commands below `codeloops gate`.
func Commands(c *command.Console) []*cobra.Command {
	s := &setup{Console: c}
	return []*cobra.Command{s.install(), s.uninstall(), s.status()}
}

func (s *setup) install() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "install claude|codex [-- flag…]",
		Annotations: command.Exits("the gate is installed", ""),
		Short:       "Let an agent stop only once its work is approved",
		Long: `Add hooks to the settings of Claude Code or Codex. One keeps what a conversation
begins with, the other judges the work when the agent wants to stop. What else is
in the settings stays as it is.

Flags of codeloops gate behind -- become part of the hook.`,
		Example: `  codeloops gate install claude
  codeloops gate install codex --project -- --check "go test ./..." --critic-agent claude`,
		Args:    oneAgent,
		PreRunE: s.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFlags(cmd.Parent(), args[1:]); err != nil {
				return err
			}
			hooks, err := s.hooks(args[0])
			if err != nil {
				return err
			}
			for _, event := range s.events {
				if err := lookup.OneOf("--event", event, judgedAt(hooks.Client)); err != nil {
					return err
				}
			}
			program, err := clients.Program(&s.Host, s.Project)
			if err != nil {
				return err
			}
			line := []string{wording.Shell(program), "gate", "--hook", hooks.Client}
			for _, word := range args[1:] {
				line = append(line, wording.Shell(word))
			}
			if err := hooks.Install(strings.Join(line, " "), append([]string{prompted}, s.events...)); err != nil {
				return err
			}
			return s.tell(hooks)
		},
	}
	s.Flags(cmd.Flags())
	cmd.Flags().StringSliceVar(&s.events, "event", []string{stopped}, "the `event` at which to judge: "+strings.Join(judgedAt(Claude), ", ")+"; may be repeated")
	return cmd
}

// judgedAt lists the events of an agent at which its work can be judged.
func judgedAt(agent string) []string {
	all := []string{stopped, subagentEnds}
	if agent == Claude {
		all = append(all, taskCompleted)
	}
	return all
}

// oneAgent accepts the name of an agent, and what stands behind --.
func oneAgent(cmd *cobra.Command, args []string) error {
	named := args
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		named = args[:at]
	}
	if len(named) != 1 {
		return hint.Errorf(cmd.CommandPath()+" claude, or codex; flags of the gate stand behind --", "one agent is to be named, not %d", len(named))
	}
	return nil
}

// checkFlags rejects flags that the gate does not have: in a hook nobody would see it.
func checkFlags(of *cobra.Command, flags []string) error {
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	known.Usage = func() {}
	known.AddFlagSet(of.Flags())
	if err := known.Parse(flags); err != nil {
		return hint.Errorf("`codeloops gate --help` lists them", "the hook would fail: %w", err)
	}
	if known.NArg() > 0 {
		return hint.Errorf("leave it out", "a hook takes no task: %s", strings.Join(known.Args(), " "))
	}
	return nil
}

// hooks returns the file with the hooks of an agent.
func (s *setup) hooks(agent string) (clients.Hooks, error) {
	root, err := s.Root(s.Console)
	if err != nil {
		return clients.Hooks{}, err
	}
	return clients.HooksOf(&s.Host, agent, root)
}

// tell says what is installed.
func (s *setup) tell(hooks clients.Hooks) error {
	events, err := hooks.Events()
	if err != nil {
		return err
	}
	trusted := true
	if len(events) > 0 {
		trusted, err = hooks.Trusted()
	}
	if err != nil {
		return err
	}
	return s.Print(func(w io.Writer) error {
		if len(events) == 0 {
			_, err := fmt.Fprintf(w, "%-8s no gate in %s\n", hooks.Client, hooks.Path)
			return err
		}
		fmt.Fprintf(w, "%-8s gate in %s, for %s\n", hooks.Client, hooks.Path, strings.Join(events, ", ")) //nolint:errcheck // a later error repeats it
		if !trusted {
			fmt.Fprintf(w, "%-8s codex skips the hook until you trust it: start codex, then /hooks\n", "") //nolint:errcheck // as above
		}
		return nil
	})
}

func (s *setup) uninstall() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "uninstall claude|codex",
		Annotations: command.Exits("there is no gate any more", ""),
		Short:       "Take the gate out of an agent's settings",
		Example:     `  codeloops gate uninstall claude`,
		Args:        oneAgent,
		PreRunE:     s.UsersCommand,
		RunE: func(_ *cobra.Command, args []string) error {
			hooks, err := s.hooks(args[0])
			if err != nil {
				return err
			}
			if _, err := hooks.Uninstall(); err != nil {
				return err
			}
			return s.tell(hooks)
		},
	}
	s.Flags(cmd.Flags())
	return cmd
}

func (s *setup) status() *cobra.Command {
	return &cobra.Command{
		Use:         "status",
		Annotations: command.Exits("the gates were listed", ""),
		Short:       "Show which agents have a gate",
		Example:     `  codeloops gate status`,
		Args:        command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, s.Project = range []bool{false, true} {
				for _, agent := range []string{Claude, Codex} {
					hooks, err := s.hooks(agent)
					if err != nil && s.Project {
						return nil // outside of a repository there are none
					}
					if err == nil {
						err = s.tell(hooks)
					}
					if err != nil {
						err = s.Print(func(w io.Writer) error { _, err := fmt.Fprintf(w, "%-8s %v\n", agent, err); return err })
					}
					if err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}
