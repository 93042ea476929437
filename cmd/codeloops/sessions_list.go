package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/browse"
	"codeloops/internal/session"
	"codeloops/internal/span"
	"codeloops/internal/spell"
)

// filterOptions are the flags that say which sessions are meant.
type filterOptions struct {
	outcome, after, before, since string
	search, project, agent        string
}

func (o *filterOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.outcome, "outcome", "", "only sessions that ended, or stand, like `this`: "+strings.Join(browse.Outcomes(), ", "))
	f.StringVar(&o.after, "after", "", "only sessions that began at this `time` or later (2025-01-27, 2025-01-27 15:30, RFC 3339)")
	f.StringVar(&o.before, "before", "", "only sessions that began before this `time`; a date is its first moment")
	f.StringVar(&o.since, "since", "", "only sessions that began within this `span` up to now, such as 7d or 36h")
	f.StringVar(&o.search, "search", "", "only sessions with this `text` in their prompt or id")
	f.StringVar(&o.project, "project", "", "only sessions that worked in `dir` or below")
	f.StringVar(&o.agent, "agent", "", "only sessions in which `agent` played a role")
}

// query reads the flags.
func (o *filterOptions) query(a *app) (q browse.Query, err error) {
	now := a.now()
	q = browse.Query{Outcome: o.outcome, Search: o.search, Agent: o.agent}
	if o.outcome != "" {
		if err := oneOf("--outcome", o.outcome, browse.Outcomes()); err != nil {
			return q, err
		}
	}
	if o.after != "" && o.since != "" {
		return q, usagef("give one of them", "--after and --since both say when to begin")
	}
	if o.after != "" {
		if q.After, err = browse.ParseTime(o.after, now.Location()); err != nil {
			return q, usagef("", "--after: %v", err)
		}
	}
	if o.before != "" {
		if q.Before, err = browse.ParseTime(o.before, now.Location()); err != nil {
			return q, usagef("", "--before: %v", err)
		}
	}
	if o.since != "" {
		back, err := span.Parse(o.since)
		if err != nil {
			return q, usagef("", "--since: %v", err)
		}
		q.After = now.Add(-back)
	}
	if o.project != "" {
		dir := filepath.Clean(resolve(a.dir, o.project))
		q.Projects = []string{dir}
		// A log has the directory as the user had named it.
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			q.Projects = append(q.Projects, resolved)
		}
	}
	return q, nil
}

func oneOf(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	hint := "one of " + strings.Join(words, ", ")
	if near, ok := spell.Nearest(strings.ToLower(value), words); ok {
		hint = "did you mean " + near + "?"
	}
	return usagef(hint, "%s cannot be %q", flag, value)
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
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List sessions, the newest first",
		Long: `List sessions, the newest first: as a table on a terminal, elsewhere as lines of
id, directory, outcome, iterations, seconds, cost and prompt, set apart by tabs.
A cost is what the agents report: - is none, and ≥$0.12 is without some turns.

A session without an end is "running" while somebody is at work on it, and
"crashed" when nobody is.

` + sessionsExit,
		Example: `  codeloops sessions list --since 7d --outcome failed
  codeloops sessions list --project . --search parser --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return runSessionsList(l, o) },
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.IntVar(&o.limit, "limit", 0, "at most `n` sessions; 0 is no limit")
	f.StringVar(&o.sort, "sort", string(browse.ByStart), "`order`: "+strings.Join(browse.Orders(), ", "))
	f.BoolVar(&o.json, "json", false, "as a JSON list")
	f.BoolVar(&o.jsonl, "jsonl", false, "as JSON lines, one for each session")
	return cmd
}

func runSessionsList(l *logs, o *listOptions) error {
	q, err := o.query(l.app)
	if err != nil {
		return err
	}
	if o.limit < 0 {
		return usagef("0 is no limit", "--limit cannot be %d", o.limit)
	}
	if o.json && o.jsonl {
		return usagef("give one of them", "--json and --jsonl are two ways to say it")
	}
	if err := oneOf("--sort", o.sort, browse.Orders()); err != nil {
		return err
	}
	q.Sort, q.Limit = browse.Order(o.sort), o.limit
	all, err := l.survey()
	if err != nil {
		return err
	}
	picked := q.Pick(all)
	return l.app.print(func(w io.Writer) error {
		switch {
		case o.json:
			return jsonList(w, picked)
		case o.jsonl:
			return jsonLines(w, picked)
		case l.app.OutTTY && len(picked) == 0:
			_, err := fmt.Fprintln(l.app.Err, "no sessions")
			return err
		case l.app.OutTTY:
			return browse.Table(w, picked, l.app.screen())
		}
		return browse.Tabs(w, picked)
	})
}

// survey returns the overviews of all sessions, and names what could not be
// read of them.
func (l *logs) survey() ([]session.Overview, error) {
	store, err := l.store()
	if err != nil {
		return nil, err
	}
	all, err := store.Survey()
	if errors.Is(err, fs.ErrPermission) {
		l.tell(err) // there is nothing else to list
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !l.all {
		all = slices.DeleteFunc(all, func(one session.Overview) bool { return ofDemo(one.Summary) })
	}
	for i, one := range all {
		all[i] = l.lasting(one)
		for _, problem := range []error{one.Err, one.Problem} {
			// A run that is about to begin has an empty log.
			if problem != nil && !(one.Size == 0 && one.Status == session.Running) {
				l.tell(problem)
			}
		}
	}
	return all, nil
}

// lasting lets the time of a session go on while it runs.
func (l *logs) lasting(one session.Overview) session.Overview {
	if one.Status == session.Running && one.Err == nil {
		one.Duration = max(one.Duration, l.app.now().Sub(one.Started))
	}
	return one
}

// jsonList writes sessions as writeJSON would, one at a time.
func jsonList(w io.Writer, picked []session.Overview) error {
	if len(picked) == 0 {
		_, err := io.WriteString(w, "[]\n")
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", "  ")
	before := "[\n  "
	for _, one := range picked {
		b.Reset()
		b.WriteString(before)
		if err := enc.Encode(browse.NewRow(one)); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line break may be followed by a comma
		if _, err := b.WriteTo(w); err != nil {
			return err
		}
		before = ",\n  "
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

func jsonLines(w io.Writer, picked []session.Overview) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, one := range picked {
		if err := enc.Encode(browse.NewRow(one)); err != nil {
			return err
		}
	}
	return nil
}
