package ui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

// A row is a session in the list.
type row struct {
	Href                       string
	ID, Title, Project, Agents string
	Word, Class, Why           string // what came of it
	Doing                      string // of a run
	Cost, Took, Files          string
	Iterations                 int
	At                         time.Time
}

func (h *home) row(o session.Overview) row {
	status := string(o.Status)
	r := row{
		ID: o.ID, Href: "/run/" + o.ID, Title: render.Cut(render.Task(o.Session), 200), Project: base(o.Session.WorkingDir), At: o.Started,
		Agents: agents(o.Session), Word: words.Outcome(status), Class: "warn", Iterations: max(o.Iterations, 0),
	}
	if o.Duration > 0 {
		r.Took = render.Span(o.Duration)
	}
	switch {
	case o.Err != nil:
		r.Title, r.Word, r.Class = cmp.Or(r.Title, o.ID), "unreadable", "bad"
		r.Why = o.Err.Error()
	case o.Status == session.Status(loop.Success):
		r.Class = "good"
	case o.Status == session.Status(loop.Failed), o.Status == session.Crashed:
		r.Class = "bad"
	}
	if o.Outcome != nil && o.Outcome.Result != loop.Success {
		r.Why = words.End(*o.Outcome)
	}
	if t := o.Tally; t != nil {
		if t.FilesChanged > 0 {
			r.Files = fmt.Sprintf("%s +%d -%d", render.Count(t.FilesChanged, "file", "files"), t.Insertions, t.Deletions)
		}
		if cost := sessionview.Cost(t); cost != "-" {
			r.Cost = cost
		}
	}
	for _, text := range []*string{&r.Title, &r.Project, &r.Agents, &r.Why} {
		*text = h.server.clean(*text)
	}
	return r
}

func (r *row) doing(run lookup.Run) {
	at := run.At.Now
	r.Word, r.Class, r.Took = "running", "live", "" // its log tells only when it last wrote something
	r.Iterations = at.Iteration
	for _, t := range at.Turns {
		r.Doing = term.Line(strings.TrimSpace(t.Agent + ": " + cmp.Or(t.What, t.Role)))
	}
	switch {
	case at.Question != "":
		r.Word, r.Class, r.Doing = "asks", "warn", term.Line(at.Question)
	case at.Paused:
		r.Word = "paused"
	}
	if c := run.At.Spent.CostUSD; c > 0 {
		r.Cost = fmt.Sprintf("$%.2f", c)
	}
}

// has reports whether all words of a query are in the row.
func (r row) has(query string) bool {
	text := strings.ToLower(strings.Join([]string{r.ID, r.Title, r.Project, r.Agents, r.Word, r.Why}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func base(dir string) string { return filepath.Base(filepath.Clean(dir)) }

func agents(s loop.Session) string {
	if a, c := render.Who(s.Actor), render.Who(s.Critic); a != c {
		return a + " → " + c
	}
	return render.Who(s.Actor)
}
