// Package steering holds the commands that watch and steer a run from another terminal.
package steering

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/standing"
)

// Commands returns status, watch, say, pause and stop.
func Commands(c *command.Console) []*cobra.Command {
	return []*cobra.Command{newStatusCmd(c), newWatchCmd(c), newSayCmd(c), newPauseCmd(c), newStopCmd(c)}
}

func newStatusCmd(c *command.Console) *cobra.Command {
	l := c.Logs()
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "status",
		Annotations: command.Exits("the status was shown, even if nothing runs", ""),
		Short:       "Show what runs here, where it stands, and what it has used",
		Long: `Show each session that runs in this repository in three lines: its task, where
it stands, and what it has used of its limits. If nothing runs, show how the
last session ended.

--json prints a list of objects, which is empty if nothing runs:

  session                the id
  pid                    the process of codeloops
  work_tree              where it works
  log                    the file
  prompt                 its first line
  strategy               its name; "" is actor-critic
  began                  when the run began; it may have resumed an earlier one
  now.iteration          the current one; 0 is none
  now.phase              the current one, as in the log
  now.since              when the phase began
  now.paused             whether the user has paused it
  now.question           what it asks you, and waits for an answer to; absent: nothing
  now.turns              the current ones: role, agent, model, began, does, what, waiting_until
  change.files           how many have changed since the session began
  change.insertions      lines
  change.deletions       lines
  spent.tokens           by all agents so far
  spent.cost_usd         US dollars
  limits.iterations      0 is no limit, here and below
  limits.tokens          for all agents
  limits.cost_usd        US dollars
  limits.duration_secs   of the run
  limits.turn_secs       of a turn of the actor
  asked.stop             whether it is to stop after this iteration
  asked.pause            whether it is to pause after this turn, or is paused
  asked.words            how many texts the actor has not been told yet`,
		Example: `  codeloops status
  codeloops status --all --json`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), l, asJSON) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&l.All, "all", false, "what runs in any repository")
	f.BoolVar(&asJSON, "json", false, "as JSON")
	f.StringVar(&l.Dir, "session-dir", "", "look for the last session in `dir`")
	return cmd
}

func runStatus(ctx context.Context, l *command.Logs, asJSON bool) error {
	runs := l.Runs(ctx, 0)
	if asJSON {
		all := make([]standing.Standing, 0, len(runs))
		for _, r := range runs {
			all = append(all, r.At)
		}
		return l.Console.JSON(all)
	}
	return show(l, runs)
}

// show shows what runs, or else the last session.
func show(l *command.Logs, runs []lookup.Run) error {
	if len(runs) == 0 {
		return lastSession(l)
	}
	c := l.Console
	root := lookup.Here(&c.Host).Root()
	screen := c.Screen()
	if !c.OutTTY {
		screen = screen.Wide(render.Whole)
	}
	for _, r := range runs {
		where := r.Holder.Lock.WorkTree
		if where == root {
			where = ""
		}
		lines := screen.Running(r.At, c.Now(), where)
		if err := c.Show(false, nil, strings.Join(lines, "\n")+"\n"); err != nil {
			return err
		}
		if r.Err != nil {
			c.Tell(fmt.Sprintf("session %s does not answer; this is from its log: %v", r.Holder.Lock.Session, r.Err))
		}
	}
	return nil
}

func lastSession(l *command.Logs) error {
	c := l.Console
	where := " in this repository"
	if l.All {
		where = ""
	}
	store, err := l.Store()
	if err != nil {
		return err
	}
	id, err := l.ID(store, "")
	if err != nil { // there was no session
		_, err = fmt.Fprintf(c.Out, "nothing runs%s, and nothing has run yet\n", where)
		return err
	}
	one := session.Look(store.Path(id))
	line := fmt.Sprintf("nothing runs%s; the last session (%s) ended after %s: %s", where, words.Outcome(string(one.Status)), render.Span(one.Duration), term.Line(standing.Title(one.Session.Prompt)))
	what := "codeloops sessions show " + id + " shows it"
	if one.Status == session.Crashed {
		line = fmt.Sprintf("nothing runs%s; the last session broke off: %s", where, term.Line(standing.Title(one.Session.Prompt)))
		what = "codeloops resume " + id + " carries it on"
	}
	return c.Show(false, nil, fmt.Sprintf("%s\nhint: %s\n", line, what))
}
