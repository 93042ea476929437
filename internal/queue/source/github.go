package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// publicAPI is the API of github.com.
const publicAPI = "https://api.github.com"

// A GitHub accesses one repository through the REST API.
type GitHub struct {
	Owner, Repository string

	api   *url.URL
	token string
	now   func() time.Time
	http  http.Client
}

// A statusError is an unexpected HTTP status.
type statusError struct {
	code          int
	problem, tell string
}

func (e *statusError) Error() string { return e.problem }

// Hint says what can be done about it.
func (e *statusError) Hint() string { return e.tell }

// isMissing reports whether the error is a 404.
func isMissing(err error) bool {
	status, ok := errors.AsType[*statusError](err)
	return ok && status.code == http.StatusNotFound
}

var (
	repositoryForm = wording.Pattern(`^([A-Za-z0-9][A-Za-z0-9-]*)/([A-Za-z0-9._-]+)$`)
	// A remote URL of git: https://host/owner/name.git, ssh://git@host/…, git@host:owner/name.git.
	remoteForm = wording.Pattern(`^(?:[a-z+]+://(?:[^/@]*@)?([^/:]+)(?::[0-9]+)?/|(?:[^/@:]+@)?([^/@:]+):)/*(.*?)(?:\.git)?/*$`)
)

// NewGitHub returns the API of a repository, named as OWNER/NAME or by a remote URL. It uses GITHUB_TOKEN and
// GITHUB_API_URL of the environment. Without the latter the host must be github.com, as the token is for no other.
func NewGitHub(name string, env []string, now func() time.Time) (GitHub, error) {
	g := GitHub{token: strings.TrimSpace(proc.Getenv(env, "GITHUB_TOKEN")), now: now}
	api, host := proc.Getenv(env, "GITHUB_API_URL"), "github.com"
	form := repositoryForm().FindStringSubmatch(name)
	if remote := remoteForm().FindStringSubmatch(name); form == nil && remote != nil {
		host = strings.ToLower(remote[1] + remote[2])
		form = repositoryForm().FindStringSubmatch(remote[3])
	}
	if form == nil || strings.Trim(form[2], ".") == "" {
		return g, hint.Errorf("name it as OWNER/NAME", "%s is no repository on GitHub", wording.Quote(withoutPassword(name), 120))
	}
	if api == "" {
		if host != "github.com" && host != "ssh.github.com" && host != "www.github.com" {
			return g, hint.Errorf("set GITHUB_API_URL, for GitHub Enterprise Server to https://HOST/api/v3",
				"the repository is on %s, not on github.com", wording.Quote(host, 120))
		}
		api = publicAPI
	}
	g.Owner, g.Repository = form[1], form[2]
	var err error
	g.api, err = url.Parse(strings.TrimRight(api, "/"))
	if err != nil || g.api.Host == "" || g.api.User != nil || g.api.RawQuery != "" || !safe(g.api) {
		return g, hint.Errorf("set it to "+publicAPI+", or unset it", "GITHUB_API_URL is no URL that begins with https://")
	}
	g.http = http.Client{
		Timeout: 30 * time.Second,
		// A redirected POST would become a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return g, nil
}

// safe reports whether requests are encrypted, or stay on this machine.
func safe(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// withoutPassword removes user and password from a URL.
func withoutPassword(name string) string {
	if _, rest, ok := strings.Cut(name, "@"); ok {
		return rest
	}
	return name
}

// path is a URL below the repository.
func (g *GitHub) path(parts ...string) string {
	return g.api.String() + "/repos/" + g.Owner + "/" + g.Repository + "/" + strings.Join(parts, "/")
}

// call sends a request; next is the URL of the next page, "" after the last one.
func (g *GitHub) call(ctx context.Context, method, to string, send, take any) (next string, err error) {
	var body io.Reader
	if send != nil {
		text, err := json.Marshal(send)
		if err != nil {
			return "", err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, to, body)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", "application/vnd.github+json")
	r.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	r.Header.Set("User-Agent", "codeloops")
	if send != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if g.token != "" {
		r.Header.Set("Authorization", "Bearer "+g.token)
	}
	answer, err := g.http.Do(r)
	if err != nil {
		return "", g.unreached(ctx, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4*largest+1))
	if err != nil {
		return "", g.unreached(ctx, err)
	}
	if answer.StatusCode/100 != 2 {
		return "", g.refused(answer, text)
	}
	if take != nil {
		if err := json.Unmarshal(text, take); err != nil || len(text) > 4*largest {
			return "", hint.Errorf("see whether GITHUB_API_URL is the API of GitHub", "%s has not answered as GitHub does", g.api.Host)
		}
	}
	return g.next(answer.Header.Get("Link"))
}

// unreached explains why there is no response.
func (g *GitHub) unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed, ok := errors.AsType[net.Error](err); ok && failed.Timeout() {
		return hint.Errorf("try again later", "%s has not answered within %s", g.api.Host, g.http.Timeout)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL
	}
	return hint.Errorf("see whether the network is there", "%s cannot be reached: %w", g.api.Host, err)
}

// refused explains an error response.
func (g *GitHub) refused(answer *http.Response, text []byte) error {
	if until := g.limited(answer, text); !until.IsZero() {
		return hint.Errorf("try again then; with a token there are more requests",
			"GitHub takes no more requests until %s", until.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &said) // it may not be JSON
	message := said.Message
	if g.token != "" {
		message = strings.ReplaceAll(message, g.token, "…")
	}
	e := &statusError{code: answer.StatusCode, problem: fmt.Sprintf("GitHub answers %d", answer.StatusCode), tell: "try again later"}
	if message = wording.Line(message); message != "" {
		e.problem += ": " + wording.Quote(message, 200)
	}
	switch {
	case answer.StatusCode/100 == 3:
		e.problem, e.tell = "the repository has moved", "name it as it is called now"
	case answer.StatusCode == http.StatusUnauthorized && g.token == "", answer.StatusCode == http.StatusForbidden && g.token == "":
		e.tell = "set GITHUB_TOKEN"
	case answer.StatusCode == http.StatusUnauthorized:
		e.tell = "GITHUB_TOKEN is wrong or has expired; set another one"
	case answer.StatusCode == http.StatusForbidden:
		e.tell = "let the token read and write the issues of the repository"
	case answer.StatusCode == http.StatusNotFound && g.token == "":
		e.tell = "see whether the name is right; a private repository needs GITHUB_TOKEN"
	case answer.StatusCode == http.StatusNotFound:
		e.tell = "see whether the name is right, and whether GITHUB_TOKEN may see the repository"
	case answer.StatusCode == http.StatusGone:
		e.tell = "see whether issues are switched on in the repository"
	}
	return e
}

// limited is when a rate limit ends; zero if the response is about something else.
func (g *GitHub) limited(answer *http.Response, text []byte) time.Time {
	if answer.StatusCode != http.StatusForbidden && answer.StatusCode != http.StatusTooManyRequests {
		return time.Time{}
	}
	header := answer.Header
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds >= 0 {
		return g.now().Add(time.Duration(min(seconds, 1<<20)) * time.Second)
	}
	if at, err := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64); err == nil && header.Get("X-RateLimit-Remaining") == "0" {
		return time.Unix(at, 0)
	}
	// For a secondary limit without a date, GitHub recommends a minute.
	if answer.StatusCode == http.StatusTooManyRequests || bytes.Contains(bytes.ToLower(text), []byte("rate limit")) {
		return g.now().Add(time.Minute)
	}
	return time.Time{}
}

var nextForm = wording.Pattern(`<([^<>]+)>\s*;[^<]*\brel="next"`)

// next returns the next page from a Link header. It must be on the same host, as the token is sent there.
func (g *GitHub) next(link string) (string, error) {
	form := nextForm().FindStringSubmatch(link)
	if form == nil {
		return "", nil
	}
	u, err := url.Parse(form[1])
	if err != nil || u.Scheme != g.api.Scheme || u.Host != g.api.Host {
		return "", hint.Errorf("see whether GITHUB_API_URL is the API of GitHub", "%s says that its next page is elsewhere", g.api.Host)
	}
	return u.String(), nil
}
