// Package projects holds the commands for the user's projects.
package projects

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/git"
	"codeloops/internal/project"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

type projects struct {
	*command.Console

	logs *command.Logs
}

// New returns the command and its subcommands.
func New(c *command.Console) *cobra.Command {
	p := &projects{c, c.Logs()}
	p.logs.All = true
	cmd := &cobra.Command{
		Use:         "project",
		Annotations: command.Exits("the projects were listed", ""),
		Short:       "List your projects, and how their runs have gone",
		Long: `List your projects: each directory in which a session worked, and those that you have
added. The page groups by them, and offers the default one first. Without a command it
lists them.`,
		Example: `  codeloops project list
  codeloops project default parser`,
		Args: command.OwnCommands,
		RunE: func(*cobra.Command, []string) error { return p.list(false) },
	}
	cmd.PersistentFlags().StringVar(&p.logs.Dir, "session-dir", "", "the sessions in `dir`")
	cmd.AddCommand(p.newListCmd(), p.newAddCmd(), p.newRmCmd(), p.newDefaultCmd())
	return cmd
}

func (p *projects) known() ([]project.Project, error) {
	b, err := project.Read(project.File(&p.Host))
	if err != nil {
		return nil, err
	}
	all, err := p.logs.Survey()
	return b.List(all), err
}

func (p *projects) newListCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Aliases:     []string{"ls"},
		Annotations: command.Exits("the projects were listed; there may be none", ""),
		Short:       "List the projects, the default first, then the one that was worked in last",
		Long: `List the projects, the default first, then the one that was worked in last: name,
sessions, how many of those that ended were done, and at the first try, cost, last session
and directory. Elsewhere than on a terminal, tabs separate them.`,
		Example: `  codeloops project list --json`,
		Args:    command.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return p.list(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

func (p *projects) list(asJSON bool) error {
	all, err := p.known()
	if err != nil {
		return err
	}
	if len(all) == 0 && p.OutTTY {
		fmt.Fprintln(p.Err, "no projects yet; codeloops project add adds the directory that you are in") //nolint:errcheck // a courtesy
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, one := range all {
		cells := []string{one.Name, strconv.Itoa(one.Sessions), percent(one.SuccessRate), percent(one.FirstTry), dollars(one.CostUSD), day(one.Last), one.Dir}
		if one.Default && p.OutTTY {
			cells[0] += " *"
		}
		for i, cell := range cells {
			cells[i] = term.Line(cell)
		}
		line := strings.Join(cells, "\t") + "\n"
		if p.OutTTY {
			_, err = table.Write([]byte(line)) // to memory
		} else {
			text.WriteString(line)
		}
	}
	if err == nil && p.OutTTY && len(all) > 0 {
		err = table.Flush()
	}
	if err != nil {
		return err
	}
	heading := ""
	if p.OutTTY && len(all) > 0 {
		heading = "name, sessions, done, at the first try, cost, last, directory\n"
	}
	return p.Show(asJSON, all, heading+text.String())
}

func percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", *share*100)
}

func dollars(cost *float64) string {
	if cost == nil {
		return "-"
	}
	return fmt.Sprintf("$%.2f", *cost)
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateOnly)
}

func (p *projects) newAddCmd() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:         "add [DIR]",
		Annotations: command.Exits("the project is listed", ""),
		Short:       "Add a repository, or the one that you are in",
		Example:     `  codeloops project add ~/src/parser --name parser`,
		Args:        cobra.MaximumNArgs(1),
		PreRunE:     p.UsersCommand,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := p.Path(command.First(args))
			r, err := git.Open(dir, p.Environ)
			if err != nil {
				return hint.Add(fmt.Errorf("add a project: %w", err), "give a directory in a git repository")
			}
			if command.First(args) == "" {
				dir = r.WorkTree
			}
			return project.Edit(project.File(&p.Host), func(b *project.Book) error { b.Add(dir, name); return nil })
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "under this `name` (default: that of the directory)")
	return cmd
}

func (p *projects) newRmCmd() *cobra.Command {
	return p.change(&cobra.Command{
		Use:         "rm NAME|DIR",
		Annotations: command.Exits("the project is not listed any more", ""),
		Short:       "List a project no more; its sessions and its files stay",
		Example:     `  codeloops project rm parser`,
	}, func(b *project.Book, dir string) { b.Remove(dir) })
}

func (p *projects) newDefaultCmd() *cobra.Command {
	return p.change(&cobra.Command{
		Use:         "default NAME|DIR",
		Annotations: command.Exits("the page offers this project first", ""),
		Short:       "Say which project the page offers first",
		Example:     `  codeloops project default parser`,
	}, func(b *project.Book, dir string) { b.Default = dir })
}

// change completes a command that changes something about one project.
func (p *projects) change(cmd *cobra.Command, do func(b *project.Book, dir string)) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return hint.Errorf("`codeloops project list` names them", "%s needs one project, by its name or its directory", cmd.CommandPath())
		}
		return nil
	}
	cmd.PreRunE = p.UsersCommand
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
		all, _ := p.known() // then there is nothing to complete
		for _, one := range all {
			names = append(names, one.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		all, err := p.known()
		if err != nil {
			return err
		}
		one, err := project.Find(all, args[0], p.Path(args[0]))
		if err != nil {
			return err
		}
		return project.Edit(project.File(&p.Host), func(b *project.Book) error { do(b, one.Dir); return nil })
	}
	return cmd
}
