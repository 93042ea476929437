package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// An action is action.yml, as GitHub reads it.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Steps []struct {
			ID, Shell, Run, Uses string
			Dir                  string `yaml:"working-directory"`
			Env                  map[string]string
		}
	}
}

// expression is one of GitHub's.
var expression = regexp.MustCompile(`\$\{\{ ?([\w.-]+) ?\}\}`)

func readAction(t *testing.T) (a action) {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A runner is a machine that runs jobs of GitHub, and a server that has the repository's releases and its API.
type runner struct {
	*testing.T

	dir    string
	server *httptest.Server
	env    map[string]string

	mu    sync.Mutex
	asked []string // of the API
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	r := &runner{T: t, dir: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	archive := packed(t, map[string]string{
		"codeloops": "#!/bin/sh\nPLAY_CODELOOPS=1 exec '" + self + "' \"$@\"\n", "man/codeloops.1": "page\n", "man/codeloops-run.1": "page\n",
		"completions/codeloops.bash": "bash\n", "completions/_codeloops": "zsh\n", "completions/codeloops.fish": "fish\n",
	})
	sum := sha256.Sum256(archive)
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := "codeloops_linux_" + runtime.GOARCH + ".tar.gz"
		switch path := req.URL.Path; {
		case path == "/maker/codeloops/releases/download/v6.6.6/checksums.txt":
			_, _ = fmt.Fprintf(w, "%s  %s\n", strings.Repeat("6", 64), name)
		case path == "/maker/codeloops/releases/latest/download/"+name, path == "/maker/codeloops/releases/download/v6.6.6/"+name:
			_, _ = w.Write(archive)
		case path == "/maker/codeloops/releases/latest/download/checksums.txt":
			_, _ = fmt.Fprintf(w, "%s  codeloops_other.zip\n%s  %s\n", strings.Repeat("0", 64), hex.EncodeToString(sum[:]), name)
		case path == "/maker/codeloops/releases/latest/download/install.sh":
			http.ServeFile(w, req, "../../install.sh")
		case strings.HasPrefix(path, "/lab/") && req.Header.Get("Private-Token") == "job-token":
			r.answer(w, path)
		case strings.HasPrefix(path, "/api/") && req.Header.Get("Authorization") == "Bearer job-token":
			r.answer(w, strings.TrimPrefix(path, "/api"))
		default:
			http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
		}
	}))
	t.Cleanup(r.server.Close)
	r.begin("first")
	r.sh(r.env["GITHUB_WORKSPACE"], `git init -q -b main . && printf 'one\n' >a.txt && git add . && git commit -qm begin`)
	return r
}

// packed returns an archive of files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if w.Close() != nil || gz.Close() != nil {
		t.Fatal("the archive is not whole")
	}
	return b.Bytes()
}

// answer answers as the API does.
func (r *runner) answer(w http.ResponseWriter, path string) {
	r.mu.Lock()
	r.asked = append(r.asked, path)
	r.mu.Unlock()
	known := map[string]string{
		"/repos/you/it/collaborators/alice/permission":   `{"permission":"write"}`,
		"/repos/you/it/collaborators/mallory/permission": `{"permission":"read"}`,
		"/repos/you/it/issues/7":                         `{"title":"Write b","body":"It is $(missing) ` + "`" + `"}`,
	}
	known["/lab/projects/5/members/all/1"], known["/lab/projects/5/members/all/2"] = `{"access_level":30}`, `{"access_level":10}`
	if path == "/repos/you/it/collaborators/broken/permission" {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	if known[path] == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(known[path]))
}

