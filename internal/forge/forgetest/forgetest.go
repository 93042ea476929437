// Package forgetest is a server that behaves as GitHub and as GitLab do, for tests: it keeps repositories, to which git
// pushes over HTTP, and their requests, whose API it answers with the same pages, limits and refusals.
package forgetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cgi" //nolint:gosec // git's own server is a CGI program, and this is a test's
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Server is both servers, at one address. Its methods may be called from any goroutine.
type Server struct {
	*httptest.Server

	Token string
	dir   string // of the bare repositories

	mu       sync.Mutex
	requests []*request
	said     []remark
	checks   []check
	members  map[int]int // GitLab's access levels, by user
	faults   []fault
	Calls    []string // method and path of what was asked of the API
}

type request struct {
	Repo                    string
	Number                  int
	Title, Body, Head, Base string
	State                   string // open, closed, merged
	Draft                   bool
}

type remark struct {
	Number            int
	Kind              string // reviews, comments, issue
	Author, Rights    string
	Path, Text, State string
	Line              int
}

type check struct {
	Repo, Name, Status, Conclusion, Output string
	Broken                                 bool // a workflow without a job
}

// A fault is answered instead, once.
type fault struct {
	method  string
	status  int
	headers map[string]string
	body    string
}

// New starts a server whose repositories are in a directory.
func New(dir, token string) *Server {
	s := &Server{Token: token, dir: dir, members: map[int]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v3/repos/{owner}/{name}", s.guarded(s.repo(s.github)))
	mux.HandleFunc("/api/v3/repos/{owner}/{name}/{rest...}", s.guarded(s.repo(s.github)))
	mux.HandleFunc("/api/v4/projects/{id}", s.guarded(s.project(s.gitlab)))
	mux.HandleFunc("/api/v4/projects/{id}/{rest...}", s.guarded(s.project(s.gitlab)))
	mux.HandleFunc("/", s.git)
	s.Server = httptest.NewServer(mux)
	return s
}

// Add makes an empty repository, and returns its address.
func (s *Server) Add(path string) (address string, err error) {
	bare := filepath.Join(s.dir, filepath.FromSlash(path)+".git")
	out, err := exec.CommandContext(context.Background(), "git", "init", "--quiet", "--bare", "-b", "main", bare).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return s.URL + "/" + path + ".git", nil
}

// git is git's own server. A push needs the token.
func (s *Server) git(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	user := ""
	switch {
	case password == s.Token:
		user = "user"
	case password != "" || strings.Contains(r.URL.RawQuery+r.URL.Path, "git-receive-pack"):
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	out, _ := exec.CommandContext(r.Context(), "git", "--exec-path").Output()
	h := cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + s.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user},
	}
	h.ServeHTTP(w, r)
}

// guarded answers faults, and refuses a wrong token.
func (s *Server) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Calls = append(s.Calls, r.Method+" "+r.URL.Path)
		for i, f := range s.faults {
			if f.method == r.Method || f.method == "*" {
				s.faults = slices.Delete(s.faults, i, i+1)
				for name, value := range f.headers {
					w.Header().Set(name, value)
				}
				w.WriteHeader(f.status)
				fmt.Fprint(w, f.body) //nolint:errcheck // a test
				return
			}
		}
		if r.Header.Get("Authorization") != "Bearer "+s.Token {
			answer(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
			return
		}
		next(w, r)
	}
}

// Fail has the next call with a method ("*": any) answered with a status.
func (s *Server) Fail(method string, status int, body string, headers map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{method, status, headers, body})
}

// SetState closes a request, reopens it, or merges it.
func (s *Server) SetState(number int, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.requests {
		if q.Number == number {
			q.State = state
		}
	}
}

// SetBody is what a person writes into the text of a request; %s stands for what is there.
func (s *Server) SetBody(number int, format string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.requests {
		if q.Number == number {
			q.Body = strings.ReplaceAll(format, "%s", q.Body)
		}
	}
}

// Say has somebody say something about a request: a review, a comment on a line, or an issue's comment. rights are
// GitHub's association; on GitLab MEMBER is a developer.
func (s *Server) Say(number int, kind, author, rights, path string, line int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, remark{Number: number, Kind: kind, Author: author, Rights: rights, Path: path, Line: line, Text: text})
}

