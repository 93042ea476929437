package ui

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/queue"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
)

// tasks are the tasks of the queue, as they were read last. A command reads them: the queue belongs to one process at a time.
type tasks struct {
	server *Server

	mu      sync.Mutex
	at      time.Time // when it was looked at last
	read    time.Time // when the last reading began
	trace   string    // of the store at that time
	reading bool
	all     []*queue.Record
}

const (
	seldom = 2 * time.Second  // how often the queue is looked at while somebody looks
	anyway = 30 * time.Second // how often it is read although its store has not changed: its tasks may be on another machine as well
)

// due reports whether the tasks are to be read again: a process is started for that, so not while their store stays as it is.
func (t *tasks) due() bool {
	now := t.server.Now()
	if t.reading || now.Sub(t.at) < seldom {
		return false
	}
	t.at = now
	is := traceOf(filepath.Join(t.server.Logs.Host.Data("queue"), "store"))
	if is != "" && is == t.trace && now.Sub(t.read) < anyway {
		return false
	}
	t.trace, t.read = is, now
	return true
}

// traceOf is what tells whether files in a directory have changed, "" if there are none.
func traceOf(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // what cannot be read has no trace
		if err == nil && !e.IsDir() {
			fmt.Fprintln(&b, path, file.At(path))
		}
		return nil
	})
	return b.String()
}

// known returns the tasks as last read, and has them read again if they may have changed. Nobody waits for that.
func (t *tasks) known(ctx context.Context) []*queue.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.due() {
		t.reading = true
		go func() {
			const patience = 10 * time.Second
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // others look, too
			defer cancel()
			all, err := t.server.readTasks(ctx)
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.reading = false; err == nil {
				t.all = all
			} else { // they stay, and are read again; the command line says why
				t.trace = ""
			}
		}()
	}
	return t.all
}

// readTasks reads the tasks of all repositories. Where there was never a queue, there are none.
func (s *Server) readTasks(ctx context.Context) ([]*queue.Record, error) {
	home := s.Logs.Host.Data("queue")
	if _, err := os.Stat(home); err != nil {
		return nil, nil //nolint:nilerr // there is no queue
	}
	program, err := s.codeloops(home)
	var read struct {
		Tasks []*queue.Record `json:"tasks"`
	}
	if err == nil {
		err = program.Document(ctx, "", &read, "queue", "list", "--all", "--json")
	}
	return read.Tasks, err
}

// standingOf returns the part of the list that a task belongs to, with the word for where it stands and its class.
func standingOf(r *queue.Record) (in part, word, class string) {
	switch {
	case r.AwaitsWord():
		return needsYou, "to be accepted", "warn"
	case r.Merge.Take != "":
		return needsYou, "to be taken", "warn"
	case r.State == queue.NeedsHuman:
		return needsYou, "needs you", "warn"
	case r.State == queue.Failed, r.State == queue.Dead:
		return needsYou, string(r.State), "bad"
	case r.State == queue.Running:
		return isRunning, "running", "live"
	case r.State == queue.Waiting:
		return isWaiting, "waiting", ""
	case r.AwaitsMerge():
		return isRunning, "merging", "live"
	case r.Done():
		return isDone, string(r.State), "good"
	}
	return isDone, string(r.State), "warn"
}

// task is a task in the list.
func (h *home) task(r *queue.Record, all []*queue.Record) (row, part) {
	in, word, class := standingOf(r)
	one := row{
		ID: r.Task.ID, Href: "/task/" + r.Task.ID, Title: render.Cut(r.Task.Title(), 200), Project: base(r.Task.Repository.Root), Agents: strings.Join(r.Agents(), " → "),
		Word: word, Class: class, Why: r.Why, Iterations: r.Progress.Iteration, At: r.Since,
	}
	if waits := waitsFor(r, all); waits != "" {
		one.Why = waits
	}
	if in == isRunning && r.Progress.Phase != "" {
		one.Doing = phase(r.Progress.Phase)
	}
	if r.Progress.Dollars > 0 {
		one.Cost = fmt.Sprintf("$%.2f", r.Progress.Dollars)
	}
	for _, text := range []*string{&one.Title, &one.Project, &one.Agents, &one.Why} {
		*text = h.server.clean(*text)
	}
	return one, in
}

// waitsFor names the tasks that a task waits for.
func waitsFor(r *queue.Record, all []*queue.Record) string {
	if r.State != queue.Waiting {
		return ""
	}
	var names []string
	for _, other := range all {
		if slices.Contains(r.Task.After, other.Task.ID) && other.State != queue.Merged {
			names = append(names, other.Task.ID)
		}
	}
	if names == nil {
		return ""
	}
	return "after " + strings.Join(names, ", ")
}

// A taskPage is a task with all that is known of it.
type taskPage struct {
	ID, Title, Word, Class, Why, Waits string
	Prompt, Repository, Target         string
	Warnings, Words                    []string
	Course                             []moment
	Deeds                              doing
}