// begin begins a job on a fresh machine, with an empty checkout.
func (r *runner) begin(machine string) {
	r.Helper()
	at := filepath.Join(r.dir, machine)
	for _, dir := range []string{"home/.config/codeloops", "temp", "work", "files"} {
		if err := os.MkdirAll(filepath.Join(at, dir), 0o755); err != nil {
			r.Fatal(err)
		}
	}
	config := fmt.Sprintf("[agents.rehearsal]\ncommand = [\"codeloops\", \"scripted-agent\", \"--script\", %q]\n", filepath.Join(r.dir, "scenario.toml"))
	if err := os.WriteFile(filepath.Join(at, "home/.config/codeloops/config.toml"), []byte(config), 0o600); err != nil {
		r.Fatal(err)
	}
	r.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": filepath.Join(at, "home"), "CI": "true", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b", "GORACE": "atexit_sleep_ms=0",
		"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "you/it", "GITHUB_ACTOR": "alice", "GITHUB_EVENT_NAME": "workflow_dispatch",
		"GITHUB_SERVER_URL": r.server.URL, "GITHUB_API_URL": r.server.URL + "/api", "GITHUB_WORKSPACE": filepath.Join(at, "work"),
		"RUNNER_TEMP": filepath.Join(at, "temp"), "ANTHROPIC_API_KEY": "key-of-the-vendor", "ACTIONS_RUNTIME_TOKEN": "key-of-the-job",
		"GITHUB_EVENT_PATH": filepath.Join(at, "files/event"), "GITHUB_OUTPUT": filepath.Join(at, "files/output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(at, "files/summary"), "GITHUB_PATH": filepath.Join(at, "files/path"), "GITHUB_ENV": filepath.Join(at, "files/env"),
	}
	r.event(`{"repository":{"full_name":"you/it"}}`)
}

func (r *runner) event(text string) { r.put(r.env["GITHUB_EVENT_PATH"], text) }

// scenario is what the agents play.
func (r *runner) scenario(text string) { r.put(filepath.Join(r.dir, "scenario.toml"), text) }

func (r *runner) put(file, text string) {
	r.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r *runner) read(file string) string {
	text, _ := os.ReadFile(file) // none is empty
	return string(text)
}

