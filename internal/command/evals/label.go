package evals

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/eval"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

func newLabelCmd(l *command.Logs) *cobra.Command {
	return &cobra.Command{
		Use:         `label SESSION[/N] good|bad ["why"]`,
		Annotations: command.Exits("it is kept", ""),
		Short:       "Say whether the work of an iteration was finished",
		Long: `Say whether the work of an iteration was finished when its critic judged it: good
if a DONE was right, bad if it was not. Without /N it is the last iteration of the
session. What you say stands above all other sources, and the last word counts.`,
		Example: `  codeloops eval label latest good
  codeloops eval label 0a1f94/2 bad "the cache is never emptied"`,
		PreRunE: l.Console.UsersCommand,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if len(args) < 2 || args[1] != "good" && args[1] != "bad" {
				return hint.Errorf(`codeloops eval label 0a1f94/2 bad "why"`, "a label takes an iteration, and good or bad")
			}
			ref, n, err := eval.SplitID(args[0])
			if err != nil {
				return err
			}
			store, err := l.Store()
			if err != nil {
				return err
			}
			id, err := l.ID(store, ref)
			if err != nil {
				return err
			}
			one := session.Look(store.Path(id))
			if n == 0 {
				n = one.Iterations
			}
			if one.Err != nil || n < 1 || one.Iterations != session.UnknownIterations && n > one.Iterations {
				return errors.Join(one.Err, fmt.Errorf("session %s has no iteration %d", id, n))
			}
			book, err := eval.Open(store)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, book.Close()) }()
			said := eval.Label{Case: fmt.Sprintf("%s/%d", id, n), Good: args[1] == "good", Why: strings.Join(args[2:], " "), At: l.Console.Now()}
			if err := book.Label(said); err != nil {
				return err
			}
			l.Console.Tell(fmt.Sprintf("%s is %s", said.Case, args[1]))
			return nil
		},
	}
}
