package source

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/wording/hint"
)

const token = "ghp_never-in-an-error"

// A forge answers as GitHub documents its REST API for issues.
type forge struct {
	sync.Mutex
	issues   []*forgeIssue
	requests []string
	answer   http.HandlerFunc // if set, it answers instead, for tests of errors
}

type forgeIssue struct {
	number   int
	title    string
	body     *string
	labels   []string
	pull     bool
	closed   bool
	comments []string
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.Lock()
	defer f.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.URL.EscapedPath())
	if f.answer != nil {
		f.answer(w, r)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/api/v3/repos/octo/shop/issues")
	if r.Header.Get("Authorization") != "Bearer "+token || r.Header.Get("Accept") != "application/vnd.github+json" || !ok {
		say(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return
	}
	if rest == "" {
		f.list(w, r)
		return
	}
	parts := strings.Split(rest, "/") // "", number, kind, name
	at := slices.IndexFunc(f.issues, func(i *forgeIssue) bool { return strconv.Itoa(i.number) == parts[1] })
	if at < 0 {
		say(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return
	}
	f.issue(w, r, f.issues[at], append(parts[2:], "", ""))
}

func (f *forge) list(w http.ResponseWriter, r *http.Request) {
	var found []any
	for _, i := range f.issues {
		if q := r.URL.Query(); i.closed || q.Get("state") != "open" || !slices.Contains(i.labels, q.Get("labels")) {
			continue
		}
		issue := map[string]any{"number": i.number, "title": i.title, "body": i.body}
		if i.pull {
			issue["pull_request"] = map[string]string{"url": "…"}
		}
		found = append(found, issue)
	}
	f.page(w, r, found)
}

// page answers with a page of two items and a link to the next page.
func (f *forge) page(w http.ResponseWriter, r *http.Request, all []any) {
	const size = 2
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	page = max(page, 1)
	from, to := min((page-1)*size, len(all)), min(page*size, len(all))
	if to < len(all) {
		q.Set("page", strconv.Itoa(page+1))
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?per_page=100&page=1>; rel="first", <http://%s%s?%s>; rel="next"`, r.Host, r.URL.Path, r.Host, r.URL.Path, q.Encode()))
	}
	say(w, http.StatusOK, append([]any{}, all[from:to]...))
}

func (f *forge) issue(w http.ResponseWriter, r *http.Request, i *forgeIssue, parts []string) {
	var sent struct {
		Labels []string `json:"labels"`
		Body   string   `json:"body"`
	}
	_ = json.NewDecoder(r.Body).Decode(&sent)
	switch r.Method + " " + parts[0] {
	case "POST labels":
		for _, label := range sent.Labels {
			if !slices.Contains(i.labels, label) {
				i.labels = append(i.labels, label)
			}
		}
		say(w, http.StatusOK, []any{})
	case "DELETE labels":
		if !slices.Contains(i.labels, parts[1]) {
			say(w, http.StatusNotFound, map[string]string{"message": "Label does not exist"})
			return
		}
		i.labels = slices.DeleteFunc(i.labels, func(l string) bool { return l == parts[1] })
		say(w, http.StatusOK, []any{})
	case "GET comments":
		var all []any
		for _, c := range i.comments {
			all = append(all, map[string]string{"body": c})
		}
		f.page(w, r, all)
	case "POST comments":
		i.comments = append(i.comments, sent.Body)
		say(w, http.StatusCreated, map[string]any{})
	default:
		say(w, http.StatusMethodNotAllowed, map[string]any{})
	}
}

func say(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(what)
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func serve(t *testing.T, f *forge) *Issues {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	s, err := Open("github", "git@github.com:octo/shop.git#ready to go", Means{
		Env: []string{"GITHUB_TOKEN=" + token, "GITHUB_API_URL=" + server.URL + "/api/v3/"}, Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Issues)
}

func TestIssues(t *testing.T) {
	t.Parallel()
	body := "--flag is text\r\nmore\r\n"
	f := &forge{issues: []*forgeIssue{
		{number: 1, title: "First\n", body: &body, labels: []string{"ready to go"}},
		{number: 2, title: "a pull request", labels: []string{"ready to go"}, pull: true},
		{number: 3, title: "closed", labels: []string{"ready to go"}, closed: true},
		{number: 4, title: "Second", labels: []string{"bug", "ready to go"}},
		{number: 5, title: "another", labels: []string{"bug"}},
		{number: 6, title: "Third", labels: []string{"ready to go"}},
	}}
	i := serve(t, f)
	if got, want := listed(t, i), "1 \"First\\n\\n--flag is text\\nmore\"\n4 \"Second\"\n6 \"Third\"\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if i.Name() != "octo/shop#ready to go" || i.Kind() != "github" {
		t.Errorf("%s %s", i.Kind(), i.Name())
	}
}

// twice calls say twice: reporting something again must change nothing.
func twice(t *testing.T, say func() error) {
	t.Helper()
	for range 2 {
		if err := say(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIssuesTold: states become labels and results become comments, once each.
func TestIssuesTold(t *testing.T) {
	t.Parallel()
	first := &forgeIssue{number: 1, labels: []string{"ready to go"}, comments: []string{"one", "two", "three"}}
	second := &forgeIssue{number: 4, labels: []string{"bug", "ready to go"}}
	i := serve(t, &forge{issues: []*forgeIssue{first, second}})
	twice(t, func() error { return i.Claim(t.Context(), "1") })
	if want := []string{"ready to go: in progress"}; !slices.Equal(first.labels, want) {
		t.Errorf("claimed: %q", first.labels)
	}
	twice(t, func() error {
		return i.Failed(t.Context(), "1", Result{Task: "t1-->", Session: "s1", Why: "@octo ```\n<!-- x -->"})
	})
	want := "<!-- codeloops failed task=t1--%3E session=s1 -->\ncodeloops could not finish this task: it needs a person.\n\n" +
		"Task: `t1-->`\n\nSession: `s1`\n\n````text\n@octo ```\n<!-- x -->\n````"
	if len(first.comments) != 4 || first.comments[3] != want || !slices.Equal(first.labels, []string{"ready to go: needs a person"}) {
		t.Errorf("failed: %q, %q", first.labels, first.comments)
	}
	if err := i.Failed(t.Context(), "1", Result{Task: "t1-->", Session: "s2"}); err != nil || len(first.comments) != 5 {
		t.Errorf("failed again: %q, %v", first.comments, err)
	}
	twice(t, func() error { return i.Done(t.Context(), "4", Result{Task: "t2", Commit: "abc", Summary: "All done."}) })
	want = "<!-- codeloops done task=t2 session= -->\ncodeloops has finished this task.\n\nCommit: `abc`\n\nTask: `t2`\n\n```text\nAll done.\n```"
	if len(second.comments) != 1 || second.comments[0] != want || !slices.Equal(second.labels, []string{"bug", "ready to go: done"}) || second.closed {
		t.Errorf("done: %+v", second)
	}
}

func TestIssuesRefused(t *testing.T) {
	t.Parallel()
	status := func(code int, message string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for n := 0; n < len(header); n += 2 {
				w.Header().Set(header[n], header[n+1])
			}
			say(w, code, map[string]string{"message": message})
		}
	}
	reset := strconv.FormatInt(noon.Add(10*time.Minute).Unix(), 10)
	for name, c := range map[string]struct {
		answer     http.HandlerFunc
		want, hint string
	}{
		"401":          {status(401, "Bad credentials "+token), `GitHub answers 401: "Bad credentials …"`, "GITHUB_TOKEN is wrong"},
		"403":          {status(403, "Resource not accessible by personal access token"), "GitHub answers 403: ", "let the token read and write"},
		"404":          {status(404, "Not Found"), `GitHub answers 404: "Not Found"`, "whether GITHUB_TOKEN may see"},
		"410":          {status(410, "Issues are disabled for this repo"), "GitHub answers 410", "switched on"},
		"502":          {status(502, ""), "GitHub answers 502", "try again later"},
		"301":          {status(301, "Moved Permanently", "Location", "https://elsewhere.example/"), "the repository has moved", "as it is called now"},
		"a limit":      {status(403, "API rate limit exceeded", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset), "until 2026-01-02 12:10:00 UTC", "try again then"},
		"429":          {status(429, "", "Retry-After", "30"), "until 2026-01-02 12:00:30 UTC", "try again then"},
		"secondary":    {status(403, "You have exceeded a secondary rate limit."), "until 2026-01-02 12:01:00 UTC", "try again then"},
		"a page":       {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "has not answered as GitHub does", "GITHUB_API_URL"},
		"another host": {raw(200, "[]", "Link", `<https://evil.example/?page=2>; rel="next"`), "its next page is elsewhere", "GITHUB_API_URL"},
		"no answer":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached: EOF", "network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := serve(t, &forge{answer: c.answer})
			_, listErr := i.List(t.Context())
			for _, err := range []error{listErr, i.Failed(t.Context(), "7", Result{})} {
				tip, _ := hint.Of(err)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(tip, c.hint) {
					t.Errorf("got %v with hint %q, want %q with %q", err, tip, c.want, c.hint)
				}
				if strings.Contains(fmt.Sprint(err, tip), token) {
					t.Error("the error shows the token")
				}
			}
		})
	}
	i := serve(t, &forge{answer: status(429, "", "Retry-After", "30")})
	if err := i.Claim(t.Context(), "1/../2"); err == nil || !strings.Contains(err.Error(), "no number of an issue") {
		t.Errorf("got %v", err)
	}
}

func raw(code int, text string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(header[0], header[1])
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

// TestIssuesTooLate: a request to a server that does not answer ends with an error at its timeout.
func TestIssuesTooLate(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer server.Close()
	defer close(over)
	g, err := NewGitHub("octo/shop", []string{"GITHUB_API_URL=" + server.URL}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	g.http.Timeout = 10 * time.Millisecond
	if _, err := (&Issues{GitHub: g}).List(t.Context()); err == nil || !strings.Contains(err.Error(), "has not answered within 10ms") {
		t.Errorf("got %v", err)
	}
}

func TestNewGitHub(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"octo/shop": "https://api.github.com/repos/octo/shop/issues", "https://github.com/octo/shop.js.git": "https://api.github.com/repos/octo/shop.js/issues",
		"https://user:secret@github.com/octo/shop": "https://api.github.com/repos/octo/shop/issues", "git@github.com:octo/shop.git": "https://api.github.com/repos/octo/shop/issues",
		"ssh://git@ssh.github.com:443/octo/shop.git/": "https://api.github.com/repos/octo/shop/issues",
	} {
		g, err := NewGitHub(name, nil, time.Now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := g.path("issues"); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for name, c := range map[string]struct{ api, want string }{
		"https://user:secret@gitlab.com/octo/shop": {"", `the repository is on "gitlab.com", not on github.com`},
		"https://user:secret@github.com/octo":      {"", `"github.com/octo" is no repository on GitHub`},
		"/srv/git/shop.git":                        {"", "is no repository on GitHub"},
		"octo/shop":                                {"http://github.example", "GITHUB_API_URL is no URL that begins with https://"},
		"octo/shop2":                               {"https://user:secret@github.example", "GITHUB_API_URL is no URL"},
		"":                                         {"", "is no repository on GitHub"},
	} {
		_, err := NewGitHub(name, []string{"GITHUB_API_URL=" + c.api}, time.Now)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
