package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

type strategyRow struct {
	Name       string               `json:"name"`
	About      string               `json:"about"`
	When       string               `json:"when"`
	Turns      string               `json:"turns_per_round"`
	Most       *int                 `json:"most_turns"` // null: no limit
	Parameters map[string]any       `json:"parameters"`
	Roles      map[loop.Role]string `json:"roles"`             // besides actor and critic, with the access of each
	Members    []loop.Role          `json:"members,omitempty"` // from which it chooses
	Base       any                  `json:"base,omitempty"`    // the strategy that it drives
	Chosen     bool                 `json:"chosen"`

	bases []string // those that it can drive
}

func newStrategiesCmd(c *command.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "strategies",
		Annotations: command.Exits("the strategies were listed", ""),
		Example: `  codeloops strategies
  codeloops help strategies`,
		Short: "List the ways to drive agents, and what each can cost in turns",
		Long: `List the ways to drive agents: what each does, when to use it, the turns of a
round, and the most turns that it can take with the configuration as it is.
--strategy NAME chooses one; codeloops help strategies describes them.`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(c.Settings(c.Dir))
			if err != nil {
				return err
			}
			rows := strategyRows(cfg)
			var text strings.Builder
			for _, r := range rows {
				r.write(&text)
			}
			return c.Show(asJSON, rows, text.String())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

func strategyRows(cfg *config.Config) (rows []strategyRow) {
	for _, k := range strategy.All() {
		choice := k.With(cfg.Strategy.Values())
		r := strategyRow{
			Name: k.Name, About: k.About, When: k.When, Turns: k.Turns, Parameters: map[string]any{}, Roles: map[loop.Role]string{}, Chosen: k.Name == cfg.Strategy.Name,
		}
		for _, p := range k.Parameters {
			r.Parameters[p.Key] = choice.Set[p.Key]
		}
		for role, access := range k.Roles {
			r.Roles[role] = access.String()
		}
		if k.Base != "" {
			r.Base, r.bases = choice.Set["base"], k.Bases()
		}
		if choice.Chooses() {
			for _, m := range choice.Members {
				r.Members = append(r.Members, m.Role)
			}
		}
		if n := choice.Most(cfg.MaxIterations); n >= 0 {
			r.Most = &n
		}
		rows = append(rows, r)
	}
	return rows
}

func (r strategyRow) write(b *strings.Builder) {
	name := r.Name
	if r.Chosen {
		name += " (chosen)"
	}
	most := "no limit"
	if r.Most != nil {
		most = fmt.Sprintf("at most %d, not counting those that are asked for again", *r.Most)
	}
	fmt.Fprintf(b, "%s\n  %s\n  when:   %s\n  round:  %s\n  turns:  %s\n", name, r.About, r.When, r.Turns, most)
	switch base, _ := r.Base.(string); {
	case base == "":
	case slices.Contains(r.bases, base):
		fmt.Fprintf(b, "  base:   %s\n", base)
	default:
		fmt.Fprintf(b, "  base:   %s, which it cannot drive: choose one of %s\n", base, strings.Join(r.bases, ", "))
	}
	var roles []string
	for _, role := range slices.Sorted(maps.Keys(r.Roles)) {
		roles = append(roles, fmt.Sprintf("%s (%s)", role, r.Roles[role]))
	}
	if len(roles) > 0 {
		fmt.Fprintf(b, "  roles:  %s\n", strings.Join(roles, ", "))
	}
	if len(r.Members) > 0 {
		var names []string
		for _, m := range r.Members {
			names = append(names, string(m))
		}
		fmt.Fprintf(b, "  members:  %s\n", strings.Join(names, ", "))
	}
}
