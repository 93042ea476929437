package ui

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/redact"
	"codeloops/internal/session/lookup"
)

// served returns the page of a home, with the client of a browser that is signed in, and one that is not.
func served(t *testing.T, readOnly bool) (s *Server, in, out func(method, path string, form url.Values, header ...string) *http.Response) {
	t.Helper()
	home := t.TempDir()
	h := &host.Host{Dir: home, Environ: []string{"HOME=" + home}, Now: time.Now, Secrets: redact.New([]string{"MY_TOKEN=very-secret-value"})}
	logs := &lookup.Logs{Host: h, Settings: func() config.Options { return config.Options{Env: h.Environ, Home: home, WorkingDir: home} }, All: true, Tell: func(error) {}}
	s, err := New(logs, time.Now, []string{"127.0.0.1:7777", "localhost:7777"}, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	handler := s.Handler()
	ask := func(cookie bool) func(method, path string, form url.Values, header ...string) *http.Response {
		return func(method, path string, form url.Values, header ...string) *http.Response {
			q := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:7777"+path, strings.NewReader(form.Encode()))
			q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for i := 0; i < len(header); i += 2 {
				if header[i] == "Host" {
					q.Host = header[i+1]
				}
				q.Header.Set(header[i], header[i+1])
			}
			if cookie {
				q.AddCookie(&http.Cookie{Name: s.cookie(), Value: s.secret})
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, q)
			return w.Result()
		}
	}
	return s, ask(true), ask(false)
}

// TestRoutes: what the page answers is this list, and all but the door wants the cookie.
func TestRoutes(t *testing.T) {
	t.Parallel()
	s, _, stranger := served(t, false)
	var open, all []string
	for _, r := range s.Routes() {
		all = append(all, r.Pattern)
		if r.Open {
			open = append(open, r.Pattern)
			continue
		}
		method, path, _ := strings.Cut(r.Pattern, " ")
		if a := stranger(method, strings.ReplaceAll(path, "{id}", "x"), nil); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s answers a stranger with %s", r.Pattern, a.Status)
		}
	}
	if want := []string{"GET /{$}", "POST /session", "GET /assets/{name}"}; !slices.Equal(open, want) {
		t.Errorf("open to all: %q, want %q", open, want)
	}
	want := []string{
		"GET /{$}", "POST /session", "GET /assets/{name}", "GET /list", "GET /events", "GET /stats", "GET /projects", "GET /run/{id}", "GET /run/{id}/events", "GET /run/{id}/diff",
		"GET /run/{id}/changes", "GET /run/{id}/changes/{n}", "POST /run/{id}/comment", "POST /run/{id}/resume",
		"POST /run/{id}/do", "GET /task/{id}", "POST /task/{id}/do", "GET /new", "POST /new",
		"GET /prompt", "POST /prompt", "POST /prompt/remove", "POST /prompt/preview", "POST /prompt/interview", "POST /prompt/start", "POST /run/{id}/steer",
	}
	if !slices.Equal(all, want) {
		t.Errorf("routes: %q, want %q", all, want)
	}
	readOnly, _, _ := served(t, true)
	for _, r := range readOnly.Routes() {
		if r.Writes {
			t.Errorf("with --read-only there is %s", r.Pattern)
		}
	}
}

