package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/redact"
)

// liveness limits every wait of these tests.
const liveness = 2 * time.Minute

// A stage is a work tree with its own host.
type stage struct {
	t    *testing.T
	dir  string // contains everything else
	tree string
	host *host.Host
}

func newStage(t *testing.T, name string) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_TEST_FSYNC=0", "CODELOOPS_SESSION_DIR=" + filepath.Join(dir, "sessions"),
		"SOME_API_KEY=secret-of-" + name,
	}
	s := &stage{t: t, dir: dir, tree: filepath.Join(dir, name)}
	s.host = &host.Host{Environ: environ, Dir: s.tree, Now: time.Now, Secrets: redact.New(environ)}
	if out, err := exec.Command("git", "init", "-q", s.tree).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// options returns the options for a run that plays a scenario.
func (s *stage) options(scenario string) Options {
	s.t.Helper()
	script := filepath.Join(s.dir, "scenario.toml")
	if err := os.WriteFile(script, []byte(scenario), 0o600); err != nil {
		s.t.Fatal(err)
	}
	settings, err := NewSettings([]loop.Flag{{Name: "agent", Values: []string{"scripted"}}, {Name: "script", Values: []string{script}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return Options{Host: s.host, Prompt: "write a file", Settings: settings}
}

func (s *stage) prepare(scenario string) *Plan {
	s.t.Helper()
	p, err := Prepare(s.t.Context(), s.options(scenario))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { p.Close() })
	return p
}

func (s *stage) has(file string) bool {
	_, err := os.Stat(filepath.Join(s.tree, file))
	return err == nil
}

// await waits until a condition holds.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(liveness); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
	}
}

// kept is a display that keeps its events and checks them against the grammar.
type kept struct {
	looptest.Grammar

	texts strings.Builder
}

func (k *kept) Handle(at loop.Stamp, e loop.Event) error {
	fmt.Fprintf(&k.texts, "%+v\n", e)
	return k.Grammar.Handle(at, e)
}

// TestTwoRuns: two runs in two work trees run at the same time in one process, each with its own
// log, display and secrets. Each actor waits for the other.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	here, there := newStage(t, "here"), newStage(t, "there")
	meet := func(own, other *stage) string {
		return fmt.Sprintf(`[[actor]]
say = "met, with $SOME_API_KEY"
step = [{ write = "ready" }, { run = "echo $SOME_API_KEY; until test -e '%s/ready'; do sleep 0.01; done" }]

[[critic]]
say = "DECISION: DONE\nSUMMARY: %s"
`, other.tree, filepath.Base(own.tree))
	}
	var all sync.WaitGroup
	for _, s := range []*stage{here, there} {
		other := here
		if s == here {
			other = there
		}
		plan := s.prepare(meet(s, other))
		all.Go(func() {
			shown := &kept{}
			out, err := plan.Run(t.Context(), shown)
			name := filepath.Base(s.tree)
			if err != nil || out.Result != loop.Success || out.Summary != name {
				t.Errorf("%s: %+v, %v", name, out, err)
			}
			log, err := os.ReadFile(plan.Log())
			if err != nil || !strings.Contains(string(log), s.tree) || strings.Contains(string(log), other.tree+`","actor_agent`) {
				t.Errorf("%s: the log is %v\n%s", name, err, log)
			}
			for _, text := range []string{string(log), shown.texts.String()} {
				if strings.Contains(text, "secret-of-") || !strings.Contains(text, redact.Mark) {
					t.Errorf("%s: a secret is shown\n%s", name, text)
				}
			}
			if err := shown.End(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if tally := plan.State(); tally.FilesChanged != 1 {
				t.Errorf("%s: %d files have changed", name, tally.FilesChanged)
			}
		})
	}
	all.Wait()
}

// start starts a run. The outcome can be received once.
func start(t *testing.T, p *Plan) <-chan loop.Outcome {
	t.Helper()
	end := make(chan loop.Outcome, 1)
	go func() {
		out, err := p.Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		end <- out
	}()
	return end
}

