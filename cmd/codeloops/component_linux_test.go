package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A component is templates/codeloops.yml.
type component struct {
	inputs map[string]struct{ Default string }
	job    struct {
		Variables map[string]yaml.Node
		Script    []string
	}
}

func readComponent(t *testing.T) (c component) {
	t.Helper()
	text, err := os.ReadFile("../../templates/codeloops.yml")
	if err != nil {
		t.Fatal(err)
	}
	docs := yaml.NewDecoder(bytes.NewReader(text))
	var head struct {
		Spec struct {
			Inputs map[string]struct{ Default string }
		}
	}
	var jobs map[string]yaml.Node
	if err := errors.Join(docs.Decode(&head), docs.Decode(&jobs)); err != nil {
		t.Fatal(err)
	}
	job := jobs["$[[ inputs.job-name ]]"]
	if err := job.Decode(&c.job); err != nil {
		t.Fatal(err)
	}
	c.inputs = head.Spec.Inputs
	return c
}

// TestComponentInputs: the component has all inputs of the action but those that GitLab has other means for.
func TestComponentInputs(t *testing.T) {
	t.Parallel()
	c := readComponent(t)
	for _, name := range slices.Sorted(maps.Keys(readAction(t).Inputs)) {
		if _, has := c.inputs[name]; !has && name != "token" && name != "artifact" {
			t.Errorf("the component has no input %s", name)
		}
	}
	for _, line := range c.job.Script {
		if strings.Contains(line, "$[[") {
			t.Errorf("the script has an input in it: %s", line)
		}
	}
}

// play runs the script of the component as it is.
func (c component) play(r *runner, with map[string]string) (d done) {
	r.Helper()
	input, variable := regexp.MustCompile(`\$\[\[ inputs\.([\w-]+) \]\]`), regexp.MustCompile(`\$(CI_\w+)`)
	env := map[string]string{}
	for name, node := range c.job.Variables {
		var long struct{ Value string }
		text := node.Value
		if node.Kind == yaml.MappingNode && node.Decode(&long) == nil {
			text = long.Value
		}
		text = variable.ReplaceAllStringFunc(text, func(name string) string { return r.env[name[1:]] })
		env[name] = input.ReplaceAllStringFunc(text, func(expr string) string {
			name := input.FindStringSubmatch(expr)[1]
			if given, is := with[name]; is {
				return given
			}
			return c.inputs[name].Default
		})
	}
	out, err := r.shell(r.env["CI_PROJECT_DIR"], strings.Join(c.job.Script, "\n"), env)
	d.log = out
	if err != nil {
		d.code = exitOf(err)
	}
	d.outputs = map[string]string{}
	for line := range strings.Lines(r.read(env["CODELOOPS_DOTENV"])) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		d.outputs[strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "CODELOOPS_"), "_", "-"))] = value
	}
	d.summary = r.read(env["CODELOOPS_SUMMARY"])
	return d
}

// lab makes the runner one of GitLab.
func (r *runner) lab(user string) {
	for name := range r.env {
		if strings.HasPrefix(name, "GITHUB_") || strings.HasPrefix(name, "RUNNER_") {
			delete(r.env, name)
		}
	}
	maps.Copy(r.env, map[string]string{
		"GITLAB_CI": "true", "CI_JOB_ID": "1", "CI_PROJECT_ID": "5", "CI_API_V4_URL": r.server.URL + "/lab", "GITLAB_USER_ID": user, "GITLAB_USER_LOGIN": "user" + user,
		"CI_PROJECT_DIR": filepath.Join(r.dir, "first/work"), "TMPDIR": filepath.Join(r.dir, "first/temp"), "CODELOOPS_TOKEN": "job-token",
		"CI_MERGE_REQUEST_PROJECT_ID": "5", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "5",
	})
}

// TestComponent: the same outcomes as with the action, findings in GitLab's report, outputs as variables.
func TestComponent(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario(rejects)
	c := readComponent(t)
	r.lab("1")
	with := map[string]string{"prompt": "write $b\nplease", "agent": "rehearsal", "max-iterations": "1", "server": r.server.URL, "repository": "maker/codeloops"}
	d := c.play(r, with)
	r.want(d, 1, "not-approved", "max_iterations")
	if d.outputs["feedback"] != "b.txt:1 says b, not c Nor is d there" || !strings.Contains(d.summary, "write $b\nplease") {
		r.Errorf("%q\n%s", d.outputs, d.summary)
	}
	report := r.read(filepath.Join(r.env["CI_PROJECT_DIR"], "codeloops-out/code-quality.json"))
	if !strings.Contains(report, `"location":{"path":"b.txt","lines":{"begin":1}}`) || strings.Count(report, "fingerprint") != 1 {
		r.Error(report)
	}
	if files, _ := filepath.Glob(filepath.Join(r.env["CI_PROJECT_DIR"], "codeloops-out/*")); len(files) != 6 || strings.Contains(d.log, "codeloops-out  +") {
		r.Errorf("%q\n%s", files, d.log)
	}

	r.lab("2") // a guest
	r.want(c.play(r, with), 2, "could-not-judge", "no_rights")
	r.lab("1")
	r.env["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"] = "6" // a fork
	d = c.play(r, with)
	r.want(d, 1, "not-approved", "max_iterations")
	if seen := r.read(filepath.Join(r.env["CI_PROJECT_DIR"], ".git/seen")); seen == "" || strings.Contains(seen, "key-of-the-vendor") || strings.Contains(seen, "job-token") {
		r.Errorf("the agent of a fork has:\n%s", seen)
	}
}
