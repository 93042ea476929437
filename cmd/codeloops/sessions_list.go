package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

// filterOptions are the flags that say which sessions are meant.
type filterOptions struct{ lookup.Filter }

func (o *filterOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.Outcome, "outcome", "", "only sessions that ended, or stand, like `this`: "+strings.Join(sessionview.Outcomes(), ", "))
	f.StringVar(&o.After, "after", "", "only sessions that began at this `time` or later (2025-01-27, 2025-01-27 15:30, RFC 3339)")
	f.StringVar(&o.Before, "before", "", "only sessions that began before this `time`; a date is its first moment")
	f.StringVar(&o.Since, "since", "", "only sessions that began within this `span` up to now, such as 7d or 36h")
	f.StringVar(&o.Search, "search", "", "only sessions with this `text` in their prompt or id")
	f.StringVar(&o.Project, "project", "", "only sessions that worked in `dir` or below")
	f.StringVar(&o.Agent, "agent", "", "only sessions in which `agent` played a role")
}

type listOptions struct {
	filterOptions
	limit int
	sort  string
	json  bool
	jsonl bool
}

func newSessionsListCmd(l *logs) *cobra.Command {
	o := &listOptions{}
	cmd := &cobra.Command{
		Use:         "list",
		Annotations: lookExits(),
		Aliases:     []string{"ls"},
		Short:       "List sessions, the newest first",
		Long: `List sessions, the newest first: as a table on a terminal, elsewhere as lines of
id, directory, outcome, iterations, seconds, cost and prompt, separated by tabs.
A cost is what the agents report: - means none, and ≥$0.12 leaves out some turns.

A session without an end is "running" while a process works on it, and
"crashed" otherwise.`,
		Example: `  codeloops sessions list --since 7d --outcome failed
  codeloops sessions list --project . --search parser --json`,
		Args: noArgs,
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

func runSessionsList(l *logs, o *listOptions) error {
	q, err := o.Query(&l.app.Host)
	if err != nil {
		return err
	}
	if o.limit < 0 {
		return usagef("0 is no limit", "--limit cannot be %d", o.limit)
	}
	if o.json && o.jsonl {
		return usagef("give one of them", "--json and --jsonl are two ways to say it")
	}
	if err := lookup.OneOf("--sort", o.sort, sessionview.Orders()); err != nil {
		return err
	}
	q.Sort, q.Limit = sessionview.Order(o.sort), o.limit
	all, err := l.Survey()
	if err != nil {
		return err
	}
	picked := q.Pick(all)
	if !o.json && !o.jsonl {
		defer l.carryOnCrashed(picked)
	}
	return l.app.print(func(w io.Writer) error {
		switch {
		case o.json:
			return sessionview.JSONList(w, picked)
		case o.jsonl:
			return sessionview.JSONLines(w, picked)
		case l.app.OutTTY && len(picked) == 0:
			_, err := fmt.Fprintln(l.app.Err, "no sessions")
			return err
		case l.app.OutTTY:
			return sessionview.Table(w, picked, l.app.screen())
		}
		return sessionview.Tabs(w, picked)
	})
}

// carryOnCrashed names the command that carries a session on, where one has crashed.
func (l *logs) carryOnCrashed(picked []session.Overview) {
	if slices.ContainsFunc(picked, func(one session.Overview) bool { return one.Status == session.Crashed }) {
		fmt.Fprintln(l.app.Err, "hint: to continue a session that crashed: codeloops resume ID") //nolint:errcheck // a courtesy
	}
}
