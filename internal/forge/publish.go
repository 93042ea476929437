package forge

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/wording/hint"
)

// begin and end enclose what codeloops writes in the text of a request. What people write around it stays.
const (
	begin = "<!-- codeloops: begin -->"
	end   = "<!-- codeloops: end -->"
)

// Standing returns the open request from a branch; its number is 0 if there is none yet. A branch whose last request was
// closed or merged is an error.
func (t *Target) Standing(ctx context.Context, branch string) (r Request, err error) {
	all, err := t.Server.From(ctx, branch)
	if err != nil {
		return r, err
	}
	for _, one := range all {
		if one.State == Open {
			return one, nil
		}
	}
	if len(all) > 0 {
		return r, hint.Errorf("reopen it, or use another branch: --branch NAME", "the %s from %s was %s: %s", t.Place.Kind.Noun(), branch, all[0].State, all[0].URL)
	}
	return Request{Head: branch}, nil
}

// Publish opens a request, or brings the standing one up to date: its text between the marks, its base if that is said,
// and its title if that is said.
func (t *Target) Publish(ctx context.Context, standing, r Request) (now Request, err error) {
	own := begin + "\n" + strings.TrimSpace(r.Body) + "\n" + end
	if standing.Number == 0 {
		opened := r
		opened.Body = own
		now, err = t.Server.Create(ctx, opened)
		if refuses(err, "already exists") { // somebody was faster
			if standing, err = t.Standing(ctx, r.Head); err == nil && standing.Number != 0 {
				return t.Publish(ctx, standing, r)
			}
		}
		switch {
		case refuses(err, "no commits between"):
			return now, hint.Errorf("is the base right? --base BRANCH", "%s has all of %s already: there is nothing to ask for", r.Base, r.Head)
		case err != nil:
			return now, fmt.Errorf("the branch %s is pushed, and the %s could not be opened: %w", r.Head, t.Place.Kind.Noun(), err)
		}
		return now, nil
	}
	edited := standing
	if from, to := strings.Index(standing.Body, begin), strings.LastIndex(standing.Body, end); from >= 0 && to > from {
		edited.Body = standing.Body[:from] + own + standing.Body[to+len(end):]
	}
	if r.Title != "" {
		edited.Title = r.Title
	}
	if r.Base != "" {
		edited.Base = r.Base
	}
	if edited == standing {
		return standing, nil
	}
	if now, err = t.Server.Edit(ctx, edited); err != nil {
		err = fmt.Errorf("the branch %s is pushed, and %s could not be brought up to date: %w", r.Head, standing.URL, err)
	}
	return now, err
}
