// Package ui is the page: the sessions of this machine in a browser, as they go.
//
// It shows what the logs and the running sessions tell, wherever they were started. What it does is what a command of the
// user's would do to a run. Everything that an agent wrote is text in it.
//
// Who can reach the port is not who may see: every route but the one that takes the token wants a cookie that only the
// token buys, under the exact name of this host.
package ui

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeloops/internal/draft"
	"codeloops/internal/fence"
	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/screen/words"
	"codeloops/internal/session/export"
	"codeloops/internal/session/lookup"
)

//go:embed assets
var assets embed.FS

// A Server is the page on one port. Its Handler is safe for concurrent use.
type Server struct {
	Logs     *lookup.Logs
	Now      func() time.Time
	ReadOnly bool
	Secure   bool   // it is served over TLS
	Program  string // of codeloops, which plays the runs that are started here

	// Ask has an agent play a turn of an interview in a directory.
	Ask func(ctx context.Context, dir, agent string, k draft.Kind, said []draft.Said) (draft.Answer, error)
	// Reads returns what the actor reads first of a task in a directory.
	Reads func(dir, task string) (string, error)

	names  []string // under which it answers
	token  string   // in the address that the user opens
	secret string   // in the cookie
	pages  *template.Template
	guard  guard
	home   home
	tasks  tasks

	changes  changes
	findings findings
}

// New returns the page that answers under some names, HOST:PORT. The token is kept in a file of the user's: a browser that
// is signed in stays so when the page is started again.
func New(logs *lookup.Logs, now func() time.Time, names []string, readOnly bool) (*Server, error) {
	s := &Server{Logs: logs, Now: now, ReadOnly: readOnly, names: names}
	var err error
	if s.token, err = kept(logs.Host.Data("ui")); err != nil {
		return nil, fmt.Errorf("make a token for the page: %w", err)
	}
	sum := sha256.Sum256([]byte("cookie " + s.cookie() + " " + s.token))
	s.secret = hex.EncodeToString(sum[:])
	s.guard.now, s.home.server, s.tasks.server = now, s, s
	s.pages, err = template.New("").Funcs(template.FuncMap{"ago": s.ago, "phase": phase, "base": base, "add": func(a, b int) int { return a + b }}).ParseFS(assets, "assets/*.tmpl")
	return s, err
}

// kept returns the token in a directory, which is made with a new one if it has none. Without a directory, the token is
// forgotten.
func kept(dir string) (string, error) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	fresh := hex.EncodeToString(b)
	if dir == "" {
		return fresh, nil
	}
	path := filepath.Join(dir, "token")
	if text, _, err := file.Read(path, file.Options{Max: 1 << 10}); err == nil && len(text) == len(fresh) {
		return string(text), nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return fresh, file.Write(path, []byte(fresh), 0o600)
}

// Address is what the user opens. The token is in its fragment, which no browser sends anywhere.
func (s *Server) Address() string {
	scheme := "http"
	if s.Secure {
		scheme = "https"
	}
	return scheme + "://" + s.names[0] + "/#" + s.token
}

// A Route is what the page answers.
type Route struct {
	Pattern string // of [http.ServeMux]
	Open    bool   // without the cookie
	Writes  bool   // not with ReadOnly
	serve   http.HandlerFunc
}

// Routes are all of them.
func (s *Server) Routes() []Route {
	all := []Route{
		{Pattern: "GET /{$}", Open: true, serve: s.front},
		{Pattern: "POST /session", Open: true, serve: s.signIn},
		{Pattern: "GET /assets/{name}", Open: true, serve: s.asset},
		{Pattern: "GET /list", serve: s.home.list},
		{Pattern: "GET /events", serve: s.home.events},
		{Pattern: "GET /stats", serve: s.stats},
		{Pattern: "GET /projects", serve: s.projectsPage},
		{Pattern: "GET /run/{id}", serve: s.run},
		{Pattern: "GET /run/{id}/events", serve: s.runEvents},
		{Pattern: "GET /run/{id}/diff", serve: s.diff},
		{Pattern: "GET /run/{id}/changes", serve: s.changesPage},
		{Pattern: "GET /run/{id}/changes/{n}", serve: s.changedFile},
		{Pattern: "POST /run/{id}/comment", Writes: true, serve: s.comment},
		{Pattern: "POST /run/{id}/resume", Writes: true, serve: s.resume},
		{Pattern: "POST /run/{id}/do", Writes: true, serve: s.doRun},
		{Pattern: "GET /task/{id}", serve: s.task},
		{Pattern: "POST /task/{id}/do", Writes: true, serve: s.doTask},
		{Pattern: "GET /new", Writes: true, serve: s.form},
		{Pattern: "POST /new", Writes: true, serve: s.start},
		{Pattern: "GET /prompt", Writes: true, serve: s.prompt},
		{Pattern: "POST /prompt", Writes: true, serve: s.keep},
		{Pattern: "POST /prompt/remove", Writes: true, serve: s.removePrompt},
		{Pattern: "POST /prompt/preview", Writes: true, serve: s.preview},
		{Pattern: "POST /prompt/interview", Writes: true, serve: s.interview},
		{Pattern: "POST /prompt/start", Writes: true, serve: s.startPrompt},
		{Pattern: "POST /run/{id}/steer", Writes: true, serve: s.steer},
	}
	return slices.DeleteFunc(all, func(r Route) bool { return r.Writes && s.ReadOnly })
}

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.Routes() {
		mux.HandleFunc(r.Pattern, func(w http.ResponseWriter, q *http.Request) {
			if strings.Contains(q.Header.Get("Accept"), "text/html") {
				w = reader{w}
			}
			if !r.Open && !s.known(q) {
				s.refuse(w, http.StatusUnauthorized, "You are not signed in. `codeloops ui` prints the address to open.")
				return
			}
			r.serve(w, q)
		})
	}
	return within(fence.Around(mux, s.names, maxBody))
}