// Check sets the result of a check: success, failure, or "" for one that still runs; broken: of a workflow that cannot begin.
func (s *Server) Check(repo, name, conclusion, output string, broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := "completed"
	if conclusion == "" {
		status = "in_progress"
	}
	s.checks = append(s.checks, check{repo, name, status, conclusion, output, broken})
}

// Dump describes all requests, for tests.
func (s *Server) Dump() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, q := range s.requests {
		fmt.Fprintf(&b, "%s #%d %s: %s -> %s, %q, draft %t\n%s\n", q.Repo, q.Number, q.State, q.Head, q.Base, q.Title, q.Draft, q.Body)
	}
	return b.String()
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// page answers one page of a list, and names the next.
func page[T any](w http.ResponseWriter, r *http.Request, all []T) []T {
	query := r.URL.Query()
	n, _ := strconv.Atoi(query.Get("page"))
	n = max(n, 1)
	const size = 2 // small, so that a test has several
	from := min((n-1)*size, len(all))
	to := min(from+size, len(all))
	if to < len(all) {
		query.Set("page", strconv.Itoa(n+1))
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?%s>; rel="next", <http://%[1]s%[2]s>; rel="first"`, r.Host, r.URL.EscapedPath(), query.Encode()))
	}
	return append([]T{}, all[from:to]...)
}

func (s *Server) repo(next func(w http.ResponseWriter, r *http.Request, repo, rest string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.known(w, r, r.PathValue("owner")+"/"+r.PathValue("name"), next)
	}
}

func (s *Server) project(next func(w http.ResponseWriter, r *http.Request, repo, rest string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.known(w, r, r.PathValue("id"), next) }
}

func (s *Server) known(w http.ResponseWriter, r *http.Request, repo string, next func(w http.ResponseWriter, r *http.Request, repo, rest string)) {
	if _, err := os.Stat(s.bare(repo)); err != nil {
		answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
		return
	}
	next(w, r, repo, r.PathValue("rest"))
}

func (s *Server) bare(repo string) string {
	return filepath.Join(s.dir, filepath.FromSlash(repo)+".git")
}

// commit returns the commit of a branch, "" if there is none.
func (s *Server) commit(repo, branch string) string {
	out, err := exec.CommandContext(context.Background(), "git", "-C", s.bare(repo), "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// date returns when a commit was made.
func (s *Server) date(repo, commit string) string {
	out, _ := exec.CommandContext(context.Background(), "git", "-C", s.bare(repo), "show", "-s", "--format=%cI", commit).Output()
	return strings.TrimSpace(string(out))
}

func (s *Server) ahead(repo, base, head string) bool {
	out, err := exec.CommandContext(context.Background(), "git", "-C", s.bare(repo), "rev-list", "--count", "refs/heads/"+base+"..refs/heads/"+head).Output()
	return err == nil && strings.TrimSpace(string(out)) != "0"
}

// open makes a request, unless the servers would refuse it; why is GitHub's or GitLab's reason.
func (s *Server) open(q request) (opened *request, why string) {
	switch {
	case s.commit(q.Repo, q.Base) == "" || s.commit(q.Repo, q.Head) == "":
		return nil, "invalid"
	case !s.ahead(q.Repo, q.Base, q.Head):
		return nil, "nothing"
	}
	for _, other := range s.requests {
		if other.Repo == q.Repo && other.Head == q.Head && other.Base == q.Base && other.State == "open" {
			return nil, "exists"
		}
	}
	q.Number, q.State = len(s.requests)+1, "open"
	s.requests = append(s.requests, &q)
	return &q, ""
}

func (s *Server) find(repo string, number string) *request {
	n, _ := strconv.Atoi(number)
	for _, q := range s.requests {
		if q.Repo == repo && q.Number == n {
			return q
		}
	}
	return nil
}

// from lists the requests of a repository from a branch, the newest first.
func (s *Server) from(repo, branch string) (all []*request) {
	for _, q := range slices.Backward(s.requests) {
		if q.Repo == repo && (branch == "" || q.Head == branch) {
			all = append(all, q)
		}
	}
	return all
}
