package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording/hint"
)

func addFilterFlags(o *lookup.Filter, f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.Outcome, "outcome", "", "only sessions with this `outcome`: "+strings.Join(lookup.Outcomes(), ", "))
	f.StringVar(&o.After, "after", "", "only sessions that began at this `time` or later (2025-01-27, 2025-01-27 15:30, RFC 3339)")
	f.StringVar(&o.Before, "before", "", "only sessions that began before this `time`; a date is its first moment")
	f.StringVar(&o.Since, "since", "", "only sessions that began within this `span` up to now, such as 7d or 36h")
	f.StringVar(&o.Search, "search", "", "only sessions with this `text` in their prompt or id, what a critic said, or the name of a changed file")
	f.StringVar(&o.Project, "project", "", "only sessions that worked in `dir` or below")
	f.StringVar(&o.Agent, "agent", "", "only sessions in which `agent` played a role")
}

type listOptions struct {
	lookup.Filter
	json  bool
	jsonl bool
}

func newSessionsListCmd(l *command.Logs) *cobra.Command {
	o := &listOptions{}
	cmd := &cobra.Command{
		Use:         "list",
		SuggestFor:  []string{"search", "find"},
		Annotations: command.LookExits(),
		Aliases:     []string{"ls"},
		Short:       "List sessions, the newest first",
		Long: `List sessions, the newest first: as a table on a terminal, elsewhere as lines of
id, directory, outcome, iterations, seconds, cost and prompt, separated by tabs.
Costs are as the agents report them: - means that none was reported, or that the
log has no end to tell it (codeloops sessions show adds it up, and so does --sort
cost), ≥$0.12 that some turns are missing.

A session without an end is "running" while a process works on it, and
"crashed" otherwise.

--json prints a list of objects:

  id             the session's id
  log            the file
  working_dir    where the agents worked
  outcome        as in --outcome
  stop_reason    why it ended, in one word; absent without an end
  iterations     finished ones; null: unknown
  started        when it began
  duration_secs  how long it took
  actor_agent    the agent of the actor
  actor_model    absent: the agent's default
  critic_agent   the agent of the critic
  critic_model   absent: the agent's default
  cost_usd       US dollars; null: no agent reports it, or the log has no end
  cost_partial   true if the cost of some turn is unknown
  tokens         input, cache and output; null: as for cost_usd
  task           the task of the queue that it worked on; absent if none
  confidence     the critic's, from 0 to 1; null: none
  summary        what was done, or why it ended
  prompt         the whole prompt
  log_bytes      the size of the log
  problem        what is wrong with the log, with file and line; absent if nothing`,
		Example: `  codeloops sessions list --since 7d --outcome failed
  codeloops sessions list --project . --search parser --json`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runSessionsList(l, o) },
	}
	f := cmd.Flags()
	addFilterFlags(&o.Filter, f)
	f.IntVar(&o.Limit, "limit", 0, "at most `n` sessions; 0 is no limit")
	f.StringVar(&o.Sort, "sort", lookup.ByStart, "`order`: "+strings.Join(lookup.Orders(), ", "))
	f.BoolVar(&o.json, "json", false, "as a JSON list")
	f.BoolVar(&o.jsonl, "jsonl", false, "as JSON lines, one for each session")
	return cmd
}

func runSessionsList(l *command.Logs, o *listOptions) error {
	pick, err := o.Query(l.Host)
	if err != nil {
		return err
	}
	if o.json && o.jsonl {
		return hint.Errorf("give one of them", "--json and --jsonl cannot be combined")
	}
	all, err := l.Survey()
	if err != nil {
		return err
	}
	none := len(all) == 0
	picked := pick(all)
	if o.json {
		return l.Console.JSON(sessionview.Rows(picked))
	}
	if !o.jsonl {
		defer func() {
			if slices.ContainsFunc(picked, func(one session.Overview) bool { return one.Status == session.Crashed && one.Err == nil }) {
				fmt.Fprintln(l.Console.Err, "hint: to continue a session that crashed: codeloops resume ID") //nolint:errcheck // a courtesy
			}
		}()
	}
	show := l.Console.Print
	if o.jsonl {
		show = l.Console.PrintJSON
	}
	return show(func(w io.Writer) error {
		switch {
		case o.jsonl:
			return jsonLines(w, sessionview.Rows(picked))
		case len(picked) == 0:
			return whyEmpty(l, none)
		case l.Console.OutTTY:
			return sessionview.Table(w, picked, l.Console.Screen())
		}
		return sessionview.Tabs(w, picked)
	})
}

// whyEmpty says on a terminal why the list is empty, and what to do about it. none: there is no
// session that flags could have left out.
func whyEmpty(l *command.Logs, none bool) error {
	if !l.Console.OutTTY && !l.Console.ErrTTY {
		return nil
	}
	why := "no session matches these flags; without them, codeloops sessions list shows all"
	if none {
		store, err := l.Store()
		if err != nil {
			return err
		}
		switch _, err := store.Latest(nil); {
		case err == nil:
			why = "no sessions but demonstrations; codeloops sessions list --all shows them"
		case errors.Is(err, session.ErrNotFound):
			why = "no sessions yet; " + lookup.Begin
		default:
			return nil // it has been reported
		}
	}
	_, err := fmt.Fprintln(l.Console.Err, why)
	return err
}

func jsonLines(w io.Writer, rows []sessionview.Row) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, row := range rows {
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

func newSessionsStatsCmd(l *command.Logs) *cobra.Command {
	o := &lookup.Filter{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "stats",
		Annotations: command.LookExits(),
		Short:       "Add up the results, times and costs of sessions",
		Long: `Add up the results, times and costs of sessions: how many succeeded, and how
many of them at the first try, how much of the iterations was approved, and of
those after one that was sent back, what the others have taken in vain, and the
sessions by outcome, stop reason, project and agents.`,
		Example: "  codeloops sessions stats --since 30d --project .",
		Args:    command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			pick, err := o.Query(l.Host)
			if err != nil {
				return err
			}
			all, err := l.Survey()
			if err != nil {
				return err
			}
			c := l.Console
			picked := pick(all)
			session.Count(picked)
			st := sessionview.NewStats(picked)
			return c.Show(asJSON, st, sessionview.Totals(st, c.Screen()))
		},
	}
	f := cmd.Flags()
	addFilterFlags(o, f)
	f.BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}
