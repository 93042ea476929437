package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// gitlab is [Server] for GitLab: https://docs.gitlab.com/api/.
type gitlab struct{ *client }

// A merge is a merge request as the API has it.
type merge struct {
	Number int    `json:"iid"`
	URL    string `json:"web_url"`
	Title  string `json:"title"`
	Body   string `json:"description"`
	State  string `json:"state"`
	Draft  bool   `json:"draft"`
	Head   string `json:"source_branch"`
	Base   string `json:"target_branch"`
	SHA    string `json:"sha"`
}

func (m merge) request() Request {
	state := map[string]State{"opened": Open, "merged": Merged}[m.State]
	if state == "" { // locked, too
		state = Closed
	}
	return Request{m.Number, m.URL, m.Title, m.Body, m.Head, m.Base, state, m.Draft, m.SHA}
}

func (g gitlab) at(format string, args ...any) string {
	return "/projects/" + url.PathEscape(g.place.Path) + fmt.Sprintf(format, args...)
}

// Default implements [Server].
func (g gitlab) Default(ctx context.Context) (string, error) {
	r, err := got[struct {
		Default string `json:"default_branch"`
	}](ctx, g.client, g.at(""))
	return r.Default, err
}

// From implements [Server].
func (g gitlab) From(ctx context.Context, branch string) ([]Request, error) {
	return listed[merge](ctx, g.client, g.at("/merge_requests?state=all&order_by=created_at&sort=desc&per_page=100&source_branch=%s", url.QueryEscape(branch)))
}

// Get implements [Server].
func (g gitlab) Get(ctx context.Context, number int) (Request, error) {
	return sent[merge](ctx, g.client, http.MethodGet, g.at("/merge_requests/%d", number), nil)
}

// Create implements [Server]. A draft is one by its title.
func (g gitlab) Create(ctx context.Context, r Request) (Request, error) {
	if r.Draft {
		r.Title = "Draft: " + r.Title
	}
	return sent[merge](ctx, g.client, http.MethodPost, g.at("/merge_requests"), map[string]any{
		"title": r.Title, "description": r.Body, "source_branch": r.Head, "target_branch": r.Base,
	})
}

// Edit implements [Server].
func (g gitlab) Edit(ctx context.Context, r Request) (Request, error) {
	return sent[merge](ctx, g.client, http.MethodPut, g.at("/merge_requests/%d", r.Number), map[string]any{
		"title": r.Title, "description": r.Body, "target_branch": r.Base,
	})
}

// Committed implements [Server].
func (g gitlab) Committed(ctx context.Context, commit string) (time.Time, error) {
	c, err := got[struct {
		Date time.Time `json:"committed_date"`
	}](ctx, g.client, g.at("/repository/commits/%s", commit))
	return c.Date, err
}

// A note is a comment.
type note struct {
	Author struct {
		ID   int    `json:"id"`
		Name string `json:"username"`
	} `json:"author"`
	Body     string    `json:"body"`
	Created  time.Time `json:"created_at"`
	System   bool      `json:"system"`
	Resolved bool      `json:"resolved"`
	Position struct {
		Path string `json:"new_path"`
		Line int    `json:"new_line"`
	} `json:"position"`
}

// developer is the least access of a member who may push.
const developer = 30

// Said implements [Server]. What was resolved is left out.
func (g gitlab) Said(ctx context.Context, r Request) (said []Remark, err error) {
	all, err := list[struct {
		Notes []note `json:"notes"`
	}](ctx, g.client, g.at("/merge_requests/%d/discussions?per_page=100", r.Number))
	trusted := map[int]bool{}
	for _, d := range all {
		for _, n := range d.Notes {
			if n.System || n.Resolved || strings.TrimSpace(n.Body) == "" {
				continue
			}
			if _, known := trusted[n.Author.ID]; !known {
				member, err := got[struct {
					Access int `json:"access_level"`
				}](ctx, g.client, g.at("/members/all/%d", n.Author.ID))
				if e, said := errors.AsType[*apiError](err); err != nil && (!said || e.Status != http.StatusNotFound) {
					return nil, err
				}
				trusted[n.Author.ID] = member.Access >= developer
			}
			said = append(said, Remark{n.Author.Name, trusted[n.Author.ID], n.Created, n.Position.Path, n.Position.Line, n.Body})
		}
	}
	return said, err
}

// A job is a pipeline or one of its jobs.
type job struct {
	ID         int    `json:"id"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	SHA        string `json:"sha"`
	URL        string `json:"web_url"`
	MayFail    bool   `json:"allow_failure"`
	YAMLErrors string `json:"yaml_errors"`
}

// Checks implements [Server].
func (g gitlab) Checks(ctx context.Context, r Request) (all []Check, err error) {
	pipelines, err := list[job](ctx, g.client, g.at("/merge_requests/%d/pipelines?per_page=100", r.Number))
	at := slices.IndexFunc(pipelines, func(p job) bool { return p.SHA == r.Commit }) // the newest comes first
	if err != nil || at < 0 {
		return nil, err
	}
	p := pipelines[at]
	jobs, err := list[job](ctx, g.client, g.at("/pipelines/%d/jobs?per_page=100", p.ID))
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		one := Check{Name: j.Name, State: Pending, URL: j.URL}
		switch {
		case j.Status == "success" || j.Status == "skipped" || j.Status == "manual" || j.Status == "failed" && j.MayFail:
			one.State = Passed
		case j.Status == "failed" || j.Status == "canceled":
			one.State, one.Output = Failed, g.log(ctx, g.at("/jobs/%d/trace", j.ID))
		}
		all = append(all, one)
	}
	if len(jobs) == 0 && p.Status == "failed" {
		whole, err := got[job](ctx, g.client, g.at("/pipelines/%d", p.ID))
		if err != nil {
			return nil, err
		}
		all = append(all, Check{
			Name: ".gitlab-ci.yml", State: Failed, URL: p.URL,
			Output: strings.TrimSpace("GitLab could not start a single job of the pipeline: its file is not valid. " + whole.YAMLErrors),
		})
	}
	return all, nil
}
