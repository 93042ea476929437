package session

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"codeloops/internal/loop"
)

// A Place is a part of a session that a search looks into.
type Place string

// The places: what the user asked for, the critic's feedback, its summaries, and the names of
// changed files.
const (
	InPrompt   Place = "prompt"
	InFeedback Place = "feedback"
	InSummary  Place = "summary"
	InFile     Place = "file"
)

// A Match is one text of a session that a search has found.
type Match struct {
	Place     Place
	Iteration int // the first one with the text; 0: the whole session
	Text      string
	Begin     int // where in Text the first search term was found
}

// Found is what a search found in one session.
type Found struct {
	Overview

	Matches []Match // in the order of the log, each text once
	Unread  error   // why the log could not be read in full
}

// A Search looks for texts in session logs. It keeps nothing between searches: the logs are
// read each time.
type Search struct {
	words []*regexp.Regexp // all of them match
}

// NewSearch returns the search for texts that contain all of the words, ignoring case and the
// amount of white space.
func NewSearch(words []string) (*Search, error) {
	s := &Search{}
	for _, w := range words {
		parts := strings.Fields(w)
		if len(parts) == 0 {
			return nil, errors.New("a text to search for is empty")
		}
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern, err := regexp.Compile(`(?i)` + strings.Join(parts, `\s+`))
		if err != nil {
			return nil, fmt.Errorf("search for %q: %w", w, err)
		}
		s.words = append(s.words, pattern)
	}
	return s, nil
}

// Logs searches the logs of sessions. It returns those that match, in order, and those that
// could not be read.
func (s *Search) Logs(ctx context.Context, logs []Overview) ([]Found, error) {
	all := make([]Found, len(logs))
	readEach(len(logs), func(i int) {
		if ctx.Err() == nil {
			all[i] = s.one(ctx, logs[i])
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var found []Found
	for _, one := range all {
		if one.Matches != nil || one.Unread != nil {
			found = append(found, one)
		}
	}
	return found, nil
}

// one searches a log. It skips bad lines; the first one is named.
func (s *Search) one(ctx context.Context, o Overview) Found {
	found := Found{Overview: o}
	known := map[Match]bool{}
	bad := func(err error) {
		if o.Err == nil && o.Problem == nil && found.Unread == nil { // else it is known
			found.Unread = err
		}
	}
	for entry, err := range Sound(ReadLean(o.Path), bad) {
		if err != nil || ctx.Err() != nil {
			found.Unread = err
			return found
		}
		for _, m := range searched(entry.Event) {
			if !s.match(&m) || known[m] {
				continue
			}
			known[m] = true
			m.Iteration = wholeBefore(entry.Event) // that of an iteration line
			found.Matches = append(found.Matches, m)
		}
	}
	return found
}

// match looks for the words in a text, and notes where the first one is.
func (s *Search) match(m *Match) bool {
	for i, w := range s.words {
		at := w.FindStringIndex(m.Text)
		if at == nil {
			return false
		}
		if i == 0 {
			m.Begin = at[0]
		}
	}
	return true
}

// searched returns the texts of an event that a search looks into.
func searched(e loop.Event) (texts []Match) {
	add := func(place Place, text string) { texts = append(texts, Match{Place: place, Text: text}) }
	if began, ok := e.(loop.Started); ok {
		add(InPrompt, began.Session.Prompt)
	}
	if whole, ok := e.(loop.IterationFinished); ok {
		v := whole.Round.Verdict
		add(InFeedback, v.Feedback)
		add(InFeedback, v.Recovery)
		add(InSummary, v.Summary)
		for _, f := range whole.Round.Change.Files {
			add(InFile, f.Path)
			add(InFile, f.OldPath)
		}
	}
	if end, ok := e.(loop.Finished); ok {
		add(InSummary, end.Outcome.Summary)
	}
	return texts
}
