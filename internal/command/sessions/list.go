package sessions

import (
	"context"
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

type filterOptions struct {
	lookup.Filter
	limit int
}

func (o *filterOptions) query(l *command.Logs) (sessionview.Query, error) {
	if o.limit < 0 {
		return sessionview.Query{}, hint.Errorf("0 is no limit", "--limit cannot be %d", o.limit)
	}
	return o.Query(l.Host)
}

func (o *filterOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.Outcome, "outcome", "", "only sessions with this `outcome`: "+strings.Join(sessionview.Outcomes(), ", "))
	f.StringVar(&o.After, "after", "", "only sessions that began at this `time` or later (2025-01-27, 2025-01-27 15:30, RFC 3339)")
	f.StringVar(&o.Before, "before", "", "only sessions that began before this `time`; a date is its first moment")
	f.StringVar(&o.Since, "since", "", "only sessions that began within this `span` up to now, such as 7d or 36h")
	f.StringVar(&o.Search, "search", "", "only sessions with this `text` in their prompt or id")
	f.StringVar(&o.Project, "project", "", "only sessions that worked in `dir` or below")
	f.StringVar(&o.Agent, "agent", "", "only sessions in which `agent` played a role")
}

type listOptions struct {
	filterOptions
	sort  string
	json  bool
	jsonl bool
}

func newSessionsListCmd(l *command.Logs) *cobra.Command {
	o := &listOptions{}
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: command.LookExits(),
		Aliases:     []string{"ls"},
		Short:       "List sessions, the newest first",
		Long: `List sessions, the newest first: as a table on a terminal, elsewhere as lines of
id, directory, outcome, iterations, seconds, cost and prompt, separated by tabs.
Costs are as the agents report them: - means that none was reported, ≥$0.12 that
some turns are missing.

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
  cost_usd       US dollars; null: no agent reports it
  cost_partial   true if the cost of some turn is unknown
  tokens         input, cache and output; null: no agent reports them
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
	o.addFlags(f)
	f.IntVar(&o.limit, "limit", 0, "at most `n` sessions; 0 is no limit")
	f.StringVar(&o.sort, "sort", string(sessionview.ByStart), "`order`: "+strings.Join(sessionview.Orders(), ", "))
	f.BoolVar(&o.json, "json", false, "as a JSON list")
	f.BoolVar(&o.jsonl, "jsonl", false, "as JSON lines, one for each session")
	return cmd
}

func runSessionsList(l *command.Logs, o *listOptions) error {
	q, err := o.query(l)
	if err != nil {
		return err
	}
	if o.json && o.jsonl {
		return hint.Errorf("give one of them", "--json and --jsonl cannot be combined")
	}
	if err := lookup.OneOf("--sort", o.sort, sessionview.Orders()); err != nil {
		return err
	}
	q.Sort, q.Limit = sessionview.Order(o.sort), o.limit
	all, err := l.Survey()
	if err != nil {
		return err
	}
	none := len(all) == 0
	if q.Sort == sessionview.ByCost {
		session.Count(all)
	}
	picked := q.Pick(all)
	session.Count(picked)
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

type searchOptions struct {
	filterOptions
	json bool
}

func newSessionsSearchCmd(l *command.Logs) *cobra.Command {
	o := &searchOptions{}
	cmd := &cobra.Command{
		Use:         "search TEXT…",
		Annotations: command.LookExits(),
		Short:       "Find sessions by prompt, feedback, summary or changed file",
		Long: `Find sessions by their prompts, the critics' feedback, the summaries and the
names of changed files. Case does not matter, nor does the white space between
the words of a TEXT. Several TEXTs must all be in the same prompt, feedback,
summary or name. What agents print, and the text of diffs, is not searched.

On a terminal each session has a heading, the newest first, and below it the
iteration, the place and an excerpt of each text. Elsewhere there are lines of id,
iteration (nothing for the prompt), place and excerpt, separated by tabs.`,
		Example: `  codeloops sessions search "index out of range"
  codeloops sessions search parser dates --since 30d --project .`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hint.Errorf("codeloops sessions search \"index out of range\"", "%s needs a text to search for", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return runSessionsSearch(cmd.Context(), l, o, args) },
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.IntVar(&o.limit, "limit", 0, "at most `n` sessions; 0 is no limit")
	f.BoolVar(&o.json, "json", false, "as a JSON list: the fields of list --json, and the matches")
	return cmd
}

func runSessionsSearch(ctx context.Context, l *command.Logs, o *searchOptions, words []string) error {
	q, err := o.query(l)
	if err != nil {
		return err
	}
	search, err := session.NewSearch(words)
	if err != nil {
		return hint.Errorf("quote a text of several words: \"index out of range\"", "%v", err)
	}
	all, err := l.Survey()
	if err != nil {
		return err
	}
	found, err := search.Logs(ctx, q.Pick(all))
	if err != nil {
		return err
	}
	for _, one := range found {
		if one.Unread != nil {
			l.Tell(one.Unread)
		}
	}
	found = slices.DeleteFunc(found, func(one session.Found) bool { return len(one.Matches) == 0 })
	if o.limit > 0 && len(found) > o.limit {
		found = found[:o.limit]
	}
	if o.json {
		return l.Console.JSON(sessionview.FoundRows(found))
	}
	return l.Console.Print(func(w io.Writer) error {
		switch {
		case l.Console.OutTTY && len(found) == 0:
			_, err := fmt.Fprintf(l.Console.Err, "no session has %s\n", strings.Join(words, " and "))
			return err
		case l.Console.OutTTY:
			return l.Console.Screen().Found(w, found)
		}
		return sessionview.FoundTabs(w, found)
	})
}

func newSessionsStatsCmd(l *command.Logs) *cobra.Command {
	o := &filterOptions{}
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
			q, err := o.Query(&l.Console.Host)
			if err != nil {
				return err
			}
			all, err := l.Survey()
			if err != nil {
				return err
			}
			c := l.Console
			picked := q.Pick(all)
			session.Count(picked)
			st := sessionview.NewStats(picked)
			return c.Show(asJSON, st, sessionview.Totals(st, c.Screen()))
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}
