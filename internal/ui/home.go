package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
)

// home is the list of sessions, in the order of what needs its user. All pages share one look at the logs.
type home struct {
	server *Server

	mu    sync.Mutex
	at    time.Time // of the last look
	known map[string]overview
	older int // how many are not read yet: the newest come first
	all   []session.Overview
	runs  map[string]lookup.Run

	search search
}

// atOnce is how many logs are read before the first list is shown.
const atOnce = 200

// An overview is what a log told when it was last read.
type overview struct {
	session.Overview

	stamp file.Stamp
}

// look reads what has changed since the last look, if that was a while ago.
func (h *home) look(ctx context.Context) (all []session.Overview, runs map[string]lookup.Run, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server.Now().Sub(h.at) < pause && h.all != nil {
		return h.all, h.runs, nil
	}
	store, err := h.server.Logs.Store()
	if err != nil {
		return nil, nil, err
	}
	stamps, err := stampsOf(store.Dir())
	if err != nil {
		return nil, nil, err
	}
	if h.known == nil {
		h.known = map[string]overview{}
		if h.older = len(stamps) - atOnce; h.older > 0 {
			go h.survey(store)
		}
	}
	now := map[string]overview{}
	h.all = []session.Overview{}
	paths := slices.Sorted(maps.Keys(stamps)) // a name begins with its time
	for _, path := range paths[max(0, h.older):] {
		stamp := stamps[path]
		o, known := h.known[path]
		if !known || o.stamp != stamp || o.Status == session.Running {
			o = overview{session.Look(path), stamp}
		}
		now[path] = o
		h.all = append(h.all, o.Overview)
	}
	slices.SortFunc(h.all, func(a, b session.Overview) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) })
	h.known, h.runs, h.at = now, map[string]lookup.Run{}, h.server.Now()
	for _, r := range h.server.Logs.Runs(ctx, pause) {
		h.runs[r.At.Session] = r
	}
	return h.all, h.runs, nil
}

