package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording/hint"
)

// changes keeps the changes that were looked at last: a browser asks for their files one by one.
type changes struct {
	mu   sync.Mutex
	last []seen // the latest first
}

// A seen is a change as a log told it.
type seen struct {
	path      string
	iteration int
	stamp     file.Stamp
	loop.Change
}

const mostSeen = 4

// of returns what a session has changed: with its last iteration, or in one alone.
func (c *changes) of(ctx context.Context, o session.Overview, iteration int) (loop.Change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := file.At(o.Path)
	for _, s := range c.last {
		if s.path == o.Path && s.iteration == iteration && s.stamp == at {
			return s.Change, nil
		}
	}
	var before loop.Change
	var round loop.Round
	err := lookup.Read(ctx, o, func(error) {}, func(entries sessionview.Entries) (err error) {
		before, round, err = sessionview.RoundOf(o.ID, entries, iteration)
		return err
	})
	if missing, is := errors.AsType[*sessionview.MissingError](err); is && missing.Iteration == 0 && missing.Last == 0 {
		return loop.Change{}, nil // nothing yet
	}
	if err != nil {
		return loop.Change{}, err
	}
	change := round.Change
	if iteration > 0 {
		alone, known := round.Alone(before)
		if !known {
			return alone, hint.Errorf("look at all of it", "the log does not hold what iteration %d alone changed", iteration)
		}
		change = alone
	}
	c.last = append([]seen{{o.Path, iteration, at, change}}, c.last[:min(len(c.last), mostSeen-1)]...)
	return change, nil
}

// A listedFile is a file of a change, whose lines are loaded when it comes into sight.
type listedFile struct {
	Number             int
	Letter, Path, Stat string
	Lines              int
}

type changesPage struct {
	ID, Title  string
	Iteration  int
	Iterations []int
	Split      bool
	Stat       string
	Files      []listedFile
	Running    bool
	Comments   bool // can be said about its lines: to the actor, or for when it is carried on
}

// changeOf returns the change that an address names.
func (s *Server) changeOf(w http.ResponseWriter, q *http.Request) (o session.Overview, change loop.Change, iteration int, ok bool) {
	if _, o, ok = s.find(w, q); !ok {
		return o, change, 0, false
	}
	iteration, _ = strconv.Atoi(q.FormValue("iteration")) // 0: all of it
	change, err := s.changes.of(q.Context(), o, max(0, iteration))
	if err != nil {
		s.refuse(w, http.StatusNotFound, s.clean(err.Error()))
		return o, change, 0, false
	}
	return o, change, iteration, true
}

func (s *Server) changesPage(w http.ResponseWriter, q *http.Request) {
	o, change, iteration, ok := s.changeOf(w, q)
	if !ok {
		return
	}
	p := changesPage{
		ID: o.ID, Title: s.clean(render.Cut(render.Task(o.Session), 200)), Iteration: iteration, Split: q.FormValue("view") == "split",
		Stat: render.Stat(change.Shape()), Running: o.Status == session.Running,
		Comments: !s.ReadOnly && (o.Status == session.Running || resumes(o)),
	}
	for n := range max(0, o.Iterations) {
		p.Iterations = append(p.Iterations, n+1)
	}
	for i, f := range change.Files {
		stat := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
		if f.Binary {
			stat = "binary"
		}
		p.Files = append(p.Files, listedFile{i, render.Letter(f.Status), s.clean(render.Quoted(f.Path)), stat, f.Insertions + f.Deletions})
	}
	s.show(w, "changes", p)
}

// A shownFile is a file of a change with its lines.
type shownFile struct {
	Path  string
	Split bool
	Pairs []pair
	Note  string
}

// changedFile answers with the lines of one file.
func (s *Server) changedFile(w http.ResponseWriter, q *http.Request) {
	_, change, _, ok := s.changeOf(w, q)
	if !ok {
		return
	}
	n, err := strconv.Atoi(q.PathValue("n"))
	if err != nil || n < 0 || n >= len(change.Files) {
		s.refuse(w, http.StatusNotFound, "There is no such file in this change.")
		return
	}
	f := change.Files[n]
	shown := shownFile{Path: s.clean(render.Quoted(f.Path)), Split: q.FormValue("view") == "split", Pairs: pairs(s.Logs.Host.Secrets.String(f.Patch))}
	if len(shown.Pairs) == 0 {
		shown.Note = "There are no lines to show: it is empty or binary, or only its mode or its name has changed."
	}
	s.show(w, "lines", shown)
}

// comment tells the actor something about a line of the change, as `codeloops say` does. It answers with the words. Those about a
// session that has ended are for the page to keep, until it is carried on.
func (s *Server) comment(w http.ResponseWriter, q *http.Request) {
	said := strings.TrimSpace(q.FormValue("text"))
	path, line := s.clean(q.FormValue("path")), s.clean(q.FormValue("line"))
	number, err := strconv.Atoi(q.FormValue("number"))
	switch {
	case said == "":
		s.refuse(w, http.StatusBadRequest, "There is nothing to say.")
		return
	case path == "" || err != nil || number < 1:
		s.refuse(w, http.StatusBadRequest, "A comment stands on a line of a file.")
		return
	}
	words := fmt.Sprintf("%s:%d: %s", path, number, said)
	if line = strings.TrimSpace(line); line != "" {
		words = fmt.Sprintf("%s:%d, `%s`: %s", path, number, render.Cut(line, 120), said)
	}
	if q.FormValue("gone") != "" {
		words = "A line that was removed, " + words
	}
	run, runs := s.runOf(q.Context(), q.PathValue("id"))
	if !runs {
		_, o, ok := s.find(w, q)
		if !ok {
			return
		}
		if !resumes(o) {
			s.refuse(w, http.StatusConflict, notRunning)
			return
		}
		w.Header().Set("X-Codeloops-Later", "1")
	} else if err := run.Client.Steer(loop.SteerSay, words); err != nil {
		s.refuse(w, http.StatusBadGateway, s.clean(err.Error()))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(words)) // the browser has gone
}