// within says what a browser may do with what comes out.
func within(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "+
			"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, q)
	})
}

// maxBody limits what a request may bring, in bytes.
const maxBody = 1 << 20

// cookie is the name of the cookie: a browser sends it to every port of this host.
func (s *Server) cookie() string {
	_, port, _ := net.SplitHostPort(s.names[0]) // it is a name and a port
	return "codeloops-" + port
}

func (s *Server) known(q *http.Request) bool {
	c, err := q.Cookie(s.cookie())
	return err == nil && fence.Same(c.Value, s.secret)
}

// signIn takes the token and gives the cookie.
func (s *Server) signIn(w http.ResponseWriter, q *http.Request) {
	if !s.guard.open() {
		s.refuse(w, http.StatusTooManyRequests, "There were too many wrong tokens. Try again in a quarter of an hour.")
		return
	}
	if !fence.Same(q.FormValue("token"), s.token) {
		s.guard.wrong()
		s.refuse(w, http.StatusForbidden, "This is not the token. `codeloops ui` prints the address to open.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.Secure}) //nolint:gosec // else it does not leave this machine
	w.WriteHeader(http.StatusNoContent)
}

// guard locks the door after wrong tokens.
type guard struct {
	now func() time.Time

	mu    sync.Mutex
	count int
	since time.Time
}

const (
	maxWrong = 5
	locked   = 15 * time.Minute
)

func (g *guard) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count >= maxWrong && g.now().Sub(g.since) >= locked {
		g.count = 0
	}
	return g.count < maxWrong
}

func (g *guard) wrong() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count, g.since = g.count+1, g.now()
}

// A reader is a person who has followed a link, where others are scripts of the page.
type reader struct{ http.ResponseWriter }

// refuse answers with a sentence, for a person on a page.
func (s *Server) refuse(w http.ResponseWriter, code int, sentence string) {
	if _, person := w.(reader); !person {
		http.Error(w, sentence, code)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	if code == http.StatusUnauthorized {
		_ = s.pages.ExecuteTemplate(w, "door", nil) // the browser has gone
		return
	}
	_ = s.pages.ExecuteTemplate(w, "refused", sentence)
}

// asset serves a file of the page's own.
func (s *Server) asset(w http.ResponseWriter, q *http.Request) {
	name := q.PathValue("name")
	kind := map[string]string{"app.js": "text/javascript", "app.css": "text/css", "icon.svg": "image/svg+xml"}[name]
	if kind == "" {
		http.NotFound(w, q)
		return
	}
	text, err := fs.ReadFile(assets, "assets/"+name)
	if err != nil {
		http.NotFound(w, q)
		return
	}
	if name == "app.css" {
		text = append([]byte(export.Style()), text...)
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = w.Write(text) // the browser has gone
}

// show writes a page, or a part of one.
func (s *Server) show(w http.ResponseWriter, name string, data any) {
	var b strings.Builder
	if err := s.pages.ExecuteTemplate(&b, name, data); err != nil {
		s.refuse(w, http.StatusInternalServerError, "The page could not be made: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(b.String())) // the browser has gone
}

// ago says how long ago something was.
func (s *Server) ago(t time.Time) string {
	d := s.Now().Sub(t)
	switch {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Local().Format("2006-01-02")
}

// phase is what a run is at, in words.
func phase(name string) string {
	for _, s := range []loop.State{loop.ActorExecuting, loop.CapturingDiff, loop.Verifying, loop.CriticEvaluating} {
		if s.String() == name {
			return words.Phase(s)
		}
	}
	return "running"
}

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // streams go on for ever
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
