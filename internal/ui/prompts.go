package ui

import (
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/draft"
	"codeloops/internal/wording/hint"
)

// A promptPage is the form for a prompt, beside those that a repository has.
type promptPage struct {
	Dirs, Agents []string
	Dir, Query   string
	Name         string
	Kinds        []kindForm
	Parents      string
	Skills       []skillRow
	Rows         []draft.Row
	Problem      string
}

// A kindForm is the form of one kind, filled in if the prompt is of it.
type kindForm struct {
	draft.Kind

	Form   draft.Form
	Chosen bool
}

type skillRow struct {
	draft.Skill

	On bool
}

// place is the directory that a request names, one of a known session, with its prompts.
func (s *Server) place(w http.ResponseWriter, q *http.Request) (dir string, prompts draft.Store, ok bool) {
	dirs, err := s.dirs(q.Context())
	dir = q.FormValue("dir")
	switch {
	case err != nil:
		s.refuse(w, http.StatusInternalServerError, s.clean(err.Error()))
	case !slices.Contains(dirs, dir):
		s.refuse(w, http.StatusBadRequest, "Prompts are written where a session has been. Elsewhere: codeloops prompt new")
	default:
		here := *s.Logs.Host
		here.Dir = dir
		return dir, draft.In(&here, dir), true
	}
	return "", draft.Store{}, false
}

// prompt shows the form, with a prompt in it if the address names one.
func (s *Server) prompt(w http.ResponseWriter, q *http.Request) {
	dirs, err := s.dirs(q.Context())
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, s.clean(err.Error()))
		return
	}
	p := promptPage{Dirs: dirs, Query: q.FormValue("q"), Name: q.FormValue("name")}
	for _, a := range agent.Catalogue() {
		p.Agents = append(p.Agents, a.Name)
	}
	if len(dirs) == 0 {
		s.show(w, "prompt", p)
		return
	}
	if p.Dir = q.FormValue("dir"); !slices.Contains(dirs, p.Dir) {
		p.Dir = dirs[0]
	}
	store, d := draft.In(s.Logs.Host, p.Dir), draft.Draft{Kind: "feature"}
	if p.Name != "" {
		text, err := store.Text(p.Name)
		if err == nil && s.Logs.Host.Secrets.String(text) != text {
			err = errors.New("it holds the value of a secret variable, which the page does not show: codeloops prompt edit " + p.Name)
		}
		if err == nil {
			d, _, err = store.Read(p.Name)
		}
		if err != nil {
			p.Problem = s.clean(said(err))
		}
	}
	p.Parents, p.Rows = strings.Join(d.Parents, ", "), store.All(strings.Fields(p.Query)...)
	for _, k := range draft.Kinds() {
		f := kindForm{Kind: k, Chosen: k.Name == d.Kind}
		if f.Chosen {
			f.Form = k.Split(d.Body)
		}
		p.Kinds = append(p.Kinds, f)
	}
	for _, one := range store.Skills() {
		p.Skills = append(p.Skills, skillRow{one, slices.Contains(d.Skills, one.Name)})
	}
	s.show(w, "prompt", p)
}

// said is an error with what to do about it.
func said(err error) string {
	if what, ok := hint.Of(err); ok {
		return err.Error() + " (" + what + ")"
	}
	return err.Error()
}

// written is the prompt that a form holds, and all of its text.
func (s *Server) written(w http.ResponseWriter, q *http.Request, store draft.Store) (d draft.Draft, text string, ok bool) {
	k, err := draft.KindOf(q.FormValue("kind"))
	if err == nil {
		d.Parents, err = draft.Names(q.FormValue("parents"))
	}
	if err == nil {
		f := draft.Form{Lead: plain(q.FormValue("lead")), Parts: map[string]string{}}
		for _, section := range k.Sections {
			f.Parts[section.Title] = plain(q.FormValue("part " + section.Title))
		}
		d.Kind, d.Skills, d.Body = k.Name, q.Form["skill"], k.Join(f)
		text, err = store.Resolve(q.FormValue("name"), d)
	}
	if err != nil {
		s.refuse(w, http.StatusBadRequest, s.clean(said(err)))
		return d, "", false
	}
	return d, text, true
}

