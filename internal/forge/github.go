package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// github is [Server] for GitHub: https://docs.github.com/en/rest.
type github struct{ *client }

// A pull is a pull request as the API has it.
type pull struct {
	Number int     `json:"number"`
	URL    string  `json:"html_url"`
	Title  string  `json:"title"`
	Body   string  `json:"body"`
	State  State   `json:"state"`
	Draft  bool    `json:"draft"`
	Merged *string `json:"merged_at"`
	Head   struct {
		Ref string `json:"ref"`
		SHA string `json:"sha"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

func (p pull) request() Request {
	if p.Merged != nil {
		p.State = Merged
	}
	return Request{p.Number, p.URL, p.Title, p.Body, p.Head.Ref, p.Base.Ref, p.State, p.Draft, p.Head.SHA}
}

func (g github) at(format string, args ...any) string {
	return "/repos/" + g.place.Path + fmt.Sprintf(format, args...)
}

// Default implements [Server].
func (g github) Default(ctx context.Context) (string, error) {
	r, err := got[struct {
		Default string `json:"default_branch"`
	}](ctx, g.client, g.at(""))
	return r.Default, err
}

// From implements [Server].
func (g github) From(ctx context.Context, branch string) ([]Request, error) {
	owner, _, _ := strings.Cut(g.place.Path, "/")
	return listed[pull](ctx, g.client, g.at("/pulls?state=all&sort=created&direction=desc&per_page=100&head=%s", url.QueryEscape(owner+":"+branch)))
}

// Get implements [Server].
func (g github) Get(ctx context.Context, number int) (Request, error) {
	return sent[pull](ctx, g.client, http.MethodGet, g.at("/pulls/%d", number), nil)
}

// Create implements [Server].
func (g github) Create(ctx context.Context, r Request) (Request, error) {
	return sent[pull](ctx, g.client, http.MethodPost, g.at("/pulls"), map[string]any{
		"title": r.Title, "body": r.Body, "head": r.Head, "base": r.Base, "draft": r.Draft,
	})
}

// Edit implements [Server].
func (g github) Edit(ctx context.Context, r Request) (Request, error) {
	return sent[pull](ctx, g.client, http.MethodPatch, g.at("/pulls/%d", r.Number), map[string]any{"title": r.Title, "body": r.Body, "base": r.Base})
}

// Committed implements [Server].
func (g github) Committed(ctx context.Context, commit string) (time.Time, error) {
	c, err := got[struct {
		Commit struct {
			Committer struct {
				Date time.Time `json:"date"`
			} `json:"committer"`
		} `json:"commit"`
	}](ctx, g.client, g.at("/commits/%s", commit))
	return c.Commit.Committer.Date, err
}

// A comment is one of the three kinds that there are.
type comment struct {
	User struct {
		Login string `json:"login"`
	} `json:"user"`
	Association string    `json:"author_association"`
	Body        string    `json:"body"`
	State       string    `json:"state"` // of a review
	Created     time.Time `json:"created_at"`
	Submitted   time.Time `json:"submitted_at"` // of a review
	Path        string    `json:"path"`
	Line        int       `json:"line"`
	Original    int       `json:"original_line"`
}

// Said implements [Server].
func (g github) Said(ctx context.Context, r Request) (said []Remark, err error) {
	for _, path := range []string{g.at("/pulls/%d/reviews", r.Number), g.at("/pulls/%d/comments", r.Number), g.at("/issues/%d/comments", r.Number)} {
		all, err := list[comment](ctx, g.client, path+"?per_page=100")
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			if strings.TrimSpace(c.Body) == "" || c.State == "PENDING" || c.State == "DISMISSED" {
				continue
			}
			one := Remark{Author: c.User.Login, At: c.Created, Path: c.Path, Line: cmp.Or(c.Line, c.Original), Text: c.Body}
			if one.At.IsZero() {
				one.At = c.Submitted
			}
			one.Trusted = slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, c.Association)
			said = append(said, one)
		}
	}
	return said, nil
}

// A checkRun is a check as the API has it; runs of workflows have some of the same fields.
type checkRun struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Path       string `json:"path"` // of a workflow
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	URL        string `json:"html_url"`
	Output     struct {
		Title, Summary, Text string
	} `json:"output"`
	App struct {
		Slug string `json:"slug"`
	} `json:"app"`
	Context     string `json:"context"` // from here on: of a commit status
	State       string `json:"state"`
	Description string `json:"description"`
	Target      string `json:"target_url"`
}

// checkRuns are a page of them, in whichever field the API has them.
type checkRuns struct {
	Total    int        `json:"total_count"`
	Runs     []checkRun `json:"check_runs"`
	Flows    []checkRun `json:"workflow_runs"`
	Statuses []checkRun `json:"statuses"`
}

// Checks implements [Server].
func (g github) Checks(ctx context.Context, r Request) (all []Check, err error) {
	var pages []checkRuns
	for _, path := range []string{g.at("/commits/%s/check-runs", r.Commit), g.at("/commits/%s/status", r.Commit), g.at("/actions/runs")} {
		next := path + "?per_page=100&head_sha=" + r.Commit
		for range mostPages {
			var page checkRuns
			if next, err = g.call(ctx, http.MethodGet, next, nil, &page); err != nil {
				return nil, err
			}
			if pages = append(pages, page); next == "" {
				break
			}
		}
	}
	for _, page := range pages {
		for _, c := range page.Runs {
			all = append(all, g.check(ctx, c))
		}
		for _, s := range page.Statuses {
			state := map[string]CheckState{"success": Passed, "pending": Pending}[s.State]
			all = append(all, Check{Name: s.Context, State: cmp.Or(state, Failed), URL: s.Target, Output: s.Description})
		}
		for _, w := range page.Flows {
			if broken, is := g.broken(ctx, w); is {
				all = append(all, broken)
			}
		}
	}
	return all, nil
}

func (g github) check(ctx context.Context, c checkRun) Check {
	one := Check{Name: c.Name, State: Failed, URL: c.URL}
	switch {
	case c.Status != "completed":
		one.State = Pending
	case slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion):
		one.State = Passed
	default:
		one.Output = strings.TrimSpace(strings.Join([]string{c.Output.Title, c.Output.Summary, c.Output.Text}, "\n"))
		if c.App.Slug == "github-actions" { // whose jobs have the ids of their checks
			one.Output = cmp.Or(g.log(ctx, g.at("/actions/jobs/%d/logs", c.ID)), one.Output)
		}
	}
	return one
}

// broken returns a workflow that failed without a job: it has no check, and waiting for one would never end.
func (g github) broken(ctx context.Context, w checkRun) (Check, bool) {
	if w.Status != "completed" || w.Conclusion != "failure" && w.Conclusion != "startup_failure" {
		return Check{}, false
	}
	jobs, err := got[checkRuns](ctx, g.client, g.at("/actions/runs/%d/jobs", w.ID))
	if err != nil || jobs.Total > 0 {
		return Check{}, false
	}
	return Check{
		Name: cmp.Or(w.Path, w.Name), State: Failed, URL: w.URL,
		Output: "GitHub could not start a single job of this workflow: its file is not valid.",
	}, true
}
