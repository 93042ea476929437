package e2e

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
)

// A stage is everything that one run of codeloops needs: a repository, its own home with a
// configured agent, and a model.
type stage struct {
	t    *testing.T
	cli  cli
	key  string // of the model, and in the environment of every process
	dir  string // the parent of all files
	work string // the repository
	url  string // of the model
	conf string // the user's configuration of codeloops

	actor, critic string // the agents that work and judge; "" is the stage's agent
}

func newStage(t *testing.T, c cli, script model.Script) *stage {
	t.Helper()
	name := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
	s := &stage{t: t, cli: c, key: fmt.Sprintf("%s-%08x", name, rand.Uint32()), dir: t.TempDir()}
	s.work = filepath.Join(s.dir, "work")
	s.url = services.serve(s.key, script)
	for _, dir := range []string{"home", "tmp", "bin", "work", "sessions"} {
		s.must(os.Mkdir(filepath.Join(s.dir, dir), 0o700))
	}
	s.link()
	s.repository()
	s.configure()
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	s.must(os.MkdirAll(filepath.Dir(path), 0o700))
	s.must(os.WriteFile(path, []byte(text), 0o600))
}

func (s *stage) repository() {
	s.t.Helper()
	s.write("work/README.md", "A repository to work in.\n")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "A"},
		{"config", "user.email", "a@example.com"},
		{"add", "-A"},
		{"commit", "-q", "-m", "start"},
	} {
		s.git(args...)
	}
}

func (s *stage) git(args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.work, s.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// link puts the agent on the PATH. If E2E_TRACE names a directory, it is a wrapper that saves the
// agent's output: useful for samples, but in the way of signals.
func (s *stage) link() {
	s.t.Helper()
	bin, dir := filepath.Join(s.dir, "bin", s.cli.name), os.Getenv(traceVar)
	if node := s.cli.runtime(); node != "" {
		s.must(os.Symlink(node, filepath.Join(s.dir, "bin", "node")))
	}
	if dir == "" {
		s.must(os.Symlink(s.cli.program(), bin))
		return
	}
	to := filepath.Join(dir, s.key+".$CODELOOPS_ROLE-$CODELOOPS_ITERATION")
	s.must(os.WriteFile(bin, fmt.Appendf(nil, "#!/bin/sh\n%s \"$@\"\nrc=$?\n"+
		"sleep 0.2\nfor out in stdout stderr; do\n"+
		"cp %[3]s/sessions/*.d/$(printf %%03d \"$CODELOOPS_ITERATION\").\"$CODELOOPS_ROLE\".$out %[2]s.$out\ndone\necho $rc \"$@\" >%[2]s.call\nexit $rc\n",
		s.cli.program(), to, quoted(s.dir)), 0o700))
}

// configure writes the agent's configuration with the model's current address.
func (s *stage) configure() {
	s.t.Helper()
	if s.cli.files == nil {
		return
	}
	for name, text := range s.cli.files(s.url) {
		s.write(filepath.Join("home", name), text)
	}
}

// env is the whole environment: nothing is inherited from the test process.
func (s *stage) env() []string {
	env := []string{
		"PATH=" + filepath.Join(s.dir, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(s.dir, "home"), "TMPDIR=" + filepath.Join(s.dir, "tmp"), "LANG=C.UTF-8", "NO_COLOR=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"CODELOOPS_SESSION_DIR=" + filepath.Join(s.dir, "sessions"), "E2E_STAGE=" + s.key,
	}
	if s.cli.env != nil {
		env = append(env, s.cli.env(s.url)...)
	}
	return env
}

// judge is a critic that needs no model and says the given text.
func (s *stage) judge(words string) {
	s.critic = "judge"
	s.write("judge", words)
	s.conf += fmt.Sprintf("[agents.judge]\ncommand = [\"/bin/sh\", \"-c\", \"cat >/dev/null; cat %s\"]\n",
		filepath.Join(s.dir, "judge"))
}

// employ is an actor that needs no model and runs a shell command.
func (s *stage) employ(command string) {
	s.actor = "hand"
	s.conf += fmt.Sprintf("[agents.hand]\ncommand = [\"/bin/sh\", \"-c\", %q]\n", "cat >/dev/null; "+command)
}

// A run is codeloops in progress.
type run struct {
	*stage
	cmd    *exec.Cmd
	began  time.Time
	ended  chan error
	events *follower
}

// start starts codeloops with the agent as the actor, and as the critic unless there is a judge.
func (s *stage) start(args ...string) *run {
	s.t.Helper()
	all := []string{"run", "--json-output", "--log-format", "json", "--actor-agent", cmp.Or(s.actor, s.cli.name)}
	if s.actor == "" && s.cli.model != "" {
		all = append(all, "--actor-model", s.cli.model)
	}
	all = append(all, "--critic-agent", cmp.Or(s.critic, s.cli.name))
	if s.critic == "" && s.cli.model != "" {
		all = append(all, "--critic-model", s.cli.model)
	}
	return s.launch(append(all, args...)...)
}

// carryOn resumes the last session.
func (s *stage) carryOn(args ...string) *run {
	s.t.Helper()
	return s.launch(append([]string{"resume", "--json-output", "--log-format", "json"}, args...)...)
}

func (s *stage) launch(args ...string) *run {
	s.t.Helper()
	s.write("home/.config/codeloops/config.toml", s.conf)
	r := &run{stage: s, ended: make(chan error, 1)}
	r.cmd = exec.Command(os.Getenv(binaryVar), args...)
	r.cmd.Dir, r.cmd.Env = s.work, s.env()
	out, err := os.Create(filepath.Join(s.dir, "stdout"))
	s.must(err)
	defer out.Close()
	events, err := r.cmd.StderrPipe()
	s.must(err)
	r.cmd.Stdout = out
	r.began = time.Now()
	s.must(r.cmd.Start())
	r.events = follow(events)
	go func() {
		<-r.events.over
		r.ended <- r.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it has usually ended
		killAll(s.key)
	})
	return r
}

// patience bounds every wait. When it is exceeded, something hangs and is not just slow.
const patience = 10 * time.Minute

// await waits for a condition.
func (r *run) await(what string, there func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for !there() {
		select {
		case err := <-r.ended:
			r.t.Fatalf("it ended before %s: %v\n%s", what, err, r.events.text())
		case <-ctx.Done():
			r.t.Fatalf("timed out waiting for %s\n%s", what, r.events.text())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (r *run) awaitFile(name string) {
	r.t.Helper()
	r.await(name, func() bool { return r.reached(name) })
}

// reached reports whether a file exists.
func (r *run) reached(name string) bool {
	_, err := os.Stat(filepath.Join(r.work, name))
	return err == nil
}