// plain undoes what a browser makes of line breaks.
func plain(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// preview answers with what the actor would read.
func (s *Server) preview(w http.ResponseWriter, q *http.Request) {
	dir, store, ok := s.place(w, q)
	if !ok {
		return
	}
	d, text, ok := s.written(w, q, store)
	if !ok {
		return
	}
	text, err := s.Reads(dir, text)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, s.clean(said(err)))
		return
	}
	s.show(w, "preview", struct {
		Text    string
		Tokens  int
		Missing []string
	}{s.Logs.Host.Secrets.String(text), draft.Tokens(text), d.Missing()})
}

// filled is written for a form that must not be empty.
func (s *Server) filled(w http.ResponseWriter, q *http.Request, store draft.Store) (d draft.Draft, text string, ok bool) {
	d, text, ok = s.written(w, q, store)
	if ok && strings.TrimSpace(d.Body) == "" {
		s.refuse(w, http.StatusBadRequest, "There is nothing in it yet.")
		ok = false
	}
	return d, text, ok
}

// keep writes a prompt into its file.
func (s *Server) keep(w http.ResponseWriter, q *http.Request) {
	_, store, ok := s.place(w, q)
	if !ok {
		return
	}
	d, _, ok := s.filled(w, q, store)
	if !ok {
		return
	}
	name := q.FormValue("name")
	if name == "" {
		name = d.Slug()
	}
	kept, err := store.Save(name, d, q.FormValue("replace") != "")
	switch {
	case errors.Is(err, draft.ErrExists):
		s.refuse(w, http.StatusConflict, "There is another prompt called "+name+". Replace it? A copy is kept.")
		return
	case err != nil:
		s.refuse(w, http.StatusBadRequest, s.clean(said(err)))
		return
	}
	sentence := "written: " + draft.Dir + "/" + name + ".md"
	if kept != "" {
		sentence += "; what was there before is kept in " + filepath.ToSlash(kept)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(sentence)) // the browser has gone
}

// removePrompt removes a prompt's file.
func (s *Server) removePrompt(w http.ResponseWriter, q *http.Request) {
	_, store, ok := s.place(w, q)
	if !ok {
		return
	}
	if _, err := store.Remove(q.FormValue("name")); err != nil {
		s.refuse(w, http.StatusBadRequest, s.clean(said(err)))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// startPrompt starts a run with what the form holds.
func (s *Server) startPrompt(w http.ResponseWriter, q *http.Request) {
	dir, store, ok := s.place(w, q)
	if !ok {
		return
	}
	_, text, ok := s.filled(w, q, store)
	if !ok {
		return
	}
	s.begin(w, q, dir, text)
}

// interview plays a turn of an interview.
func (s *Server) interview(w http.ResponseWriter, q *http.Request) {
	dir, _, ok := s.place(w, q)
	if !ok {
		return
	}
	var dialogue []draft.Said
	k, err := draft.KindOf(q.FormValue("kind"))
	if err == nil {
		err = json.Unmarshal([]byte(q.FormValue("said")), &dialogue)
	}
	if err != nil || len(dialogue) == 0 || !dialogue[len(dialogue)-1].User {
		s.refuse(w, http.StatusBadRequest, "Say what it is about.")
		return
	}
	a, err := s.Ask(q.Context(), dir, strings.TrimSpace(q.FormValue("agent")), k, dialogue)
	if err != nil {
		s.refuse(w, http.StatusBadGateway, s.clean(said(err)))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct { // the browser has gone
		draft.Answer

		Said string     `json:"said"`
		Form draft.Form `json:"form"`
	}{a, a.Text(), k.Split(a.Prompt)})
}
