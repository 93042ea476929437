package steering

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/door"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording/hint"
)

const runRefHelp = `ID is the id of a running session, or a unique beginning of it or of its hash, in
any repository. Without an ID it is the one of this work
tree, or the only one of the repository.`

func newStopCmd(c *command.Console) *cobra.Command {
	return newHoldCmd(c, loop.SteerStop, "do not stop it after all", &cobra.Command{
		Use:   "stop [ID]",
		Short: "Stop a run after the current iteration",
		Long: `Stop a run after the current iteration, as the key s does on its own screen. Its
turns and checks are finished, its work is judged, and codeloops resume can
continue it. --off takes this back as long as the run has not stopped. To end a
run at once, press Ctrl+C where it runs, or send its process SIGINT; codeloops
status --json has the pid.

` + runRefHelp,
		Example: `  codeloops stop
  codeloops stop --off`,
	})
}

func newPauseCmd(c *command.Console) *cobra.Command {
	return newHoldCmd(c, loop.SteerPause, "let it continue; this also takes back a stop that was asked for", &cobra.Command{
		Use:   "pause [ID]",
		Short: "Pause a run after the current turn, or let it continue",
		Long: `Pause a run after the current turn, as the key p does on its own screen: no turn
begins until codeloops pause --off lets it continue. Time limits keep running
meanwhile.

` + runRefHelp,
		Example: `  codeloops pause
  codeloops pause --off`,
	})
}

// newHoldCmd completes cmd, which asks a run for something that --off takes back.
func newHoldCmd(c *command.Console, kind loop.SteerKind, offHelp string, cmd *cobra.Command) *cobra.Command {
	off := cmd.Flags().Bool("off", false, offHelp)
	cmd.Annotations, cmd.Args, cmd.ValidArgsFunction = command.Exits("the run was told", ""), command.OneSession, completeRuns(c)
	cmd.PreRunE = c.UsersCommand
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s := steer{ref: command.First(args), kind: kind}
		if *off {
			s.kind = loop.SteerGoOn
		}
		return runSteer(cmd.Context(), c, s)
	}
	return cmd
}

func newSayCmd(c *command.Console) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:         "say [ID] words…",
		Annotations: command.Exits("the run was told", ""),
		Short:       "Add something to the task of a run",
		Long: `Add something to the task of a run, as the key f does on the run's own screen.
The actor gets it in its next turn, and the critic judges by it, also after a
resume; the run is not done before. With --now the actor's turn ends at once, as
with the key i: nobody judges it, and the next one begins with your words. To a run
that asks something (run --wait-for-answers), they are the answer.

After an ID the words need no quotes; without one, give them as one argument. A
single argument, or a first argument with a space in it, is never taken for an
ID. - instead of the words means standard input. A run accepts at most 1 MiB at
a time.

` + runRefHelp,
		Example: `  codeloops say "use the library that is there, do not add another"
  codeloops say --now "not in this file"
  codeloops say 2026-01-27T15-30 use library B
  go vet ./... 2>&1 | codeloops say -`,
		Args: func(_ *cobra.Command, args []string) error {
			_, words := splitSaid(args)
			return task.Check(words, "what is said")
		},
		ValidArgsFunction: completeRuns(c),
		PreRunE:           c.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			s := steer{kind: loop.SteerSay}
			if now {
				s.kind = loop.SteerInterrupt
			}
			s.ref, s.text = splitSaid(args)
			return runSteer(cmd.Context(), c, s)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "end the actor's turn now, and begin the next one with your words")
	return cmd
}

// splitSaid splits arguments into the name of a session and what is said; a single argument is what is
// said.
func splitSaid(args []string) (ref, words string) {
	if len(args) == 1 {
		return "", strings.TrimSpace(args[0])
	}
	return command.SplitMessage(args)
}

type steer struct {
	ref  string
	kind loop.SteerKind
	text string
}

func runSteer(ctx context.Context, c *command.Console, s steer) error {
	r, err := c.Logs().Run(ctx, s.ref)
	if err != nil {
		return err
	}
	if s.text == "-" {
		waiting := func() { fmt.Fprintln(c.Err, "waiting for what to say on standard input") } //nolint:errcheck // a courtesy
		if s.text, _, err = (task.Sources{File: s.text}).Await(ctx, c.Dir, c.In, waiting); err != nil {
			return err
		}
	}
	was, asked := r.At.Asked, r.At.Now.Question != ""
	at, err := r.Client.Ask(ctx, s.kind, s.text)
	if errors.Is(err, loop.ErrNoTurn) {
		return hint.Errorf("without --now it will be told in its next turn", "the actor of session %s is not at work", r.Holder.Lock.Session)
	}
	if errors.Is(err, loop.ErrOver) {
		return hint.Errorf("if the work was not done: codeloops resume "+r.Holder.Lock.Session+" '…' says it", "session %s was not told: %w", r.Holder.Lock.Session, err)
	}
	if long, ok := errors.AsType[*door.LongError](err); ok {
		return hint.Errorf("write it to a file, and say which", "session %s was not told: %w", r.Holder.Lock.Session, long)
	}
	if err != nil {
		return hint.Errorf("use the keys on the terminal where it runs", "session %s (process %d) cannot be reached: %w", r.Holder.Lock.Session, r.Holder.Lock.PID, err)
	}
	says := s.effect(at, was)
	if asked && s.kind == loop.SteerSay {
		says = "session " + term.Line(at.Session) + " has your answer"
	}
	_, err = fmt.Fprintln(c.Out, says)
	return err
}

func (s steer) effect(at standing.Standing, was standing.Asked) string {
	of := "session " + term.Line(at.Session)
	switch s.kind {
	case loop.SteerStop:
		if at.Now.Iteration == 0 {
			return of + " stops before its next turn (codeloops stop --off takes that back)"
		}
		return fmt.Sprintf("%s stops when iteration %d is over (codeloops stop --off takes that back)", of, at.Now.Iteration)
	case loop.SteerPause:
		return of + " pauses " + afterTurn(at) + " (codeloops pause --off lets it go on)"
	case loop.SteerGoOn:
		if at.Now.Paused || was.Pause || was.Stop {
			return of + " goes on"
		}
		return of + " goes on as before: nothing was asked of it"
	case loop.SteerSay:
		if at.Now.Role() == string(loop.RoleActor) {
			return "the actor of " + of + " will be told in its next turn (--now interrupts the one under way)"
		}
		return "the actor of " + of + " will be told in its next turn"
	case loop.SteerInterrupt:
		return fmt.Sprintf("the actor of %s is interrupted in iteration %d, and will be told in the next one", of, at.Now.Iteration)
	}
	return of + " was told"
}

func afterTurn(at standing.Standing) string {
	switch role := at.Now.Role(); {
	case at.Now.Paused:
		return "already"
	case role == "":
		return "before its next turn"
	case len(at.Now.Turns) > 1:
		return "after the turns under way"
	default:
		return "after the turn of the " + term.Line(role)
	}
}

// completionTimeout is how long the completion of a word waits for a run that does not answer.
const completionTimeout = 250 * time.Millisecond

func completeRuns(c *command.Console) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		l := c.Logs()
		l.All = true
		for _, r := range l.Runs(cmd.Context(), completionTimeout) {
			if strings.HasPrefix(r.Holder.Lock.Session, prefix) {
				found = append(found, command.Completion(r.Holder.Lock.Session, r.At.Prompt))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
