package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

type searchOptions struct {
	filterOptions
	limit int
	json  bool
}

func newSessionsSearchCmd(l *logs) *cobra.Command {
	o := &searchOptions{}
	cmd := &cobra.Command{
		Use:         "search TEXT…",
		Annotations: lookExits(),
		Short:       "Find sessions by what was asked, said and changed",
		Long: `Find sessions by their prompts, the critics' feedback, the summaries and the
names of changed files. TEXT is found in any case, and its words with any white space
between them; of several TEXTs all stand in the same prompt, feedback, summary or
name. What agents print, and the text of diffs, is not looked into.

On a terminal each session has a heading, the newest first, and below it the
iteration, the place and an excerpt of each text. Elsewhere there are lines of id,
iteration (nothing for the prompt), place and excerpt, separated by tabs.`,
		Example: `  codeloops sessions search "index out of range"
  codeloops sessions search parser dates --since 30d --project .`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("codeloops sessions search \"index out of range\"", "%s needs a text to search for", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return runSessionsSearch(cmd.Context(), l, o, args) },
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.IntVar(&o.limit, "limit", 0, "at most `n` sessions; 0 is no limit")
	f.BoolVar(&o.json, "json", false, "as a JSON list: what list --json tells of a session, and its matches")
	return cmd
}

func runSessionsSearch(ctx context.Context, l *logs, o *searchOptions, words []string) error {
	q, err := o.Query(&l.app.Host)
	if err != nil {
		return err
	}
	if o.limit < 0 {
		return usagef("0 is no limit", "--limit cannot be %d", o.limit)
	}
	search, err := session.NewSearch(words)
	if err != nil {
		return usagef("quote a text of several words: \"index out of range\"", "%v", err)
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
	return l.app.print(func(w io.Writer) error {
		switch {
		case o.json:
			return sessionview.FoundJSON(w, found)
		case l.app.OutTTY && len(found) == 0:
			_, err := fmt.Fprintf(l.app.Err, "no session has %s\n", strings.Join(words, " and "))
			return err
		case l.app.OutTTY:
			return l.app.screen().Found(w, found)
		}
		return sessionview.FoundTabs(w, found)
	})
}
