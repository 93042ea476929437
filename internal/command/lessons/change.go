package lessons

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/lesson"
	"codeloops/internal/run"
	"codeloops/internal/screen/ask"
	"codeloops/internal/strategy"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// The commands that change a store of lessons. Only the user may run them.

func (l *lessons) newAddCmd() *cobra.Command {
	var task string
	var everywhere bool
	cmd := &cobra.Command{
		Use:         "add SENTENCE…",
		Annotations: command.Exits("the lesson is stored", ""),
		Short:       "Add a lesson of your own",
		Long: `Add a lesson of your own. It is for this project, unless you say --everywhere,
and for tasks that share words with it or with --task.`,
		Example: `  codeloops lessons add --task 'change the API' 'Run make generate after each change of a .proto file.'
  codeloops lessons add --in project 'The tests of the parser need LC_ALL=C.'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return hint.Errorf("codeloops lessons add 'The tests of the parser need LC_ALL=C.'", "%s needs the lesson as a sentence", cmd.CommandPath())
			}
			return nil
		},
		PreRunE: l.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			one := lesson.Lesson{Task: task, Text: strings.Join(args, " "), At: l.Now().UTC()}
			if err := l.add(cmd.Context(), !everywhere, one); err != nil {
				return err
			}
			l.tellUntold()
			return nil
		},
	}
	cmd.Flags().StringVar(&task, "task", "", "the `task` on which it was learned")
	cmd.Flags().BoolVar(&everywhere, "everywhere", false, "use it in every project")
	return cmd
}

// tellUntold says why no run here will be told what is in the store, if that is so.
func (l *lessons) tellUntold() {
	cfg, err := config.Load(l.Settings(l.Dir))
	if err != nil {
		return // a run says what is wrong
	}
	from, _ := cfg.Strategy.Values().Set["lessons"].(string)
	switch {
	case cfg.Strategy.Name == strategy.NameReflexion && (from == l.in || from == run.LessonsOfProject && l.in == run.LessonsOfUser):
	case cfg.Strategy.Name == strategy.NameReflexion && from != strategy.LessonsOff:
		l.Tell(fmt.Sprintf("no run here will be told this: the configuration takes lessons from %q", from))
	default:
		l.Tell(fmt.Sprintf("no run here will be told this: below [strategy], set name = %q and lessons = %q", strategy.NameReflexion, l.in))
	}
}

// add adds lessons; here means for this project only.
func (l *lessons) add(ctx context.Context, here bool, list ...lesson.Lesson) error {
	return l.withStore(ctx, func(store lesson.Store, project string) (err error) {
		for i, one := range list {
			if here {
				one.Project = project
			}
			if l.in == run.LessonsOfProject {
				one.Project = "" // the file is in the project
			}
			if list[i], err = one.Clean(l.Secrets.String); err != nil {
				return hint.Errorf("give it as words", "%v", err)
			}
		}
		added, err := store.Add(ctx, list...)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("added %s, %d there already", wording.Count(added, "lesson"), len(list)-added)
		if len(list) == 1 && added == 1 {
			line = "added " + list[0].ID()
		}
		_, err = fmt.Fprintln(l.Out, line)
		return err
	})
}

func (l *lessons) newRmCmd() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "rm ID…",
		Annotations:       command.Exits("the lessons were removed", ""),
		Example:           `  codeloops lessons rm 3f2a --yes`,
		Aliases:           []string{"remove", "delete"},
		Short:             "Remove lessons",
		Long:              "Remove lessons. On a terminal you are asked first, elsewhere --yes is needed.",
		Args:              someIDs,
		ValidArgsFunction: l.complete,
		PreRunE:           l.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			picked, err := l.all(cmd.Context(), args)
			if err != nil {
				return err
			}
			if !yes {
				if err := ask.Confirm(cmd.Context(), l.Streams, "remove "+wording.Count(len(picked), "lesson")+"?"); err != nil {
					return err
				}
			}
			var ids []string
			for _, one := range picked {
				ids = append(ids, one.ID())
			}
			return l.withStore(cmd.Context(), func(store lesson.Store, _ string) error {
				n, err := store.Remove(cmd.Context(), ids...)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(l.Out, "removed "+wording.Count(n, "lesson"))
				return err
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (l *lessons) newImportCmd() *cobra.Command {
	return &cobra.Command{
		Use:         "import FILE",
		Annotations: command.Exits("the lessons are stored", ""),
		Example:     `  codeloops lessons import lessons.jsonl`,
		Short:       "Add the lessons of a file of JSON lines; - is standard input",
		Long: `Add the lessons of a file of JSON lines; - is standard input. They are cleaned
of control sequences and of the values of secret variables. If any line is not a lesson, nothing
is added.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return hint.Errorf("- is standard input", "%s takes one file, but got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault), // files
		PreRunE:           l.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := ask.Within(cmd.Context(), func() ([]byte, error) { return l.read(args[0]) })
			if err != nil {
				return fmt.Errorf("import lessons: %w", err)
			}
			var list []lesson.Lesson
			for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
				one, err := lesson.Decode(line)
				if err != nil {
					return fmt.Errorf("import lessons: %s:%d: %w", args[0], i+1, err)
				}
				list = append(list, one)
			}
			return l.add(cmd.Context(), false, list...)
		},
	}
}

// read reads a file, or standard input. Either can be a pipe, and without an end.
func (l *lessons) read(name string) ([]byte, error) {
	const most = 64 << 20
	in := l.In
	if name != "-" {
		f, err := os.Open(l.Path(name))
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s is larger than %d MiB", name, most>>20)
	}
	return text, err
}