func (r *runner) sh(dir, script string) string {
	r.Helper()
	out, err := r.shell(dir, "set -e\n"+script, nil)
	if err != nil {
		r.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

func (r *runner) shell(dir, script string, more map[string]string) (string, error) {
	cmd := exec.CommandContext(r.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	for _, env := range []map[string]string{r.env, more} {
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// exitOf is the exit code of a script that has failed.
func exitOf(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// A done is what a job has come to.
type done struct {
	code    int
	log     string
	outputs map[string]string
	summary string
}

// play runs the steps of action.yml as they are.
func (r *runner) play(with map[string]string) (d done) {
	r.Helper()
	a := readAction(r.T)
	with["token"] = "job-token"
	value := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(expr string) string {
			name := expression.FindStringSubmatch(expr)[1]
			if input, is := strings.CutPrefix(name, "inputs."); is {
				declared, known := a.Inputs[input]
				if !known {
					r.Fatalf("no input %s is declared", input)
				}
				if given, is := with[input]; is {
					return given
				}
				return declared.Default
			}
			root, err := filepath.Abs("../..")
			known := map[string]string{"runner.temp": r.env["RUNNER_TEMP"], "github.action_repository": "maker/codeloops", "github.action_path": root}
			if known[name] == "" || err != nil {
				r.Fatalf("%s is not known here", name)
			}
			return known[name]
		})
	}
	_ = os.Remove(r.env["GITHUB_OUTPUT"])
	_ = os.Remove(r.env["GITHUB_STEP_SUMMARY"])
	for _, s := range a.Runs.Steps {
		if s.Uses != "" {
			continue
		}
		env := map[string]string{"PATH": strings.ReplaceAll(r.read(r.env["GITHUB_PATH"]), "\n", ":") + r.env["PATH"]}
		for name, text := range s.Env {
			env[name] = value(text)
		}
		out, err := r.shell(filepath.Join(r.env["GITHUB_WORKSPACE"], value(s.Dir)), s.Run, env)
		d.log += out
		if err != nil {
			d.code = exitOf(err)
			break
		}
	}
	d.outputs, d.summary = outputs(r.read(r.env["GITHUB_OUTPUT"])), r.read(r.env["GITHUB_STEP_SUMMARY"])
	return d
}

// outputs reads them as GitHub does.
func outputs(text string) map[string]string {
	all := map[string]string{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		name, end, ok := strings.Cut(lines[i], "<<")
		if !ok {
			continue
		}
		from := i + 1
		for i++; i < len(lines) && lines[i] != end; i++ {
		}
		all[name] = strings.Join(lines[from:i], "\n")
	}
	return all
}

func (r *runner) want(d done, code int, outcome, reason string) {
	r.Helper()
	if d.code != code || d.outputs["outcome"] != outcome || d.outputs["stop-reason"] != reason {
		r.Fatalf("exit %d, outcome %q (%s), want %d, %q (%s)\n%s", d.code, d.outputs["outcome"], d.outputs["stop-reason"], code, outcome, reason, d.log)
	}
}

const approves = `
[[actor]]
step = [{ write = "b.txt", content = "b\n" }, { run = "env >$(git rev-parse --git-dir)/seen" }]
[[critic]]
say = "DECISION: DONE\nSUMMARY: b is there <script>"
`

const rejects = `
[[actor]]
step = [{ write = "b.txt", content = "b\n" }, { run = "env >$(git rev-parse --git-dir)/seen" }]
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: b.txt:1 says b, not c\n\nNor is d there"
[[actor]]
step = [{ write = "b.txt", content = "c\n" }, { write = "d.txt", content = "d\n" }]
[[critic]]
say = "DECISION: DONE\nSUMMARY: c and d\nF1: settled\nF2: settled"
`

// TestActionIsDeclared: each output is one that the step writes, and no script holds an expression, which text of an
// event could turn into commands.
func TestActionIsDeclared(t *testing.T) {
	t.Parallel()
	a := readAction(t)
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("the step %q has an expression in its script", s.ID)
		}
	}
	r := newRunner(t)
	r.scenario(approves)
	got := r.play(map[string]string{"prompt": "write b please", "agent": "rehearsal"}).outputs
	for name, o := range a.Outputs {
		if _, written := got[name]; !written || o.Value != "${{ steps.codeloops.outputs."+name+" }}" {
			t.Errorf("output %s: %q, written: %v", name, o.Value, written)
		}
	}
	if len(got) != len(a.Outputs) {
		t.Errorf("%v are written, and %d declared", got, len(a.Outputs))
	}
}

func TestActionApproved(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario(approves)
	d := r.play(map[string]string{"issue": "7", "agent": "rehearsal", "checks": "test -e b.txt\n! grep -q job-token /proc/self/environ"})
	r.want(d, 0, "approved", "done")
	for name, want := range map[string]string{"verdict": "done", "summary": "b is there <script>", "feedback": "", "iterations": "1", "pr-url": ""} {
		if d.outputs[name] != want {
			r.Errorf("%s is %q, want %q", name, d.outputs[name], want)
		}
	}
	for _, file := range []string{"log", "bundle", "result-json"} {
		if st, err := os.Stat(d.outputs[file]); err != nil || st.Size() == 0 {
			r.Errorf("%s: %v", file, err)
		}
	}
	for _, part := range []string{"### codeloops: `success`", "It is $(missing) `\n", "| 1 | DONE | 1 file, +1 -0 | 2 of 2 passed |", "```text\nb is there <script>\n```"} {
		if !strings.Contains(d.summary, part) {
			r.Errorf("no %q in the summary:\n%s", part, d.summary)
		}
	}
	seen := r.read(filepath.Join(r.env["GITHUB_WORKSPACE"], ".git/seen"))
	if !strings.Contains(seen, "ANTHROPIC_API_KEY=key-of-the-vendor") {
		r.Error("the agent has no key")
	}
	for _, secret := range []string{"job-token", "key-of-the-job", "CODELOOPS_INPUT", "GITHUB_ENV="} {
		if strings.Contains(seen, secret) {
			r.Errorf("the agent has %s", secret)
		}
	}
}

func TestActionNotApproved(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario(rejects)
	with := map[string]string{"prompt": "write b please", "agent": "rehearsal", "max-iterations": "1"}
	d := r.play(with)
	r.want(d, 1, "not-approved", "max_iterations")
	if d.outputs["verdict"] != "continue" || !strings.Contains(d.outputs["feedback"], "b.txt:1 says b, not c\n\nNor is d there") {
		r.Errorf("%q", d.outputs)
	}
	for _, line := range []string{"\n::group::Iteration 1\n", "\n::error file=b.txt,line=1,title=codeloops%3A F1::b.txt:1 says b, not c"} {
		if !strings.Contains(d.log, line) {
			r.Errorf("no %q in the log:\n%s", line, d.log)
		}
	}
	if strings.Count(d.log, "\n::error file=") != 1 || !strings.Contains(d.summary, "#### Open findings") {
		r.Errorf("the log and the summary:\n%s\n%s", d.log, d.summary)
	}
	with["fail-on"] = "never"
	r.want(r.play(with), 0, "not-approved", "max_iterations")
}

func TestActionCouldNotJudge(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario("[[actor]]\nstep = [{ write = \"b.txt\", content = \"b\\n\" }]\n[[critic]]\nexit = 1\ncomplain = \"the vendor is down\"\n")
	with := map[string]string{"prompt": "write b please", "agent": "rehearsal"}
	d := r.play(with)
	r.want(d, 2, "could-not-judge", "no_decision")
	with["fail-on"] = "not-approved"
	r.want(r.play(with), 0, "could-not-judge", "no_decision")
	with["agent"] = "nobody" // nothing that passes by itself
	r.want(r.play(with), 2, "could-not-judge", "usage")
	with["agent"], with["issue"] = "rehearsal", "7"
	r.want(r.play(with), 2, "could-not-judge", "usage")
	with["fail-on"] = "never"
	r.want(r.play(with), 0, "could-not-judge", "usage")
}

// TestActionRights: who may not write to the repository starts nothing, nor does anybody if that cannot be found out.
func TestActionRights(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario(approves)
	with := map[string]string{"prompt": "write b please", "agent": "rehearsal"}
	for actor, reason := range map[string]string{"mallory": "no_rights", "stranger": "no_rights", "broken": "rights_unknown"} {
		r.env["GITHUB_TRIGGERING_ACTOR"] = actor
		d := r.play(with)
		r.want(d, 2, "could-not-judge", reason)
		if _, err := os.Stat(filepath.Join(r.env["GITHUB_WORKSPACE"], "b.txt")); err == nil || !strings.Contains(d.log, "::error title=codeloops%3A could not begin::") {
			r.Errorf("%s: an agent has worked, or nothing is told:\n%s", actor, d.log)
		}
	}
	r.env["GITHUB_EVENT_NAME"] = "schedule" // nobody has triggered it
	r.want(r.play(with), 0, "approved", "done")
}

// TestActionFork: a fork's code gets no keys, and its configuration no trust.
func TestActionFork(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario(approves)
	r.event(`{"repository":{"full_name":"you/it"},"pull_request":{"title":"Add b","body":"$(touch pwned)","base":{"sha":"x"},"head":{"repo":{"full_name":"mallory/it"}}}}`)
	with := map[string]string{"prompt": "write b please", "agent": "rehearsal", "checks": "env >.git/checked || env >../checked"}
	d := r.play(with)
	r.want(d, 0, "approved", "done")
	seen := r.read(filepath.Join(r.env["GITHUB_WORKSPACE"], ".git/seen"))
	if seen == "" || strings.Contains(seen, "key-of-the-vendor") || strings.Contains(seen, "job-token") || strings.Contains(seen, "key-of-the-job") {
		r.Errorf("the agent of a fork's pull request has:\n%s", seen)
	}
	if !strings.Contains(d.log, "agents and checks get no keys") {
		r.Error("nobody is told")
	}
	r.put(filepath.Join(r.env["GITHUB_WORKSPACE"], "codeloops.toml"), "checks = [\"true\"]\n")
	with["trust-project"] = "true"
	r.want(r.play(with), 2, "could-not-judge", "usage")
	with["pr"], with["trust-project"] = "draft", "false"
	r.sh(r.env["GITHUB_WORKSPACE"], "rm codeloops.toml")
	if d = r.play(with); d.code != 2 || !strings.Contains(d.log, "no pull request is opened for the work of a fork") {
		r.Errorf("exit %d:\n%s", d.code, d.log)
	}
}

// TestActionGate: what a pull request changes is judged by what it says, and no actor plays.
func TestActionGate(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario("[[critic]]\nexpect = [\"Add b\", \"as in $(touch pwned)\", \"+b\"]\nsay = \"DECISION: DONE\\nSUMMARY: it does\"\n")
	base := strings.TrimSpace(r.sh(r.env["GITHUB_WORKSPACE"], "git rev-parse HEAD; echo b >b.txt; git add .; git commit -qm b"))
	event := `{"repository":{"full_name":"you/it"},"pull_request":{"title":"Add b","body":"as in $(touch pwned)","base":{"sha":"` + base + `"},"head":{"repo":{"full_name":"you/it"}}}}`
	r.event(event)
	with := map[string]string{"gate-only": "true", "critic-agent": "rehearsal"}
	d := r.play(with)
	r.want(d, 0, "approved", "done")
	if out := r.sh(r.env["GITHUB_WORKSPACE"], "git status --short"); out != "" || !strings.Contains(d.summary, "+1 -0") {
		r.Errorf("%s\n%s", out, d.summary)
	}
	r.event(strings.ReplaceAll(event, base, strings.Repeat("1", 40)))
	r.want(r.play(with), 2, "could-not-judge", "usage")
}

// TestActionResumes: a second job on a fresh machine goes on where the first one has ended, and a third takes what was approved.
func TestActionResumes(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.scenario(rejects)
	with := map[string]string{"prompt": "write b please", "agent": "rehearsal", "max-iterations": "1", "checks": "true"}
	first := r.play(with)
	r.want(first, 1, "not-approved", "max_iterations")
	checkout := r.env["GITHUB_WORKSPACE"]
	files := `find . -path ./.git -prune -o -type f -printf '%p %m ' -exec sha256sum {} \; | sort`
	was := r.sh(checkout, files)

	r.begin("second")
	r.sh(r.env["GITHUB_WORKSPACE"], "git clone -q "+checkout+" .")
	d := r.play(map[string]string{"resume-from": first.outputs["bundle"], "agent": "rehearsal", "max-iterations": "1", "checks": "true"})
	if d.code != 2 || !strings.Contains(d.log, "has used its 1 iteration") {
		r.Fatalf("exit %d:\n%s", d.code, d.log)
	}
	if now := r.sh(r.env["GITHUB_WORKSPACE"], files); now != was {
		r.Errorf("the second machine has other files:\n%s\nwant\n%s", now, was)
	}

	r.begin("third")
	r.sh(r.env["GITHUB_WORKSPACE"], "git clone -q "+checkout+" .")
	d = r.play(map[string]string{"resume-from": first.outputs["bundle"], "agent": "rehearsal", "max-iterations": "3", "checks": "true"})
	r.want(d, 0, "approved", "done")
	if d.outputs["iterations"] != "2" || d.outputs["session-id"] != first.outputs["session-id"] {
		r.Errorf("%v", d.outputs)
	}
	program := filepath.Join(r.env["RUNNER_TEMP"], "codeloops-bin/codeloops")
	r.sh(r.dir, program+" replay --verify "+d.outputs["log"])
	want := r.sh(r.env["GITHUB_WORKSPACE"], files)

	r.begin("writer") // it needs no agent, and no key
	r.sh(r.env["GITHUB_WORKSPACE"], "git clone -q "+checkout+" .")
	d = r.play(map[string]string{"resume-from": d.outputs["bundle"]})
	r.want(d, 0, "approved", "done")
	if now := r.sh(r.env["GITHUB_WORKSPACE"], files); now != want {
		r.Errorf("the writer has other files:\n%s\nwant\n%s", now, want)
	}
}

// TestActionChecksum: a program that is not the one of the release, or not the one that was asked for, is not installed.
func TestActionChecksum(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	with := map[string]string{"prompt": "write b please", "agent": "rehearsal", "sha256": strings.Repeat("1", 64)}
	if d := r.play(with); d.code != 1 || !strings.Contains(d.log, "which was asked for") || len(d.outputs) > 0 {
		t.Errorf("exit %d:\n%s", d.code, d.log)
	}
	with["sha256"], with["version"] = "", "6.6.6"
	if d := r.play(with); d.code != 1 || !strings.Contains(d.log, "is not what the release says") || len(d.outputs) > 0 {
		t.Errorf("exit %d:\n%s", d.code, d.log)
	}
	with["version"] = "v7"
	if d := r.play(with); d.code != 1 || !strings.Contains(d.log, "hint: is the version right?") {
		t.Errorf("exit %d:\n%s", d.code, d.log)
	}
	if _, err := os.Stat(filepath.Join(r.env["RUNNER_TEMP"], "codeloops-bin")); err == nil {
		t.Error("a program is there")
	}
}

// TestInstallScript: without a job around it, install.sh puts all that an archive has below a prefix, also over what runs.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out := r.sh(r.dir, "CODELOOPS_REPOSITORY=maker/codeloops sh '"+root+"/install.sh'")
		if !strings.Contains(out, "installed codeloops ") || !strings.Contains(out, ".local/bin is not on your PATH") {
			t.Error(out)
		}
	}
	for file, mode := range map[string]os.FileMode{
		"bin/codeloops": 0o755, "share/man/man1/codeloops-run.1": 0o644, "share/bash-completion/completions/codeloops": 0o644,
		"share/zsh/site-functions/_codeloops": 0o644, "share/fish/vendor_completions.d/codeloops.fish": 0o644,
	} {
		if st, err := os.Stat(filepath.Join(r.env["HOME"], ".local", file)); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v", file, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(r.env["HOME"], ".local/*/.*.new")); left != nil {
		t.Error(left)
	}
}
