package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/launch"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
	"codeloops/internal/session/export"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/standing"
)

// find returns the session that a path names, by its whole id: no other file can be named.
func (s *Server) find(w http.ResponseWriter, q *http.Request) (store *session.Store, o session.Overview, ok bool) {
	id := q.PathValue("id")
	store, err := s.Logs.Store()
	if err == nil {
		var found string
		if found, err = store.Find(id); err == nil && found != id {
			err = session.ErrNotFound
		}
	}
	switch {
	case errors.Is(err, session.ErrNotFound):
		s.refuse(w, http.StatusNotFound, "There is no such session: its log may have been removed.")
		return nil, o, false
	case err != nil:
		s.refuse(w, http.StatusBadRequest, s.clean(err.Error()))
		return nil, o, false
	}
	return store, session.Look(store.Path(id)), true
}

// A command is one that the user may want to type.
type command struct{ For, Line string }

type runPage struct {
	ID, Title string
	Running   bool
	ReadOnly  bool
	Commands  []command

	After after
}

// An after is what can be done with a session that has ended.
type after struct {
	ID, More string // what it has used up
	Resumes  bool   // it can be carried on
	Deeds    doing
}

func (s *Server) after(o session.Overview) after {
	if s.ReadOnly {
		return after{}
	}
	return after{ID: o.ID, More: more(o), Resumes: resumes(o), Deeds: doing{"/run/" + o.ID + "/do", deedsAfter(o)}}
}

// resumes reports whether a session can be carried on.
func resumes(o session.Overview) bool {
	return o.Status != session.Running && !o.Session.Judged && (o.Outcome == nil || !o.Outcome.Final())
}

// doRun does something with a session that has ended.
func (s *Server) doRun(w http.ResponseWriter, q *http.Request) {
	if _, o, ok := s.find(w, q); ok {
		s.do(w, q, o.Session.WorkingDir, deedsAfter(o))
	}
}

func (s *Server) run(w http.ResponseWriter, q *http.Request) {
	_, o, ok := s.find(w, q)
	if !ok {
		return
	}
	p := runPage{ID: o.ID, Title: s.clean(render.Cut(render.Task(o.Session), 200)), Running: o.Status == session.Running, ReadOnly: s.ReadOnly}
	if p.Running {
		p.Commands = []command{{"watch it in a terminal", "codeloops watch " + o.ID}}
	} else {
		p.Commands, p.After = s.next(o), s.after(o)
	}
	s.show(w, "run", p)
}

// next are the commands that make sense after a session. Those that have buttons are named there.
func (s *Server) next(o session.Overview) []command {
	all := []command{{"look at what changed", "codeloops diff " + o.ID}}
	for _, d := range deedsAfter(o) {
		if s.ReadOnly {
			all = append(all, command{strings.ToLower(d.Label), d.Line()})
		}
	}
	if o.Outcome == nil || !o.Outcome.Final() {
		all = append(all, command{"carry on", "codeloops resume " + o.ID})
	}
	return append(all, command{"keep a copy", "codeloops sessions export " + o.ID + " --format html"})
}

// A stream is a response of server-sent events, by the HTML standard. A browser that does not read is dropped.
type stream struct {
	w   http.ResponseWriter
	c   *http.ResponseController
	now func() time.Time
}

// unread is how long a browser may leave an event unread.
const unread = 10 * time.Second

func (s *Server) stream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	return stream{w, http.NewResponseController(w), s.Now}
}

func (s stream) send(event, id, data string) error {
	var b bytes.Buffer
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	fmt.Fprintf(&b, "event: %s\n", event)
	for line := range strings.SplitSeq(strings.ReplaceAll(data, "\r", ""), "\n") {
		b.WriteString("data: " + line + "\n")
	}
	b.WriteString("\n")
	return s.write(b.Bytes())
}

// ping keeps the connection, and finds out that it is gone.
func (s stream) ping() error { return s.write([]byte(":\n\n")) }

func (s stream) write(b []byte) error {
	_ = s.c.SetWriteDeadline(s.now().Add(unread)) // some connections have none
	_, err := s.w.Write(b)
	if err == nil {
		err = s.c.Flush()
	}
	return err
}

// A now is what is under way.
type now struct {
	standing.Standing

	Turns   []standing.Turn
	Stat    string // of what has changed
	Used    string // tokens and money
	Answers bool   // the page can answer
}

// runEvents sends the parts of a session as they become whole, and what is under way. A browser that comes back gets what it
// has missed.
func (s *Server) runEvents(w http.ResponseWriter, q *http.Request) {
	store, o, ok := s.find(w, q)
	if !ok {
		return
	}
	after, _ := strconv.Atoi(q.Header.Get("Last-Event-ID")) // 0: it has nothing
	f := &follower{
		server: s, out: s.stream(w), after: after, live: export.NewLive(export.Options{Session: o, Zone: time.Local}),
		board: &standing.Board{State: &progress.State{}}, running: o.Status == session.Running,
	}
	if err := f.follow(q.Context(), store, o.ID); err != nil && q.Context().Err() == nil {
		_ = f.out.send("problem", "", s.clean(err.Error())) // it may be gone
	}
}

