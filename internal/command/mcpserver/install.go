package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/clients"
	"codeloops/internal/command"
	"codeloops/internal/wording/hint"
)

// settings are those of a client.
func settings(c *command.Console, s command.Scope, client string) (clients.Settings, error) {
	root, err := s.Root(c)
	if err != nil {
		return clients.Settings{}, err
	}
	return clients.Of(&c.Host, client, root)
}

// newChangeCmd completes a command that changes the settings of a client.
func newChangeCmd(c *command.Console, cmd *cobra.Command, do func(context.Context, clients.Settings) (string, error)) *cobra.Command {
	var s command.Scope
	cmd.Annotations = command.Exits("the settings are as they should be", "")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return hint.Errorf("one of "+strings.Join(clients.Names(), ", "), "%s takes one client, but got %d", cmd.CommandPath(), len(args))
		}
		return nil
	}
	cmd.ValidArgs = clients.Names()
	cmd.PreRunE = c.UsersCommand
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := settings(c, s, args[0])
		if err != nil {
			return err
		}
		said, err := do(cmd.Context(), at)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.Out, said)
		return err
	}
	s.Flags(cmd.Flags())
	return cmd
}

func newInstallCmd(c *command.Console) *cobra.Command {
	return newChangeCmd(c, &cobra.Command{
		Use:   "install claude|codex|cursor|vscode",
		Short: "Tell an agent or editor to start this server",
		Long: `Enter this server in the settings of Claude Code, Codex, Cursor or VS Code. The rest
of the file stays as it is, byte by byte. Claude Code keeps its user settings in a
file that it writes all the time: there, ` + "`claude mcp add`" + ` makes the entry.`,
		Example: `  codeloops mcp install claude
  codeloops mcp install vscode --project`,
	}, func(ctx context.Context, at clients.Settings) (string, error) {
		program, err := clients.Program(&c.Host, at.Project)
		if err != nil {
			return "", err
		}
		changed, err := at.Install(ctx, clients.Server{Command: program, Args: []string{"mcp"}})
		if !changed {
			return "it is there already: " + at.Path, err
		}
		return "entered in " + at.Path + "; " + at.Client + " has to be started again", err
	})
}

func newUninstallCmd(c *command.Console) *cobra.Command {
	return newChangeCmd(c, &cobra.Command{
		Use:     "uninstall claude|codex|cursor|vscode",
		Short:   "Take out what install has entered",
		Long:    `Take out of the settings of a client what ` + "`codeloops mcp install`" + ` has entered, and nothing else.`,
		Example: `  codeloops mcp uninstall claude`,
	}, func(ctx context.Context, at clients.Settings) (string, error) {
		changed, err := at.Uninstall(ctx)
		if !changed {
			return "it is not in " + at.Path, err
		}
		return "taken out of " + at.Path, err
	})
}

// An installed is where a client looks for servers, and what is there.
type installed struct {
	Client    string   `json:"client"`
	Scope     string   `json:"scope"` // user or project
	File      string   `json:"file"`
	Installed bool     `json:"installed"`
	Command   []string `json:"command,omitempty"`
	Problem   string   `json:"problem,omitempty"`
}

func newStatusCmd(c *command.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "status",
		Annotations: command.Exits("the status was shown", ""),
		Short:       "Show which agents and editors are told to start this server",
		Long: `Show which agents and editors are told to start this server, for you and in this
repository.

--json prints a list of objects:

  client     claude, codex, cursor or vscode
  scope      user or project
  file       where the client looks
  installed  whether the server is there
  command    what the client starts; absent: it is not there
  problem    why the file cannot be read; absent if it can`,
		Example: `  codeloops mcp status`,
		Args:    command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all := []installed{}
			for _, client := range clients.Names() {
				for _, s := range []command.Scope{{}, {Project: true}} {
					if at, err := settings(c, s, client); err == nil { // otherwise this is no repository
						all = append(all, lookAt(at))
					}
				}
			}
			var text strings.Builder
			for _, one := range all {
				says := "no"
				if one.Installed {
					says = strings.Join(one.Command, " ")
				}
				if one.Problem != "" {
					says = one.Problem
				}
				fmt.Fprintf(&text, "%-8s %-8s %s\n", one.Client, one.Scope, says)
			}
			return c.Show(asJSON, all, text.String())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func lookAt(at clients.Settings) installed {
	one := installed{Client: at.Client, Scope: "user", File: at.Path}
	if at.Project {
		one.Scope = "project"
	}
	entry, there, err := at.Installed()
	if err != nil {
		one.Problem = err.Error()
	} else if there {
		one.Installed, one.Command = true, append([]string{entry.Command}, entry.Args...)
	}
	return one
}
