// Package lessons holds the commands for lessons learned in runs.
package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/git"
	"codeloops/internal/lesson"
	"codeloops/internal/lesson/embedding"
	"codeloops/internal/run"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

type lessons struct {
	*command.Console

	in string
}

// New returns the command and its subcommands.
func New(c *command.Console) *cobra.Command {
	l := &lessons{Console: c}
	cmd := &cobra.Command{
		Use:         "lessons",
		Annotations: command.Exits("the lessons were listed", ""),
		Example: `  codeloops lessons
  codeloops lessons add 'The tests of the parser need LC_ALL=C.'`,
		Short: "List, add, remove and pass on what runs have learned",
		Long: `List, add, remove and pass on what runs have learned, for the strategy
reflexion. Without a command it lists all lessons.

A lesson records the task and the session in which it was learned, how many runs
were told it, and how many of those were done. Once it was told to five or more
runs, and fewer than a quarter of them were done, it is no longer told.`,
		Args: command.OwnCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.list(cmd.Context(), "", false) },
	}
	cmd.PersistentFlags().StringVar(&l.in, "in", run.LessonsOfUser, "`store`: user; project: .codeloops/lessons.jsonl in the repository; or postgres://USER@HOST/DATABASE")
	cmd.AddCommand(l.newListCmd(), l.newShowCmd(), l.newAddCmd(), l.newRmCmd(), l.newExportCmd(), l.newImportCmd())
	return cmd
}

// withStore opens the store for use, which also gets the name of the current project.
func (l *lessons) withStore(ctx context.Context, use func(store lesson.Store, project string) error) error {
	root, project := "", ""
	if r, err := git.Open(l.Dir, l.Environ); err == nil { // the user's lessons need no repository
		root, project = r.WorkTree, run.ProjectOf(r)
	}
	store, err := run.LessonsIn(ctx, &l.Host, root, l.in, l.Report)
	if err != nil {
		return err
	}
	return errors.Join(use(store, project), store.Close())
}

// all returns the lessons of the store, or those that ids name.
func (l *lessons) all(ctx context.Context, ids []string) (picked []lesson.Lesson, err error) {
	err = l.withStore(ctx, func(store lesson.Store, _ string) error {
		all, err := store.All(ctx)
		if err != nil || len(ids) == 0 {
			picked = all
			return err
		}
		for _, id := range ids {
			one, n := lesson.Find(all, id)
			switch {
			case n == 0:
				return hint.Errorf("`codeloops lessons list` shows what there is", "no lesson has an id that begins with %q", id)
			case n > 1:
				return hint.Errorf("give more characters of it", "%d lessons have ids that begin with %q", n, id)
			}
			picked = append(picked, one)
		}
		return nil
	})
	return picked, err
}

type lessonRow struct {
	ID string `json:"id"`
	lesson.Lesson
	Recalled int  `json:"recalled"`
	Done     int  `json:"done"`
	Told     bool `json:"told"` // whether future runs will be told it
}

func usesOf(l lesson.Lesson) string {
	switch {
	case l.Recalled() == 0:
		return "not told yet"
	case !l.Helps():
		return fmt.Sprintf("%d of %d done, told no more", l.Done, l.Recalled())
	}
	return fmt.Sprintf("%d of %d done", l.Done, l.Recalled())
}

func (l *lessons) newListCmd() *cobra.Command {
	var task string
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: command.Exits("the lessons were listed; there may be none", ""),
		Aliases:     []string{"ls"},
		Short:       "List lessons, the oldest first, or those for a task",
		Long: `List lessons, the oldest first, and how the runs that were told them ended; or,
with --for, those that a run with this task would be told, the best match first.
Elsewhere than on a terminal each line has id, uses and sentence, separated by
tabs.`,
		Example: `  codeloops lessons list --for 'make the failing test in parser pass'`,
		Args:    command.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.list(cmd.Context(), task, asJSON) },
	}
	cmd.Flags().StringVar(&task, "for", "", "only those that a run with this `task` would be told")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

