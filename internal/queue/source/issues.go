package source

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Issues are the open issues of a GitHub repository with a label; pull requests are ignored. Title and body are
// the prompt.
//
// Claim, Done and Failed replace the label by the same one followed by ": in progress", ": done" or ": needs a
// person". Done and Failed also add a comment. Issues are never closed.
type Issues struct {
	GitHub
	Label string
}

// defaultLabel is the label of tasks by default.
const defaultLabel = "codeloops"

// NewIssues returns the issues that a name means: a repository as for [NewGitHub], optionally followed by # and a
// label.
func NewIssues(name string, env []string, now func() time.Time) (*Issues, error) {
	name, label, _ := strings.Cut(name, "#")
	g, err := NewGitHub(name, env, now)
	return &Issues{GitHub: g, Label: cmp.Or(strings.TrimSpace(label), defaultLabel)}, err
}

var _ Source = (*Issues)(nil)

// Kind implements [Source].
func (*Issues) Kind() string { return "github" }

// Name implements [Source].
func (i *Issues) Name() string { return i.Owner + "/" + i.Repository + "#" + i.Label }

// List implements [Source], the oldest first.
func (i *Issues) List(ctx context.Context) (items []Item, err error) {
	query := url.Values{"state": {"open"}, "labels": {i.Label}, "sort": {"created"}, "direction": {"asc"}, "per_page": {"100"}}
	seen := map[string]bool{} // pages shift when issues change
	next := i.path("issues") + "?" + query.Encode()
	for next != "" {
		var page []struct {
			Number      int       `json:"number"`
			Title       string    `json:"title"`
			Body        string    `json:"body"`
			PullRequest *struct{} `json:"pull_request"`
		}
		if next, err = i.call(ctx, http.MethodGet, next, nil, &page); err != nil {
			return nil, fmt.Errorf("list the issues %s: %w", i.Name(), err)
		}
		for _, issue := range page {
			key := strconv.Itoa(issue.Number)
			if issue.PullRequest != nil || seen[key] {
				continue
			}
			seen[key] = true
			body := strings.TrimSpace(strings.ReplaceAll(issue.Body, "\r\n", "\n"))
			items = append(items, Item{Key: key, Prompt: strings.TrimSpace(wording.Line(issue.Title) + "\n\n" + body)})
		}
		if len(items) > most {
			return nil, hint.Errorf("choose a label that fewer have", "%s are more than %d open issues", i.Name(), most)
		}
	}
	return items, nil
}

// Claim implements [Source]. GitHub has no atomic operation for it, so two may claim an issue at the same time.
func (i *Issues) Claim(ctx context.Context, key string) error {
	return i.tell(key, func(issue string) error {
		return i.move(ctx, issue, inProgress)
	})
}

// Done implements [Source].
func (i *Issues) Done(ctx context.Context, key string, r Result) error {
	return i.end(ctx, key, "done", isFinished, r)
}

// Failed implements [Source].
func (i *Issues) Failed(ctx context.Context, key string, r Result) error {
	return i.end(ctx, key, "failed", needsPerson, r)
}

func (i *Issues) end(ctx context.Context, key, how, label string, r Result) error {
	return i.tell(key, func(issue string) error {
		if err := i.comment(ctx, issue, how, r); err != nil {
			return err
		}
		return i.move(ctx, issue, label)
	})
}

// tell runs say with the URL of an issue.
func (i *Issues) tell(key string, say func(issue string) error) error {
	if n, err := strconv.Atoi(key); err != nil || n <= 0 {
		return fmt.Errorf("%s is no number of an issue", wording.Quote(key, 40))
	}
	if err := say(i.path("issues", key)); err != nil {
		return fmt.Errorf("tell issue %s of %s/%s: %w", key, i.Owner, i.Repository, err)
	}
	return nil
}

// Suffixes of the label.
const (
	inProgress  = ": in progress"
	isFinished  = ": done"
	needsPerson = ": needs a person"
)

// move adds an issue's new label before it removes the old ones, so that it always has one.
func (i *Issues) move(ctx context.Context, issue, state string) error {
	add := map[string][]string{"labels": {i.Label + state}}
	if _, err := i.call(ctx, http.MethodPost, issue+"/labels", add, nil); err != nil {
		return err
	}
	for _, old := range []string{"", inProgress, isFinished, needsPerson} {
		if old == state {
			continue
		}
		_, err := i.call(ctx, http.MethodDelete, issue+"/labels/"+url.PathEscape(i.Label+old), nil, nil)
		if err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}

// comment adds a comment on the outcome, unless there is one.
func (i *Issues) comment(ctx context.Context, issue, how string, r Result) (err error) {
	marker := fmt.Sprintf("<!-- codeloops %s task=%s session=%s -->", how, url.QueryEscape(r.Task), url.QueryEscape(r.Session))
	for next := issue + "/comments?per_page=100"; next != ""; {
		var page []struct {
			Body string `json:"body"`
		}
		if next, err = i.call(ctx, http.MethodGet, next, nil, &page); err != nil {
			return err
		}
		for _, c := range page {
			if strings.Contains(c.Body, marker) {
				return nil
			}
		}
	}
	_, err = i.call(ctx, http.MethodPost, issue+"/comments", map[string]string{"body": marker + "\n" + report(how, r)}, nil)
	return err
}

// report is the text of a comment. Agents' text goes into a code block, where it cannot mention users, link or
// hide anything.
func report(how string, r Result) string {
	parts := []string{"codeloops has finished this task."}
	said := r.Summary
	if how == "failed" {
		parts[0], said = "codeloops could not finish this task: it needs a person.", r.Why
		if r.Summary != "" {
			said += "\n\n" + r.Summary
		}
	}
	for _, fact := range []struct{ name, value string }{{"Commit", r.Commit}, {"Task", r.Task}, {"Session", r.Session}} {
		if fact.value != "" {
			parts = append(parts, fact.name+": `"+strings.ReplaceAll(wording.Line(fact.value), "`", "")+"`")
		}
	}
	text := strings.Join(parts, "\n\n")
	const most = 8_000
	if said = strings.TrimSpace(wording.Clean(said)); said == "" {
		return text
	}
	if runes := []rune(said); len(runes) > most {
		said = string(runes[:most]) + "\n…"
	}
	fence := "```"
	for strings.Contains(said, fence) {
		fence += "`"
	}
	return text + "\n\n" + fence + "text\n" + said + "\n" + fence
}
