package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/term"
)

// An agentRow is what `codeloops agents` tells of one agent.
type agentRow struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Path    string   `json:"path,omitempty"` // "": not installed
	Problem string   `json:"problem,omitempty"`
	Install string   `json:"install,omitempty"`
	Tested  string   `json:"tested,omitempty"` // the version that was run; "": described only
	Actor   []string `json:"actor"`
	Critic  []string `json:"critic"`
}

func newAgentsCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agent CLIs known, which are installed, and how each is called",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			rows, err := a.agentRows()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.Out, rows)
			}
			return showAgents(a, rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

// agentRows describes the catalogue and the user's own agents.
func (a *app) agentRows() ([]agentRow, error) {
	cfg, err := config.Load(a.configOptions(a.dir))
	if err != nil {
		return nil, err
	}
	own, err := a.specs(cfg, &runOptions{})
	if err != nil {
		return nil, err
	}
	var rows []agentRow
	for _, spec := range append(own, agent.Catalogue()...) {
		row := agentRow{
			Name: spec.Name, Aliases: spec.Aliases, Tested: spec.Tested, Install: spec.Setup(),
			Actor:  spec.CommandLine(loop.RoleActor, ""),
			Critic: spec.CommandLine(loop.RoleCritic, ""),
		}
		if row.Path, err = spec.Resolve(loop.RoleActor, a.dir, a.env); err != nil {
			row.Problem = err.Error()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func showAgents(a *app, rows []agentRow) error {
	styles := a.OutRenderer()
	good, faint := styles.NewStyle().Foreground(ansiGreen), styles.NewStyle().Faint(true)
	var b strings.Builder
	for _, r := range rows {
		state := faint.Render("not installed")
		if r.Path != "" {
			state = good.Render("installed") + "  " + r.Path
		}
		if r.Tested == "" {
			state += faint.Render("  (described, not tested)")
		} else {
			state += faint.Render("  (tested with " + r.Tested + ")")
		}
		fmt.Fprintf(&b, "%-10s %s\n", r.Name, state)
		fmt.Fprintf(&b, "           actor   %s\n", term.Line(strings.Join(r.Actor, " ")))
		fmt.Fprintf(&b, "           critic  %s\n", term.Line(strings.Join(r.Critic, " ")))
		if r.Path == "" && r.Install != "" {
			fmt.Fprintf(&b, "           %s\n", term.Line(r.Install))
		}
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}
