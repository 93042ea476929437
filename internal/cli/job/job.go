// Package job is codeloops as a step of a CI job: what the step is asked to do, whether it may do that for whoever has
// triggered it, and what it tells the steps behind it.
//
// What comes with an event, such as the title of an issue, is anybody's text: it reaches the agents as a task, and nothing
// else.
package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/redact/secretname"
	"codeloops/internal/screen/ci"
	"codeloops/internal/wording/hint"
)

// variable begins the names of the variables that hold the step's inputs: critic-agent is CODELOOPS_INPUT_CRITIC_AGENT.
const variable = "CODELOOPS_INPUT_"

// A Job is the job of a CI system.
type Job struct {
	system ci.System
	getenv func(string) string
	http   http.Client
	event  event
}

// An event is what has triggered a job of GitHub.
type event struct {
	Repository  project
	PullRequest *pull `json:"pull_request"`
	Issue       *struct {
		Number      int
		PullRequest *struct{} `json:"pull_request"` // it is one
	}
	WorkflowRun *struct {
		HeadRepository *project `json:"head_repository"`
	} `json:"workflow_run"`
}

type project struct {
	FullName string `json:"full_name"`
}

// A pull is a pull request.
type pull struct {
	Title, Body string
	Base        struct{ SHA string }
	Head        struct {
		Repo *project // nil: it was deleted
	}
}

// callTime limits how long the server may take to answer.
const callTime = 30 * time.Second

// New returns the job that this process is part of. getenv looks up an environment variable.
func New(getenv func(string) string) (*Job, error) {
	j := &Job{system: ci.Of(ci.Auto, getenv), getenv: getenv, http: http.Client{Timeout: callTime}}
	if j.system == ci.None {
		return nil, hint.Errorf("see codeloops help ci", "this is no job of GitHub or GitLab")
	}
	file := getenv("GITHUB_EVENT_PATH")
	if j.system != ci.GitHub || file == "" {
		return j, nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &j.event)
	}
	if err != nil {
		return nil, fmt.Errorf("read the event of the job: %w", err)
	}
	return j, nil
}

// input returns an input of the step.
func (j *Job) input(name string) string {
	return strings.TrimSpace(j.getenv(variable + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))))
}

// Environ returns the environment for codeloops in the job, and thus for its agents: without the inputs and the job's own
// keys. For a fork's pull request no variable is left whose name looks secret: its code could read them.
func (j *Job) Environ(environ []string, fork bool) (left []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		own := strings.HasPrefix(name, variable) || strings.HasPrefix(name, "ACTIONS_") && secretname.Is(name)
		if !own && (!fork || !secretname.Is(name)) {
			left = append(left, entry)
		}
	}
	return left
}

// get asks the API of the server. That it does not answer is a [*RefusedError].
func (j *Job) get(path string, out any) (status int, err error) {
	address := cmp.Or(j.getenv("GITHUB_API_URL"), "https://api.github.com")
	if j.system == ci.GitLab {
		address = j.getenv("CI_API_V4_URL")
	}
	req, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(address, "/")+path, http.NoBody) //nolint:noctx // the client has a limit
	if err != nil {
		return 0, err
	}
	if j.system == ci.GitLab {
		req.Header.Set("Private-Token", j.input("token"))
	} else {
		req.Header.Set("Authorization", "Bearer "+j.input("token"))
		req.Header.Set("Accept", "application/vnd.github+json")
	}
	res, err := j.http.Do(req)
	if err != nil {
		return 0, &RefusedError{"no_answer", err}
	}
	defer res.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(res.Body, 8<<20))
	if err == nil && res.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, out)
	}
	if err == nil && res.StatusCode >= http.StatusInternalServerError {
		err = &RefusedError{"no_answer", fmt.Errorf("the server answers with %d", res.StatusCode)}
	}
	return res.StatusCode, err
}

// pull returns the pull request that the job is about; nil if it is about none.
func (j *Job) pull() (*pull, error) {
	e := &j.event
	if e.PullRequest != nil || e.Issue == nil || e.Issue.PullRequest == nil {
		return e.PullRequest, nil
	}
	status, err := j.get("/repos/"+j.getenv("GITHUB_REPOSITORY")+"/pulls/"+strconv.Itoa(e.Issue.Number), &e.PullRequest)
	if err == nil && e.PullRequest == nil {
		err = fmt.Errorf("the server answers with %d", status)
	}
	if err != nil {
		return nil, fmt.Errorf("ask about pull request %d: %w", e.Issue.Number, err)
	}
	return e.PullRequest, nil
}

// Fork reports whether what is checked out comes from a fork.
func (j *Job) Fork() (bool, error) {
	if j.system == ci.GitLab {
		source := j.getenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
		return source != "" && source != j.getenv("CI_MERGE_REQUEST_PROJECT_ID"), nil
	}
	own := cmp.Or(j.event.Repository.FullName, j.getenv("GITHUB_REPOSITORY"))
	if run := j.event.WorkflowRun; run != nil {
		return run.HeadRepository == nil || run.HeadRepository.FullName != own, nil
	}
	p, err := j.pull()
	return p != nil && (p.Head.Repo == nil || p.Head.Repo.FullName != own), err
}

// A RefusedError says why a job may not do what it was asked to.
type RefusedError struct {
	Reason string // a word for machines
	Err    error
}

func (r *RefusedError) Error() string { return r.Err.Error() }

func (r *RefusedError) Unwrap() error { return r.Err }

// Permit returns a [*RefusedError] unless whoever has triggered the job may write to the repository. What runs by the clock is
// triggered by nobody. GitLab itself lets nobody else start a pipeline, and is asked only if there is a token to ask with.
func (j *Job) Permit() error {
	who, may, err := j.getenv("GITLAB_USER_LOGIN"), true, error(nil)
	switch {
	case j.system == ci.GitLab && j.input("token") != "":
		var member struct {
			AccessLevel int `json:"access_level"`
		}
		_, err = j.get("/projects/"+j.getenv("CI_PROJECT_ID")+"/members/all/"+j.getenv("GITLAB_USER_ID"), &member)
		may = member.AccessLevel >= developer
	case j.system == ci.GitHub && j.getenv("GITHUB_EVENT_NAME") != "schedule":
		var has struct{ Permission string }
		status := 0
		who = cmp.Or(j.getenv("GITHUB_TRIGGERING_ACTOR"), j.getenv("GITHUB_ACTOR"))
		status, err = j.get("/repos/"+j.getenv("GITHUB_REPOSITORY")+"/collaborators/"+who+"/permission", &has)
		may = has.Permission == "admin" || has.Permission == "write"
		if err == nil && status != http.StatusOK && status != http.StatusNotFound {
			err = fmt.Errorf("the server answers with %d", status)
		}
	}
	if err != nil {
		return &RefusedError{"rights_unknown", hint.Add(fmt.Errorf("find out what %s may do: %w", who, err), "is the token there, and may it read the repository?")}
	}
	if !may {
		return &RefusedError{"no_rights", hint.Errorf("let somebody who may write to the repository trigger it", "%s may not write to this repository, and so cannot have agents work in it", who)}
	}
	return nil
}

// developer is the access level of GitLab from which on a member may push.
const developer = 30
