package ui

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/launch"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/strategy"
)

// A formPage is the form for a new run.
type formPage struct {
	Dirs       []string
	Dir        string // the one that is chosen; "" is the first
	Agents     []string
	Strategies []string
}

// dirs are the directories of the projects: runs are started nowhere else.
func (s *Server) dirs(ctx context.Context) (all []string, err error) {
	known, err := s.projects(ctx)
	for _, p := range known {
		all = append(all, p.Dir)
	}
	return all, err
}

func (s *Server) form(w http.ResponseWriter, q *http.Request) {
	dirs, err := s.dirs(q.Context())
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, s.clean(err.Error()))
		return
	}
	p := formPage{Dirs: dirs, Dir: q.FormValue("dir")}
	for _, a := range agent.Catalogue() {
		p.Agents = append(p.Agents, a.Name)
	}
	for _, k := range strategy.All() {
		p.Strategies = append(p.Strategies, k.Name)
	}
	s.show(w, "new", p)
}

// start starts a run, as `codeloops run` does. It answers with the address of its page.
func (s *Server) start(w http.ResponseWriter, q *http.Request) {
	prompt, dir := strings.TrimSpace(q.FormValue("prompt")), q.FormValue("dir")
	dirs, err := s.dirs(q.Context())
	switch {
	case err != nil:
		s.refuse(w, http.StatusInternalServerError, s.clean(err.Error()))
		return
	case !slices.Contains(dirs, dir):
		s.refuse(w, http.StatusBadRequest, "A run is started in one of your projects; codeloops project add adds another.")
		return
	case prompt == "":
		s.refuse(w, http.StatusBadRequest, "Say what should be true at the end.")
		return
	}
	s.begin(w, q, dir, prompt)
}

// begin starts a run with a prompt and with what the form says of it.
func (s *Server) begin(w http.ResponseWriter, q *http.Request, dir, prompt string) {
	args, ok := s.flags(w, q)
	if !ok {
		return
	}
	risky, ok := s.confirmed(w, q, dir)
	if !ok {
		return
	}
	args = append(args, risky...)
	s.launch(w, q, dir, prompt, append([]string{"run", "--prompt-file=-", "--working-dir=" + dir, "--wait-for-answers"}, args...)...)
}

// resume carries a session on, as `codeloops resume` does, perhaps with more of a limit or with something to say.
func (s *Server) resume(w http.ResponseWriter, q *http.Request) {
	_, o, ok := s.find(w, q)
	if !ok {
		return
	}
	if o.Status == session.Running {
		s.refuse(w, http.StatusConflict, "It runs.")
		return
	}
	args, ok := s.flags(w, q)
	if !ok {
		return
	}
	args = append([]string{"resume", "--wait-for-answers"}, args...)
	args = append(args, "--", o.ID)
	if words := strings.TrimSpace(q.FormValue("text")); words != "" {
		args = append(args, words)
	}
	s.launch(w, q, o.Session.WorkingDir, "", args...)
}

// flags are what a form says of a run. Nothing in it runs a command, or loosens what keeps the work honest; see confirmed.
func (s *Server) flags(w http.ResponseWriter, q *http.Request) (args []string, ok bool) {
	for _, f := range []struct{ field, flag string }{
		{"actor", "actor-agent"}, {"critic", "critic-agent"}, {"strategy", "strategy"}, {"iterations", "max-iterations"}, {"cost", "max-cost"},
	} {
		value := strings.TrimSpace(q.FormValue(f.field))
		_, number := strconv.ParseFloat(value, 64)
		if value != "" && number != nil && (f.field == "iterations" || f.field == "cost") {
			s.refuse(w, http.StatusBadRequest, fmt.Sprintf("%q is no number.", value))
			return nil, false
		}
		if value != "" {
			args = append(args, "--"+f.flag+"="+value)
		}
	}
	if q.FormValue("approve") != "" {
		args = append(args, "--approve-plan")
	}
	return args, true
}

// confirmed are the flags of what a form says that runs commands, or lets a project's files do so: the user has to type the
// name of the project for them.
func (s *Server) confirmed(w http.ResponseWriter, q *http.Request, dir string) (risky []string, ok bool) {
	for check := range strings.Lines(q.FormValue("checks")) {
		if check = strings.TrimSpace(check); check != "" {
			risky = append(risky, "--check="+check)
		}
	}
	if q.FormValue("trust") != "" {
		risky = append(risky, "--trust-project")
	}
	if name := base(dir); len(risky) > 0 && strings.TrimSpace(q.FormValue("confirm")) != name {
		s.refuse(w, http.StatusBadRequest, "This runs commands on your machine: type the name of the project, "+s.clean(name)+", to confirm it.")
		return nil, false
	}
	return risky, true
}

// launch starts a run, and answers with the address of its page.
func (s *Server) launch(w http.ResponseWriter, q *http.Request, dir, text string, args ...string) {
	store, err := s.Logs.Store()
	logs, here := *s.Logs, *s.Logs.Host
	here.Dir = dir
	logs.Host = &here
	id := ""
	if err == nil {
		id, err = launch.Launcher{Program: s.Program, Logs: &logs, Env: []string{"CODELOOPS_SESSION_DIR=" + store.Dir()}}.Run(q.Context(), text, args...)
	}
	if err != nil {
		s.refuse(w, http.StatusBadGateway, s.told(err))
		return
	}
	w.Header().Set("Location", "/run/"+id)
	w.WriteHeader(http.StatusCreated)
}

// more is what a session that has ended may get more of.
func more(o session.Overview) string {
	if o.Outcome == nil {
		return ""
	}
	return map[loop.StopReason]string{loop.StopMaxIterations: "iterations", loop.StopMaxCost: "cost"}[o.Outcome.Reason]
}