// TestFence: other names of this host, other pages and other files are refused, whoever asks.
func TestFence(t *testing.T) {
	t.Parallel()
	_, in, _ := served(t, false)
	for name, c := range map[string]struct {
		answer *http.Response
		want   int
	}{
		"another name":      {in("GET", "/", nil, "Host", "evil.example:7777"), http.StatusForbidden},
		"another port":      {in("GET", "/", nil, "Host", "127.0.0.1:80"), http.StatusForbidden},
		"localhost":         {in("GET", "/", nil, "Host", "localhost:7777"), http.StatusOK},
		"no origin":         {in("POST", "/run/x/steer", url.Values{"kind": {"stop"}}, "Origin", "null"), http.StatusForbidden},
		"another origin":    {in("POST", "/run/x/steer", url.Values{"kind": {"stop"}}, "Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"another port's":    {in("POST", "/run/x/steer", url.Values{"kind": {"stop"}}, "Origin", "http://127.0.0.1:8888"), http.StatusForbidden},
		"a path":            {in("GET", "/run/..%2f..%2fetc%2fpasswd", nil), http.StatusNotFound},
		"a beginning":       {in("GET", "/run/2", nil), http.StatusNotFound},
		"no such run":       {in("POST", "/run/2026-01-01T00-00-00Z_aaaaaa/steer", url.Values{"kind": {"stop"}}), http.StatusConflict},
		"nothing to say":    {in("POST", "/run/x/steer", url.Values{"kind": {"say"}}), http.StatusBadRequest},
		"no such request":   {in("POST", "/run/x/steer", url.Values{"kind": {"delete"}}), http.StatusBadRequest},
		"no such file":      {in("GET", "/assets/..%2fserver.go", nil), http.StatusNotFound},
		"another method":    {in("DELETE", "/run/x", nil), http.StatusMethodNotAllowed},
		"a page of its own": {in("GET", "/assets/app.css", nil), http.StatusOK},
	} {
		if c.answer.StatusCode != c.want {
			t.Errorf("%s: %s, want %d", name, c.answer.Status, c.want)
		}
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := c.answer.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if policy := c.answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %q", name, policy)
		}
	}
}

// TestSignIn: the token buys a cookie that no script reads and no other site sends; five wrong ones lock the door for a quarter of an
// hour.
func TestSignIn(t *testing.T) {
	t.Parallel()
	s, _, stranger := served(t, false)
	now := time.Now()
	s.guard.now = func() time.Time { return now }
	right := url.Values{"token": {s.token}}
	answer := stranger("POST", "/session", right)
	if c := answer.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Value == s.token {
		t.Errorf("cookies: %v", c)
	}
	for range maxWrong {
		if a := stranger("POST", "/session", url.Values{"token": {"wrong"}}); a.StatusCode != http.StatusForbidden {
			t.Errorf("a wrong token: %s", a.Status)
		}
	}
	if a := stranger("POST", "/session", right); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("after five wrong ones: %s", a.Status)
	}
	now = now.Add(locked)
	if a := stranger("POST", "/session", right); a.StatusCode != http.StatusNoContent {
		t.Errorf("a quarter of an hour later: %s", a.Status)
	}
}

// TestTokenKept: a page that is started again knows its browsers, and only its user can read why.
func TestTokenKept(t *testing.T) {
	t.Parallel()
	s, _, _ := served(t, false)
	again, err := New(s.Logs, time.Now, []string{"127.0.0.1:7777", "localhost:7777"}, false)
	if err != nil || again.token != s.token || again.secret != s.secret {
		t.Errorf("started again, it has another token (%v)", err)
	}
	path := filepath.Join(s.Logs.Host.Data("ui"), "token")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
	if strings.Contains(s.secret, s.token) || !strings.HasSuffix(s.Address(), "/#"+s.token) {
		t.Errorf("the address is %s", s.Address())
	}
}

// TestManySessions: of many sessions, the newest are shown at once, and the others when they have been read.
func TestManySessions(t *testing.T) {
	t.Parallel()
	s, in, _ := served(t, true)
	store, err := s.Logs.Store()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile("../../testdata/logs/demo.jsonl")
	if err == nil {
		err = os.MkdirAll(store.Dir(), 0o700)
	}
	for n := range 2000 {
		id := time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC).Format("2006-01-02T15-04-05Z") + "_aaaaaa"
		if err == nil {
			err = os.WriteFile(store.Path(id), log, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	list := func() string {
		text, err := io.ReadAll(in("GET", "/list?show=10000", nil).Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := list()
	if n := strings.Count(first, `class="row"`); n != atOnce || !strings.Contains(first, "reading 1800 older sessions") || !strings.Contains(first, "00-33-19Z_aaaaaa") {
		t.Errorf("first %d rows: %.2000s", n, first)
	}
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if n := strings.Count(list(), `class="row"`); n == 2000 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("at last %d rows", n)
		}
	}
}