// told is how many lessons a run is told by default.
const told = 5

func (l *lessons) list(ctx context.Context, task string, asJSON bool) error {
	var found []lesson.Lesson
	err := l.withStore(ctx, func(store lesson.Store, project string) (err error) {
		if task == "" {
			found, err = store.All(ctx)
			return err
		}
		cfg, err := config.Load(l.Settings(l.Dir))
		if err != nil {
			return err
		}
		store = run.ByMeaning(store, &l.Host, cfg.Lessons, l.Report)
		found, err = store.Recall(ctx, lesson.Query{Task: l.Secrets.String(task), Project: project, Most: told})
		if s, ok := store.(*embedding.Store); ok && err == nil {
			fmt.Fprintln(l.Err, s.How) //nolint:errcheck // a courtesy
		}
		return err
	})
	if err != nil {
		return err
	}
	rows, text := []lessonRow{}, strings.Builder{}
	for _, one := range found {
		rows = append(rows, lessonRow{one.ID(), one, one.Recalled(), one.Done, one.Helps()})
		line := one.ID() + "\t" + usesOf(one) + "\t" + term.Line(one.Text)
		if l.OutTTY {
			line = render.Cut(fmt.Sprintf("%s  %-12s  %s", one.ID(), usesOf(one), term.Line(one.Text)), l.OutWidth())
		}
		text.WriteString(line + "\n")
	}
	if len(rows) == 0 && l.OutTTY {
		fmt.Fprintln(l.Err, "no lessons") //nolint:errcheck // a courtesy
	}
	return l.Show(asJSON, rows, text.String())
}

func (l *lessons) newShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "show ID…",
		Annotations:       command.Exits("the lessons were shown", ""),
		Example:           `  codeloops lessons show 3f2a`,
		Short:             "Show lessons: where they come from, and how the runs that were told them ended",
		Args:              someIDs,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			picked, err := l.all(cmd.Context(), args)
			if err != nil {
				return err
			}
			var text strings.Builder
			for _, one := range picked {
				text.WriteString(sheet(one))
			}
			return l.Show(false, nil, text.String())
		},
	}
}

func sheet(l lesson.Lesson) string {
	from, learned := "", ""
	if l.Session != "" {
		from = fmt.Sprintf("%s, attempt %d", l.Session, l.Attempt)
	}
	if !l.At.IsZero() {
		learned = l.At.UTC().Format("2006-01-02 15:04 MST")
	}
	var b strings.Builder
	for _, field := range [][2]string{
		{"lesson", l.ID()}, {"says", l.Text}, {"task", l.Task}, {"project", l.Project}, {"from", from}, {"learned", learned}, {"runs", usesOf(l)},
	} {
		if field[1] != "" {
			fmt.Fprintf(&b, "%-8s %s\n", field[0], term.Line(field[1]))
		}
	}
	return b.String()
}

func (l *lessons) newExportCmd() *cobra.Command {
	return &cobra.Command{
		Use:               "export [ID…]",
		Annotations:       command.Exits("the lessons were printed", ""),
		Short:             "Print lessons as JSON lines, for lessons import",
		Example:           "  codeloops lessons export 3f2a | codeloops lessons import --in project -",
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			picked, err := l.all(cmd.Context(), args)
			if err != nil {
				return err
			}
			text, err := lesson.Encode(picked...)
			if err != nil {
				return err
			}
			return l.Show(false, nil, string(text))
		},
	}
}

func (l *lessons) complete(cmd *cobra.Command, args []string, prefix string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	all, _ := l.all(cmd.Context(), nil) // if they cannot be read, there is nothing to offer
	for _, one := range all {
		if id := one.ID(); strings.HasPrefix(id, prefix) && !slices.Contains(args, id) {
			found = append(found, command.Completion(id, one.Text))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func someIDs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || slices.Contains(args, "") {
		return hint.Errorf("`codeloops lessons list` shows what there is", "%s needs the id of a lesson", cmd.CommandPath())
	}
	return nil
}