// TestStopOne: stopping one run does not stop another in the same process.
func TestStopOne(t *testing.T) {
	t.Parallel()
	waits := func(file string) string {
		return fmt.Sprintf("[[actor]]\nstep = [{ write = \"begun\" }, { run = \"until test -e '%s'; do sleep 0.01; done\" }]\n[[critic]]\nsay = \"DECISION: DONE\"\n", file)
	}
	one, other := newStage(t, "one"), newStage(t, "other")
	stopped, goes := one.prepare(waits("never")), other.prepare(waits("stopped"))
	ends := map[*Plan]<-chan loop.Outcome{stopped: start(t, stopped), goes: start(t, goes)}
	await(t, "both play", func() bool { return one.has("begun") && other.has("begun") })
	stopped.Control().Stop()
	if out := <-ends[stopped]; out.Result != loop.Interrupted {
		t.Errorf("the stopped run: %+v", out)
	}
	if err := os.WriteFile(filepath.Join(other.tree, "stopped"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := <-ends[goes]; out.Result != loop.Success {
		t.Errorf("the other run: %+v", out)
	}
}

// TestResume: a stopped run can be resumed after the user has accepted what changed meanwhile.
func TestResume(t *testing.T) {
	t.Parallel()
	s := newStage(t, "tree")
	plan := s.prepare(fmt.Sprintf(
		"[[actor]]\nstep = [{ write = \"a\" }]\n[[critic]]\nstep = [{ run = \"touch '%s/judges'; sleep 600\" }]\nsay = \"DECISION: DONE\"\n", s.dir))
	end := start(t, plan)
	await(t, "the critic judges", func() bool { return s.has("../judges") })
	plan.Control().Kill()
	if out := <-end; out.Result != loop.Interrupted {
		t.Fatalf("%+v", out)
	}
	was := Earlier{ID: plan.ID(), Logs: plan.Logs, Trusted: true}
	if err := plan.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.tree, "b"), []byte("b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := s.options("[[actor]]\nstep = [{ write = \"a\" }]\n[[critic]]\nsay = \"DECISION: DONE\"\n")
	for _, c := range []struct {
		answer Answer
		err    error
		want   loop.Result
		says   string
	}{
		{err: loop.ErrNobody, says: "the work tree is not as session"},
		{answer: Answer{}, says: "nothing was changed"},
		{answer: Answer{Yes: true}, want: loop.Success},
	} {
		asked := false
		o.Ask = func(_ context.Context, q Question) (Answer, error) {
			asked = q.About == Changed && strings.Contains(q.Text, "b added")
			return c.answer, c.err
		}
		again, err := Resume(t.Context(), o, was)
		if err != nil {
			t.Fatal(err)
		}
		out, err := again.Run(t.Context())
		if out.Result != c.want || !asked || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("asked %v, answered %+v: %+v, %v", asked, c.answer, out, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefused: invalid options are refused before anything is started or written.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, "tree")
	for name, edit := range map[string]func(*Options){
		"no directory":  func(o *Options) { o.Dir = "nowhere" },
		"no repository": func(o *Options) { o.Dir = s.dir },
		"no agent":      func(o *Options) { o.Settings.values["agent"] = []string{"nobody"} },
		"logs in the tree": func(o *Options) {
			o.Settings.values["session_dir"] = []string{s.tree}
		},
	} {
		o := s.options("[[actor]]\n")
		edit(&o)
		if p, err := Prepare(t.Context(), o); err == nil {
			t.Errorf("%s: there is a plan", name)
			p.Close()
		}
	}
	if logs, err := os.ReadDir(filepath.Join(s.dir, "sessions")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there are logs: %v, %v", logs, err)
	}
}

// broken is a sink that fails.
type broken struct{ handled int }

func (b *broken) Handle(loop.Stamp, loop.Event) error {
	b.handled++
	return errors.New("the screen is gone")
}

// TestSinkFails: a display that fails does not end the run, and gets no further events.
func TestSinkFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, "tree")
	o := s.options("[[actor]]\nstep = [{ write = \"a\" }]\n[[critic]]\nsay = \"DECISION: DONE\"\n")
	var dropped []error
	o.Dropped = func(_ loop.Sink, err error) { dropped = append(dropped, err) }
	p, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	gone, shown := &broken{}, &kept{}
	out, err := p.Run(t.Context(), gone, shown)
	if err != nil || out.Result != loop.Success || gone.handled != 1 || len(dropped) != 1 {
		t.Errorf("%+v, %v, %d events, %v", out, err, gone.handled, dropped)
	}
	if err := shown.End(); err != nil {
		t.Errorf("the other display: %v", err)
	}
}