type moment struct {
	At                 time.Time
	State, Why, Worker string
	Session            string
	Known              bool // the session's log is here
}

// deedsOf are what can be done with a task now.
func deedsOf(r *queue.Record) (all []deed) {
	id := r.Task.ID
	if r.Head != "" {
		all = append(all, deed{Name: "diff", Label: "Show its diff", Args: []string{"queue", "diff", "--no-pager", id}})
	}
	if r.AwaitsWord() {
		all = append(all, deed{Name: "accept", Label: "Accept: merge it", Args: []string{"queue", "accept", id}},
			deed{Name: "reject", Label: "Send it back", Args: []string{"queue", "reject", id}, Says: "Why, for the next turn", Needs: true})
	}
	if r.Merge.Take != "" {
		all = append(all, deed{Name: "take", Label: "Take it into " + r.Task.Target, Args: []string{"queue", "take", r.Task.Target}})
	}
	if r.State.Over() && r.State != queue.Merged && !r.AwaitsWord() {
		all = append(all, deed{Name: "retry", Label: "Try again", Args: []string{"queue", "retry", id}, Says: "A word for it"})
	}
	switch {
	case r.State.Over() && r.State != queue.Merged:
		all = append(all, deed{Name: "discard", Label: "Discard it with its work", Args: []string{"queue", "rm", "--force", id}, Look: []string{"queue", "show", id}})
	case r.State.Over():
		all = append(all, deed{Name: "forget", Label: "Remove it from the queue", Args: []string{"queue", "rm", id}})
	case !r.Done():
		all = append(all, deed{Name: "cancel", Label: "Cancel", Args: []string{"queue", "cancel", id}})
	}
	return all
}

// findTask returns the task that a path names, by its whole id, with all others.
func (s *Server) findTask(w http.ResponseWriter, q *http.Request) (*queue.Record, []*queue.Record) {
	all, err := s.readTasks(q.Context())
	if err != nil {
		s.refuse(w, http.StatusBadGateway, s.told(err))
		return nil, nil
	}
	at := slices.IndexFunc(all, func(r *queue.Record) bool { return r.Task.ID == q.PathValue("id") })
	if at < 0 {
		s.refuse(w, http.StatusNotFound, "There is no such task: it may have been removed.")
		return nil, nil
	}
	return all[at], all
}

func (s *Server) task(w http.ResponseWriter, q *http.Request) {
	r, all := s.findTask(w, q)
	if r == nil {
		return
	}
	_, word, class := standingOf(r)
	secrets := s.Logs.Host.Secrets
	p := taskPage{
		ID: r.Task.ID, Title: s.clean(render.Cut(r.Task.Title(), 200)), Word: word, Class: class, Why: s.clean(r.Why), Waits: waitsFor(r, all),
		Prompt: secrets.String(r.Task.Prompt), Repository: s.clean(r.Task.Repository.Root), Target: s.clean(r.Task.Target),
	}
	for _, text := range r.Warnings {
		p.Warnings = append(p.Warnings, s.clean(text))
	}
	for _, text := range r.Words {
		p.Words = append(p.Words, s.clean(text))
	}
	store, err := s.Logs.Store()
	for _, m := range r.Course {
		one := moment{At: m.At, State: string(m.State), Why: s.clean(m.Why), Session: m.Session, Worker: s.clean(m.Worker)}
		if m.Session != "" && err == nil {
			_, statErr := os.Stat(store.Path(m.Session))
			one.Known = statErr == nil
		}
		p.Course = append(p.Course, one)
	}
	if !s.ReadOnly {
		p.Deeds = doing{"/task/" + r.Task.ID + "/do", deedsOf(r)}
	}
	s.show(w, "task", p)
}

// doTask does something with a task.
func (s *Server) doTask(w http.ResponseWriter, q *http.Request) {
	if r, _ := s.findTask(w, q); r != nil {
		s.do(w, q, r.Task.Repository.Root, deedsOf(r))
	}
}

// deedsAfter are what can be done with a session that has ended, besides carrying it on.
func deedsAfter(o session.Overview) []deed {
	if o.Status == session.Running || o.Err != nil || o.Session.Judged {
		return nil
	}
	return []deed{
		{Name: "accept", Label: "Commit what it changed", Args: []string{"accept", "--yes", o.ID}},
		{Name: "undo", Label: "Take it back", Args: []string{"undo", "--yes", o.ID}, Look: []string{"undo", "--dry-run", o.ID}},
		{
			Name: "restore", Label: "Put the files back", Says: "to what they were after iteration (0: the start)", Needs: true,
			Args: []string{"sessions", "restore", "--yes", o.ID, "--iteration"}, Look: []string{"sessions", "restore", "--dry-run", o.ID, "--iteration"},
		},
	}
}
