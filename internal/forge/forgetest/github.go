package forgetest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// github answers as api.github.com does.
func (s *Server) github(w http.ResponseWriter, r *http.Request, repo, rest string) { //nolint:gocyclo // a table of addresses
	parts := strings.Split(rest, "/")
	switch {
	case rest == "":
		answer(w, http.StatusOK, map[string]any{"default_branch": "main", "full_name": repo})
	case rest == "pulls" && r.Method == http.MethodGet:
		_, branch, _ := strings.Cut(r.URL.Query().Get("head"), ":")
		all := page(w, r, s.from(repo, branch))
		pulls := make([]any, len(all))
		for i, q := range all {
			pulls[i] = s.pull(q)
		}
		answer(w, http.StatusOK, pulls)
	case rest == "pulls" && r.Method == http.MethodPost:
		s.openPull(w, r, repo)
	case parts[0] == "pulls" && len(parts) == 2:
		s.onePull(w, r, repo, parts[1])
	case len(parts) == 3 && (parts[0] == "pulls" || parts[0] == "issues"):
		kind := parts[2]
		if parts[0] == "issues" {
			kind = "issue"
		}
		s.comments(w, r, kind)
	case parts[0] == "logs":
		n, _ := strconv.Atoi(parts[1])
		_, _ = io.WriteString(w, s.checks[n-1].Output)
	case parts[0] == "commits" || parts[0] == "actions":
		s.checksOf(w, r, repo, parts)
	default:
		answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	}
}

func (s *Server) pull(q *request) map[string]any {
	var merged any
	state := q.State
	if state == "merged" {
		state, merged = "closed", "2026-01-02T03:04:05Z"
	}
	return map[string]any{
		"number": q.Number, "html_url": s.URL + "/" + q.Repo + "/pull/" + strconv.Itoa(q.Number), "title": q.Title, "body": q.Body, "state": state, "merged_at": merged, "draft": q.Draft,
		"head": map[string]any{"ref": q.Head, "sha": s.commit(q.Repo, q.Head)}, "base": map[string]any{"ref": q.Base},
	}
}

func (s *Server) openPull(w http.ResponseWriter, r *http.Request, repo string) {
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // what is missing is refused
	q, why := s.open(request{Repo: repo, Title: in.Title, Body: in.Body, Head: in.Head, Base: in.Base, Draft: in.Draft})
	message := map[string]string{
		"exists": "A pull request already exists for " + repo + ":" + in.Head + ".", "nothing": "No commits between " + in.Base + " and " + in.Head,
	}[why]
	switch {
	case why == "invalid":
		answer(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed", "errors": []any{map[string]any{"resource": "PullRequest", "field": "base", "code": "invalid"}}})
	case why != "":
		answer(w, http.StatusUnprocessableEntity, map[string]any{"message": "Validation Failed", "errors": []any{map[string]any{"resource": "PullRequest", "code": "custom", "message": message}}})
	default:
		answer(w, http.StatusCreated, s.pull(q))
	}
}

func (s *Server) onePull(w http.ResponseWriter, r *http.Request, repo, number string) {
	q := s.find(repo, number)
	if q == nil {
		answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
		return
	}
	if r.Method == http.MethodPatch {
		var in struct{ Title, Body, Base *string }
		_ = json.NewDecoder(r.Body).Decode(&in) // an empty one changes nothing
		q.set(in.Title, in.Body, in.Base)
	}
	answer(w, http.StatusOK, s.pull(q))
}

func (q *request) set(title, body, base *string) {
	for to, from := range map[*string]*string{&q.Title: title, &q.Body: body, &q.Base: base} {
		if from != nil {
			*to = *from
		}
	}
}

func (s *Server) comments(w http.ResponseWriter, r *http.Request, kind string) {
	var all []any
	for _, c := range s.said {
		if c.Kind != kind {
			continue
		}
		one := map[string]any{"user": map[string]any{"login": c.Author}, "author_association": c.Rights, "body": c.Text}
		switch kind {
		case "reviews":
			one["submitted_at"], one["state"] = later(), "CHANGES_REQUESTED"
		case "comments":
			one["path"], one["line"], one["created_at"] = c.Path, c.Line, later()
		default:
			one["created_at"] = later()
		}
		all = append(all, one)
	}
	answer(w, http.StatusOK, page(w, r, all))
}

// later is a time after any commit of the test.
func later() string { return "2099-01-02T03:04:05Z" }

func (s *Server) checksOf(w http.ResponseWriter, r *http.Request, repo string, parts []string) {
	var runs, flows []any
	for i, c := range s.checks {
		one := map[string]any{
			"id": i + 1, "name": c.Name, "path": c.Name, "status": c.Status, "conclusion": c.Conclusion, "html_url": s.URL + "/checks/" + strconv.Itoa(i+1),
			"app": map[string]any{"slug": "github-actions"}, "output": map[string]any{"title": "", "summary": ""},
		}
		if c.Repo == repo && c.Broken {
			flows = append(flows, one)
		} else if c.Repo == repo {
			runs = append(runs, one)
		}
	}
	switch what := parts[len(parts)-1]; {
	case len(parts) == 2 && parts[0] == "commits":
		answer(w, http.StatusOK, map[string]any{"commit": map[string]any{"committer": map[string]any{"date": s.date(repo, what)}}})
	case what == "check-runs":
		answer(w, http.StatusOK, map[string]any{"total_count": len(runs), "check_runs": page(w, r, runs)})
	case what == "status":
		answer(w, http.StatusOK, map[string]any{"state": "pending", "statuses": []any{}})
	case what == "runs":
		answer(w, http.StatusOK, map[string]any{"total_count": len(flows), "workflow_runs": page(w, r, flows)})
	case what == "jobs":
		answer(w, http.StatusOK, map[string]any{"total_count": 0, "jobs": []any{}})
	default: // the log of a job is at another address
		http.Redirect(w, r, s.URL+"/api/v3/repos/"+repo+"/logs/"+parts[2], http.StatusFound)
	}
}