type follower struct {
	server  *Server
	out     stream
	after   int // what the browser has
	live    *export.Live
	board   *standing.Board
	running bool
	told    time.Time // when the last "now" was sent
}

func (f *follower) follow(ctx context.Context, store *session.Store, id string) error {
	secrets := f.server.Logs.Host.Secrets
	for entry, err := range f.server.Logs.Follow(ctx, store, id) {
		if line, is := errors.AsType[*session.LineError](err); is {
			if err := f.out.send("problem", "", f.server.clean(line.Error())); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		parts, err := f.live.Take(entry)
		if err != nil {
			return err
		}
		_ = f.board.Handle(entry.At, entry.Event) // it never fails
		if parts != "" && entry.At.Seq > f.after {
			if err := f.out.send("part", strconv.Itoa(entry.At.Seq), secrets.String(parts)); err != nil {
				return err
			}
		}
		if err := f.tell(entry.Event); err != nil {
			return err
		}
	}
	end, err := f.live.End()
	var b bytes.Buffer
	ended := session.Look(store.Path(id))
	if err == nil {
		err = f.server.pages.ExecuteTemplate(&b, "after", f.server.after(ended))
	}
	if err == nil {
		err = f.server.pages.ExecuteTemplate(&b, "commands", f.server.next(ended))
	}
	if err == nil {
		err = f.out.send("commands", "", b.String())
	}
	if err == nil {
		err = f.out.send("end", "", secrets.String(end))
	}
	return err
}

// between is the least time between two events that say what agents do.
const between = 250 * time.Millisecond

// tell sends what is under way, unless it is told often enough.
func (f *follower) tell(e loop.Event) error {
	_, small := e.(loop.Activity)
	if !f.running || small && f.server.Now().Sub(f.told) < between {
		return nil
	}
	f.told = f.server.Now()
	open, err := f.live.Open()
	if err != nil {
		return err
	}
	at := f.board.Standing()
	var b bytes.Buffer
	if err := f.server.pages.ExecuteTemplate(&b, "now", now{Standing: at, Turns: at.Now.Turns, Stat: render.Stat(loop.Shape{Files: at.Change.Files, Insertions: at.Change.Insertions, Deletions: at.Change.Deletions}), Used: strings.Join(render.Used(at.Spent.Tokens, 0, at.Spent.CostUSD, 0), " · "), Answers: !f.server.ReadOnly}); err != nil {
		return err
	}
	return f.out.send("now", "", f.server.Logs.Host.Secrets.String(open+b.String()))
}

// runOf returns a session that runs.
func (s *Server) runOf(ctx context.Context, id string) (lookup.Run, bool) {
	for _, r := range s.Logs.Runs(ctx, 0) {
		if r.At.Session == id && r.Client != nil {
			return r, true
		}
	}
	return lookup.Run{}, false
}

const notRunning = "It does not run any more."

// diff is what has changed so far, as text.
func (s *Server) diff(w http.ResponseWriter, q *http.Request) {
	run, ok := s.runOf(q.Context(), q.PathValue("id"))
	if !ok {
		s.refuse(w, http.StatusConflict, notRunning)
		return
	}
	patch, err := run.Client.Diff(q.Context())
	if err != nil {
		s.refuse(w, http.StatusBadGateway, s.clean(err.Error()))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(s.Logs.Host.Secrets.String(patch))) // the browser has gone
}

// stopNow ends a run as Ctrl+C in its terminal does.
const stopNow = "now"

// steer asks something of a run, as `codeloops stop`, `pause` and `say` do.
func (s *Server) steer(w http.ResponseWriter, q *http.Request) {
	kinds := map[string]loop.SteerKind{
		"stop": loop.SteerStop, "go-on": loop.SteerGoOn, "pause": loop.SteerPause, "say": loop.SteerSay, "interrupt": loop.SteerInterrupt,
	}
	kind, known := kinds[q.FormValue("kind")]
	text := strings.TrimSpace(q.FormValue("text"))
	ask := func(run lookup.Run) error { return run.Client.Steer(kind, text) }
	if q.FormValue("kind") == stopNow {
		known, ask = true, func(run lookup.Run) error { return launch.Interrupt(run.Holder.Lock.PID) }
	}
	switch {
	case !known:
		s.refuse(w, http.StatusBadRequest, "A run can be asked to stop, to pause, to go on, and told something.")
		return
	case (kind == loop.SteerSay || kind == loop.SteerInterrupt) && text == "":
		s.refuse(w, http.StatusBadRequest, "There is nothing to say.")
		return
	}
	run, ok := s.runOf(q.Context(), q.PathValue("id"))
	if !ok {
		s.refuse(w, http.StatusConflict, notRunning)
		return
	}
	if err := ask(run); err != nil {
		s.refuse(w, http.StatusBadGateway, s.clean(err.Error()))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
