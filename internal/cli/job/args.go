package job

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"codeloops/internal/screen/ci"
	"codeloops/internal/wording/hint"
)

// settings are the inputs that are flags of the same name.
func settings() []string {
	return []string{
		"agent", "actor-agent", "critic-agent", "model", "actor-model", "critic-model", "fallback",
		"max-iterations", "max-duration", "max-cost", "max-tokens", "actor-timeout", "critic-timeout", "strategy",
	}
}

// ofActors are those that mean nothing where no actor plays.
func ofActors() []string {
	return []string{"actor-agent", "actor-model", "actor-timeout", "max-iterations", "strategy"}
}

// Flags returns the flags of a run, or of the gate.
func (j *Job) Flags(fork bool) (flags []string, err error) {
	for _, name := range settings() {
		value := j.input(name)
		switch {
		case value == "":
		case j.Gates() && slices.Contains(ofActors(), name):
			return nil, hint.Errorf("leave it out", "%s is of an actor, and with gate-only none plays", name)
		default:
			flags = append(flags, "--"+name+"="+value)
		}
	}
	for check := range strings.Lines(j.input("checks")) {
		if check = strings.TrimSpace(check); check != "" {
			flags = append(flags, "--check="+check)
		}
	}
	if trust, err := j.yes("trust-project"); err != nil {
		return nil, err
	} else if trust && !fork { // a fork's file is its author's
		flags = append(flags, "--trust-project")
	}
	return flags, nil
}

// Gates reports whether only what is there is judged.
func (j *Job) Gates() bool {
	yes, _ := j.yes("gate-only") // Check has told
	return yes
}

// yes returns an input that is true or false.
func (j *Job) yes(name string) (bool, error) {
	value := j.input(name)
	return value == "true", oneOf(name, value, "true", "false", "")
}

func oneOf(name, value string, all ...string) error {
	if slices.Contains(all, value) {
		return nil
	}
	return hint.Errorf("it is one of "+strings.TrimSuffix(strings.Join(all, ", "), ", "), "the input %s is %q", name, value)
}

// Check rejects inputs that make no sense.
func (j *Job) Check() error {
	if _, err := j.yes("gate-only"); err != nil {
		return err
	}
	if err := oneOf("pr", j.input("pr"), "none", "draft", "ready", ""); err != nil {
		return err
	}
	var given []string
	for _, name := range []string{"prompt", "prompt-file", "issue", "resume-from"} {
		if j.input(name) != "" {
			given = append(given, name)
		}
	}
	switch {
	case len(given) > 1:
		return hint.Errorf("leave one of them out", "the inputs %s contradict each other", strings.Join(given, " and "))
	case j.Gates() && j.input("resume-from") != "":
		return hint.Errorf("leave one of them out", "a session is not resumed to judge a change")
	case j.Gates() && j.Request() != "":
		return hint.Errorf("leave one of them out", "there is no work to open a pull request for with gate-only")
	}
	return oneOf("fail-on", j.input("fail-on"), "error", "not-approved", "never", "")
}

// Request is which pull request to open for work that was approved: draft, ready, or "" for none.
func (j *Job) Request() string { return strings.TrimPrefix(j.input("pr"), "none") }

// Tokens are the variables with which a pull request is opened.
func (j *Job) Tokens() []string {
	token := j.input("token")
	if j.system == ci.GitLab {
		return []string{"GITLAB_TOKEN=" + token}
	}
	return []string{"GH_TOKEN=" + token, "GITHUB_TOKEN=" + token, "GH_ENTERPRISE_TOKEN=" + token}
}

// Resumes is the file of the session to go on with; "" if there is none.
func (j *Job) Resumes() string { return j.input("resume-from") }

// Task returns the flags that give the task.
func (j *Job) Task() ([]string, error) {
	name := map[bool]string{false: "prompt", true: "task"}[j.Gates()]
	switch {
	case j.input("prompt-file") != "":
		return []string{"--" + name + "-file=" + j.input("prompt-file")}, nil
	case j.input("issue") != "":
		text, err := j.issue(j.input("issue"))
		return []string{"--" + name + "=" + text}, err
	case j.input("prompt") != "":
		return []string{"--" + name + "=" + j.input("prompt")}, nil
	case j.Gates():
		text, err := j.description()
		if err == nil && text != "" {
			return []string{"--task=" + text}, nil
		}
		return nil, err
	}
	return nil, nil
}

// Base returns the flags that say what the change is measured from.
func (j *Job) Base() ([]string, error) {
	base := j.input("since")
	if base == "" && j.system == ci.GitLab {
		base = j.getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA")
	}
	if base == "" {
		p, err := j.pull()
		if err != nil || p == nil {
			return nil, err
		}
		base = p.Base.SHA
	}
	if base == "" {
		return nil, nil
	}
	return []string{"--since=" + base}, nil
}

// issue returns the text of an issue, given its number or its address.
func (j *Job) issue(ref string) (string, error) {
	number := strings.TrimPrefix(ref[strings.LastIndex(ref, "/")+1:], "#")
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return "", hint.Errorf("name its number", "the input issue is %q", ref)
	}
	var is struct{ Title, Body, Description string }
	path := "/repos/" + j.getenv("GITHUB_REPOSITORY") + "/issues/" + number
	if j.system == ci.GitLab {
		path = "/projects/" + j.getenv("CI_PROJECT_ID") + "/issues/" + number
	}
	status, err := j.get(path, &is)
	if err == nil && status != http.StatusOK {
		err = hint.Errorf("is it there, and may the token read issues?", "the server answers with %d", status)
	}
	if err != nil {
		return "", fmt.Errorf("read issue %s: %w", number, err)
	}
	return joined(is.Title, is.Body+is.Description), nil
}

// description is what the pull or merge request says about itself; "" if the job is about none.
func (j *Job) description() (string, error) {
	if j.system == ci.GitLab {
		return joined(j.getenv("CI_MERGE_REQUEST_TITLE"), j.getenv("CI_MERGE_REQUEST_DESCRIPTION")), nil
	}
	p, err := j.pull()
	if err != nil || p == nil {
		return "", err
	}
	return joined(p.Title, p.Body), nil
}

func joined(title, body string) string { return strings.TrimSpace(title + "\n\n" + body) }
