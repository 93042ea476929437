package tasks

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/play"
	"codeloops/internal/queue/source"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

func newQueueImportCmd(q *Access) *cobra.Command {
	o := &taskOptions{}
	var issues, program string
	cmd := &cobra.Command{
		Use:         "import [FILE]",
		Annotations: command.Exits("the tasks are in the queue", ""),
		Short:       "Add the open tasks of a checklist, a prd.json, GitHub issues or a program",
		Long: `Add the tasks of a source that are open and not in the queue yet. A source is

  a Markdown checklist  each open box (- [ ]) is a task, with the text indented below
                        it; each comes after those above it, except that [P] behind a
                        box marks what may run beside others
  a file *.json         user stories with their acceptance criteria
  --github OWNER/NAME#LABEL
                        the open issues with a label; GITHUB_TOKEN
  --command PROGRAM     whatever a program of yours lists

Codeloops tells it what becomes of a task: it ticks the box, for instance, when the
merge has been verified. docs/queue-sources.md tells more.`,
		Example: `  codeloops queue import tasks.md --check "go test ./..."
  codeloops queue import --github acme/weeks#codeloops`,
		Args: func(cmd *cobra.Command, args []string) error {
			given := len(args)
			for _, said := range []string{issues, program} {
				if said != "" {
					given++
				}
			}
			if given == 1 {
				return nil
			}
			return hint.Errorf("codeloops queue import tasks.md", "%s takes one source, but got %d", cmd.CommandPath(), given)
		},
		PreRunE: q.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			from := queue.Origin{Kind: "github", Name: issues}
			switch {
			case program != "":
				from = queue.Origin{Kind: "command", Name: program}
			case len(args) > 0:
				from = q.file(args[0])
			}
			return q.with(cmd.Context(), func(b *backlog) error {
				added, err := o.take(cmd, b, from)
				if err != nil || !o.asJSON {
					return err
				}
				return command.WriteJSON(q.Out, map[string]any{"added": added})
			})
		},
	}
	cmd.Flags().StringVar(&issues, "github", "", "the open issues of `OWNER/NAME#LABEL`")
	cmd.Flags().StringVar(&program, "command", "", "what `PROGRAM` lists")
	manual.Under("Queue", cmd.Flags(), "github", "command")
	o.addFlags(cmd, q)
	return cmd
}

// file is the origin of tasks in a file.
func (q *Access) file(name string) queue.Origin {
	return queue.Origin{Kind: source.KindOf(name), Name: q.Path(name)}
}

// take adds the tasks of a source that are not there yet.
func (o *taskOptions) take(cmd *cobra.Command, b *backlog, origin queue.Origin) (records []queue.Record, err error) {
	like, err := o.task(cmd, b)
	if err != nil {
		return nil, err
	}
	runner := proc.NewRunner(b.Now)
	defer runner.Close() //nolint:errcheck // nothing of it is left
	from, err := b.player(runner).Source(origin, like.Repository.Root)
	if err != nil {
		return nil, err
	}
	tasks, err := play.Tasks(cmd.Context(), from, like)
	if err != nil {
		return nil, err
	}
	there, err := b.on.All(cmd.Context())
	if err != nil {
		return nil, err
	}
	if err := there.Fits(tasks); err != nil {
		return nil, err
	}
	added := []queue.Record{}
	for _, t := range tasks {
		r, err := b.on.Add(cmd.Context(), t)
		if errors.Is(err, board.ErrThere) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if added = append(added, r); !o.asJSON {
			fmt.Fprintln(b.Out, t.ID) //nolint:errcheck // a reader that has gone
		}
	}
	fmt.Fprintf(b.Err, "%s added, %d there already\n", wording.Count(len(added), "task"), len(tasks)-len(added)) //nolint:errcheck // a courtesy
	return added, nil
}
