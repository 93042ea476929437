package ui

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"

	"codeloops/internal/launch"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A deed is a command that the page runs for its user, and whose output it shows.
type deed struct {
	Name  string   // in the form
	Label string   // on the button
	Args  []string // without what the user says
	Look  []string // the command that shows first what it would do; nil: it is done at once
	Says  string   // what the user may say, as the last argument; "" is nothing
	Needs bool     // it must be said
}

// Line is the command as one would type it.
func (d deed) Line() string {
	words := []string{"codeloops"}
	for _, word := range d.Args {
		words = append(words, wording.Shell(word))
	}
	if d.Needs {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}

// doing is what can be done, and where it is asked for.
type doing struct {
	Post string
	All  []deed
}

// codeloops is the program in a directory, with the sessions of this page.
func (s *Server) codeloops(dir string) (launch.Program, error) {
	if _, err := os.Stat(dir); err != nil {
		return launch.Program{}, hint.Errorf("move the repository back, or use the command elsewhere", "%s is gone", dir)
	}
	store, err := s.Logs.Store()
	if err != nil {
		return launch.Program{}, err
	}
	return launch.Program{Path: s.Program, Dir: dir, Environ: append(slices.Clip(s.Logs.Host.Environ), "CODELOOPS_SESSION_DIR="+store.Dir())}, nil
}

// do runs one of the deeds that are possible now, and answers with what the command prints.
func (s *Server) do(w http.ResponseWriter, q *http.Request, dir string, possible []deed) {
	at := slices.IndexFunc(possible, func(d deed) bool { return d.Name == q.FormValue("deed") })
	if at < 0 {
		s.refuse(w, http.StatusConflict, "That is not possible any more: load the page again.")
		return
	}
	d, words := possible[at], strings.TrimSpace(q.FormValue("text"))
	if d.Needs && words == "" {
		s.refuse(w, http.StatusBadRequest, "There is nothing to say.")
		return
	}
	args, looks := d.Args, d.Look != nil && q.FormValue("sure") == ""
	if looks {
		args = d.Look
	}
	if d.Says != "" && words != "" {
		args = append(slices.Clip(args), words)
	}
	var out []byte
	program, err := s.codeloops(dir)
	if err == nil {
		out, err = program.Output(context.WithoutCancel(q.Context()), "", args...) // what has begun is done, whether or not the page stays
	}
	if err != nil {
		s.refuse(w, http.StatusBadGateway, s.told(err))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if looks {
		w.Header().Set("X-Codeloops-Looked", "1") // the page asks for the deed itself next
	}
	_, _ = w.Write([]byte(s.Logs.Host.Secrets.String(string(out)))) // the browser has gone
}

// told is an error with its hint, as one sentence.
func (s *Server) told(err error) string {
	sentence := err.Error()
	if what, ok := hint.Of(err); ok {
		sentence += " (" + what + ")"
	}
	return s.clean(sentence)
}
