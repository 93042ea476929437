package forgetest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// gitlab answers as gitlab.com does.
func (s *Server) gitlab(w http.ResponseWriter, r *http.Request, repo, rest string) {
	parts := strings.Split(rest, "/")
	switch {
	case rest == "":
		answer(w, http.StatusOK, map[string]any{"default_branch": "main", "path_with_namespace": repo})
	case rest == "merge_requests" && r.Method == http.MethodGet:
		all := page(w, r, s.from(repo, r.URL.Query().Get("source_branch")))
		merges := make([]any, len(all))
		for i, q := range all {
			merges[i] = s.merge(q)
		}
		answer(w, http.StatusOK, merges)
	case rest == "merge_requests" && r.Method == http.MethodPost:
		s.openMerge(w, r, repo)
	case parts[0] == "merge_requests" && len(parts) == 2:
		s.oneMerge(w, r, repo, parts[1])
	case parts[0] == "merge_requests" && parts[2] == "discussions":
		s.discussions(w, r)
	case parts[0] == "repository":
		answer(w, http.StatusOK, map[string]any{"committed_date": s.date(repo, parts[2])})
	case parts[0] == "members":
		s.member(w, parts[2])
	default:
		s.pipelines(w, r, repo, parts)
	}
}

func (s *Server) merge(q *request) map[string]any {
	return map[string]any{
		"iid": q.Number, "web_url": s.URL + "/" + q.Repo + "/-/merge_requests/" + strconv.Itoa(q.Number), "title": q.Title, "description": q.Body,
		"state": map[string]string{"open": "opened"}[q.State] + map[string]string{"closed": "closed", "merged": "merged"}[q.State],
		"draft": strings.HasPrefix(q.Title, "Draft: "), "source_branch": q.Head, "target_branch": q.Base, "sha": s.commit(q.Repo, q.Head),
	}
}

func (s *Server) openMerge(w http.ResponseWriter, r *http.Request, repo string) {
	var in struct {
		Title, Description string
		Source             string `json:"source_branch"`
		Target             string `json:"target_branch"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in) // what is missing is refused
	q := request{Repo: repo, Title: in.Title, Body: in.Description, Head: in.Source, Base: in.Target, Draft: strings.HasPrefix(in.Title, "Draft: ")}
	opened, why := s.open(q)
	switch {
	case why == "exists":
		answer(w, http.StatusConflict, map[string]any{"message": []string{"Another open merge request already exists for this source branch: !1"}})
	case why == "invalid":
		answer(w, http.StatusBadRequest, map[string]any{"message": map[string]any{"target_branch": []string{"does not exist"}}})
	case opened == nil: // GitLab opens it all the same
		q.Number, q.State = len(s.requests)+1, "open"
		s.requests = append(s.requests, &q)
		answer(w, http.StatusCreated, s.merge(&q))
	default:
		answer(w, http.StatusCreated, s.merge(opened))
	}
}

func (s *Server) oneMerge(w http.ResponseWriter, r *http.Request, repo, number string) {
	q := s.find(repo, number)
	if q == nil {
		answer(w, http.StatusNotFound, map[string]any{"message": "404 Not found"})
		return
	}
	if r.Method == http.MethodPut {
		var in struct {
			Title, Description *string
			Target             *string `json:"target_branch"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in) // an empty one changes nothing
		q.set(in.Title, in.Description, in.Target)
	}
	answer(w, http.StatusOK, s.merge(q))
}

func (s *Server) discussions(w http.ResponseWriter, r *http.Request) {
	var all []any
	for i, c := range s.said {
		level := map[string]int{"OWNER": 50, "MEMBER": 30, "REPORTER": 20}[c.Rights]
		if level > 0 {
			s.members[i+1] = level
		}
		one := map[string]any{
			"author": map[string]any{"id": i + 1, "username": c.Author}, "body": c.Text, "created_at": later(), "resolved": c.Kind == "resolved", "system": c.Kind == "system",
		}
		if c.Path != "" {
			one["position"] = map[string]any{"new_path": c.Path, "new_line": c.Line}
		}
		all = append(all, map[string]any{"id": strconv.Itoa(i), "notes": []any{one}})
	}
	answer(w, http.StatusOK, page(w, r, all))
}

func (s *Server) member(w http.ResponseWriter, id string) {
	n, _ := strconv.Atoi(id)
	if level, is := s.members[n]; is {
		answer(w, http.StatusOK, map[string]any{"id": n, "access_level": level})
		return
	}
	answer(w, http.StatusNotFound, map[string]any{"message": "404 Not found"})
}

func (s *Server) pipelines(w http.ResponseWriter, r *http.Request, repo string, parts []string) {
	status, broken := "failed", false
	var jobs []any
	for i, c := range s.checks {
		broken = broken || c.Broken
		if !c.Broken && c.Repo == repo {
			state := map[string]string{"success": "success", "failure": "failed", "": "running"}[c.Conclusion]
			jobs = append(jobs, map[string]any{"id": i + 1, "name": c.Name, "status": state, "web_url": s.URL + "/jobs/" + strconv.Itoa(i+1)})
		}
	}
	switch what := parts[len(parts)-1]; {
	case what == "pipelines" && len(s.checks) == 0:
		answer(w, http.StatusOK, []any{})
	case what == "pipelines":
		q := s.find(repo, parts[1])
		answer(w, http.StatusOK, []any{map[string]any{"id": 9, "sha": s.commit(repo, q.Head), "status": status, "web_url": s.URL + "/pipelines/9"}})
	case what == "jobs":
		answer(w, http.StatusOK, page(w, r, jobs))
	case what == "trace":
		n, _ := strconv.Atoi(parts[1])
		_, _ = io.WriteString(w, s.checks[n-1].Output)
	case parts[0] == "pipelines":
		answer(w, http.StatusOK, map[string]any{"id": 9, "status": status, "yaml_errors": "jobs:build config contains unknown keys: skript"})
	default:
		answer(w, http.StatusNotFound, map[string]any{"message": "404 Not found"})
	}
}
