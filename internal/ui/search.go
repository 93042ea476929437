package ui

import (
	"slices"
	"strings"
	"sync"

	"codeloops/internal/file"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
)

// search looks for the words of one query in what the logs hold: feedback, summaries, names of changed files. It goes on while
// the list is shown, and shows what it has found meanwhile.
type search struct {
	mu    sync.Mutex
	query string
	known map[string]hit // by the path of the log
	goes  bool
}

type hit struct {
	stamp file.Stamp
	is    bool
}

// within returns the sessions whose logs are known to hold the words, by their ids, and how many have not been looked at. The
// newest are looked at first.
func (s *search) within(query string, all []session.Overview, running func(o session.Overview) bool) (found map[string]bool, left int) {
	found = map[string]bool{}
	if strings.TrimSpace(query) == "" {
		return found, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.query != query {
		s.query, s.known = query, map[string]hit{}
	}
	var due []session.Overview
	for _, o := range all {
		at, known := s.known[o.Path]
		if known && at.is {
			found[o.ID] = true
		}
		if !known || running(o) && at.stamp != file.At(o.Path) {
			due = append(due, o)
		}
	}
	if len(due) > 0 && !s.goes {
		s.goes = true
		go s.look(query, due)
	}
	return found, len(due)
}

// look reads logs until it has read all, or another query is asked.
func (s *search) look(query string, due []session.Overview) {
	words := strings.Fields(query)
	goes := true
	for _, o := range due {
		if !goes {
			break
		}
		found := hit{stamp: file.At(o.Path)}
		found.is = !slices.ContainsFunc(words, func(word string) bool { return !lookup.Mentions(o, word) })
		s.mu.Lock()
		if goes = s.query == query; goes {
			s.known[o.Path] = found
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.goes = false
}