// survey reads the older logs, many at the same time, while the newest are shown.
func (h *home) survey(store *session.Store) {
	stamps, err := stampsOf(store.Dir()) // what changes from now on is read again
	var all []session.Overview
	if err == nil {
		all, err = store.Survey()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at, h.older = (time.Time{}), 0; err != nil {
		h.known = nil // the next look says why
		return
	}
	for _, o := range all {
		if _, known := h.known[o.Path]; !known {
			h.known[o.Path] = overview{o, stamps[o.Path]}
		}
	}
}

// stampsOf returns the stamps of the logs in a directory.
func stampsOf(dir string) (map[string]file.Stamp, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	stamps := map[string]file.Stamp{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".jsonl" && !e.IsDir() {
			path := filepath.Join(dir, e.Name())
			stamps[path] = file.At(path)
		}
	}
	return stamps, nil
}

// A group is a part of the list.
type group struct {
	Name, Empty string
	Rows        []row
	More        int // left out

	Query string
	Show  int // how many rows more would show
}

type listed struct {
	Groups []group
	Query  string
	None   bool // there is neither a session nor a task

	ReadOnly  bool
	Older     int // are not read yet
	Searching int // logs that the words have not been looked for in
}

// Rows that are shown at first, and with each click on "more".
const mostRows = 100

func (s *Server) front(w http.ResponseWriter, q *http.Request) {
	if !s.known(q) {
		s.show(w, "door", nil)
		return
	}
	all, err := s.home.asked(q)
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	s.show(w, "home", all)
}

func (h *home) list(w http.ResponseWriter, q *http.Request) {
	all, err := h.asked(q)
	if err != nil {
		h.server.refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	h.server.show(w, "list", all)
}

// pause is how often the list is looked at while a browser shows it.
const pause = time.Second

// events sends what has changed of the list.
func (h *home) events(w http.ResponseWriter, q *http.Request) {
	out := h.server.stream(w)
	var last drawn
	for {
		all, err := h.asked(q)
		var is drawn
		if err == nil {
			is, err = h.draw(all)
		}
		if err == nil {
			err = is.send(out, last)
		}
		if err != nil {
			return
		}
		last = is
		select {
		case <-q.Context().Done():
			return
		case <-time.After(pause):
		}
	}
}

// A drawn list is what a browser shows: groups, with something before and after them.
type drawn struct {
	names, before, after string
	groups               []string
}

func (h *home) draw(all listed) (d drawn, err error) {
	draw := func(name string, data any) string {
		var b strings.Builder
		err = errors.Join(err, h.server.pages.ExecuteTemplate(&b, name, data))
		return b.String()
	}
	d.before, d.after = draw("before", all), draw("after-groups", all)
	for _, g := range all.Groups {
		d.names += g.Name + "\n"
		d.groups = append(d.groups, draw("group", g))
	}
	return d, err
}

// send sends the groups that differ from what was shown last: a browser takes seconds for ten thousand rows.
func (d drawn) send(out stream, last drawn) error {
	if d.names != last.names || d.before != last.before || d.after != last.after {
		return out.send("list", "", d.before+strings.Join(d.groups, "")+d.after)
	}
	for i, g := range d.groups {
		if g != last.groups[i] {
			if err := out.send("group", "", g); err != nil {
				return err
			}
		}
	}
	return out.ping()
}

// asked is the list as an address asks for it.
func (h *home) asked(q *http.Request) (l listed, err error) {
	all, runs, err := h.look(q.Context())
	if err != nil {
		return l, err
	}
	l = listed{Query: q.FormValue("q"), ReadOnly: h.server.ReadOnly, Older: h.unread()}
	var found []item
	tasks, of := h.server.tasks.known(q.Context()), map[string]bool{}
	l.None = len(all)+len(tasks) == 0
	for _, r := range tasks {
		of[r.Progress.Session] = true // the task stands for it
		one, in := h.task(r, tasks)
		found = append(found, item{one, in})
	}
	newest := map[string]bool{} // by directory: only the last word about it needs somebody
	for _, o := range all {
		latest := !newest[o.Session.WorkingDir]
		newest[o.Session.WorkingDir] = true
		if one, in := h.session(o, runs, latest); in == needsYou || !of[o.ID] {
			found = append(found, item{one, in})
		}
	}
	slices.SortStableFunc(found, func(a, b item) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	most := rows(q)
	groups := []group{
		needsYou: {Name: "Needs you"}, isRunning: {Name: "Running"}, isWaiting: {Name: "Waiting"}, isDone: {Name: "Done"},
	}
	if l.Query == "" {
		groups[isRunning].Empty = "Nothing runs. In a repository: codeloops 'what should be true at the end'"
	}
	within, left := h.search.within(l.Query, all, func(o session.Overview) bool { return o.Status == session.Running })
	l.Searching = left
	for _, one := range found {
		if one.has(l.Query) || within[one.ID] {
			groups[one.in].add(one.row, most)
		}
	}
	for i := range groups {
		groups[i].Query, groups[i].Show = l.Query, most+mostRows
	}
	if l.None {
		return l, nil
	}
	l.Groups = slices.DeleteFunc(groups, func(g group) bool { return len(g.Rows) == 0 && g.Empty == "" })
	return l, nil
}

// A part is one of the list, in the order of what needs its user.
type part uint8

const (
	needsYou part = iota
	isRunning
	isWaiting
	isDone
)

type item struct {
	row

	in part
}

// session is a session in the list. Latest is the last one of its directory.
func (h *home) session(o session.Overview, runs map[string]lookup.Run, latest bool) (r row, in part) {
	r = h.row(o)
	run, runsNow := runs[o.ID]
	switch {
	case runsNow && run.At.Now.Question != "":
		r.doing(run)
		return r, needsYou
	case runsNow || o.Status == session.Running:
		r.doing(run)
		return r, isRunning
	case latest && o.Status != session.Status(loop.Success) && o.Err == nil:
		return r, needsYou
	}
	return r, isDone
}

// unread is how many logs are still being read.
func (h *home) unread() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(0, h.older)
}

// rows is how many rows of a group an address wants.
func rows(q *http.Request) int {
	n, err := strconv.Atoi(q.FormValue("show"))
	if err != nil || n < 1 || n > 10_000 {
		return mostRows
	}
	return n
}

func (g *group) add(r row, most int) {
	if len(g.Rows) >= most {
		g.More++
		return
	}
	g.Rows = append(g.Rows, r)
}

// clean is a text of somebody else's on one line, without secrets.
func (s *Server) clean(text string) string { return term.Line(s.Logs.Host.Secrets.String(text)) }
