package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/cli/demo"
	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/strategy"
)

// The variables by which a test interferes with the runs that it starts and with their agents.
const (
	hitAtLine = "HIT_AT_LINE" // the number of log lines at which the signal comes
	hitBy     = "HIT_BY"      // the name of the signal
	turnsFile = "TURNS"       // where each agent records the step of its turn
	oddStep   = "ODD_STEP"    // the turn that plays the other scenario:
	oddScript = "ODD_SCRIPT"
)

// hitClock returns the clock of a run that gets a signal at a given line of its log. An event's
// time is read before the event is written, so later lines have not been written when the signal
// comes.
func hitClock() func() time.Time {
	line, err := strconv.Atoi(os.Getenv(hitAtLine))
	if err != nil {
		return time.Now
	}
	var once sync.Once
	return func() time.Time {
		if lines(os.Getenv("CODELOOPS_SESSION_DIR")) >= line {
			once.Do(func() {
				by := signalsByName[os.Getenv(hitBy)]
				_ = syscall.Kill(os.Getpid(), by.(syscall.Signal)) // the process exists
				if by == os.Kill {
					select {}
				}
			})
		}
		return time.Now()
	}
}

// lines counts the lines of the log in a directory.
func lines(sessions string) (n int) {
	logs, _ := filepath.Glob(filepath.Join(sessions, "*.jsonl"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		n += bytes.Count(text, []byte("\n"))
	}
	return n
}

// scriptedArgs makes the scripted agent record its turn, and play another scenario in the chosen turn.
func scriptedArgs(args []string) []string {
	step := os.Getenv("CODELOOPS_STEP")
	if path := os.Getenv(turnsFile); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(step + "\n")
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			panic(err)
		}
	}
	if other := os.Getenv(oddScript); other != "" && os.Getenv(oddStep) == step {
		return []string{scripted.Command, "--script", other}
	}
	return args
}

// A scene is the demonstration of a strategy, played by real processes, with interference.
type scene struct {
	t    *testing.T
	dir  string
	name string // of the strategy, or "A over B"
	at   demo.Stage
	env  []string
}

// drivers are the turns of strategies that drive another one, whose scene has none of them.
var drivers = map[string]string{
	strategy.NameReflexion:  "\n[[role.evaluator]]\nsay = \"score: 1.0\"\n",
	strategy.NameSelfRefine: "\n[[role.critique]]\nsay = \"no issues\"\n",
	strategy.NameReWOO:      "\n[[role.planner]]\nsay = '" + `{"steps": [{"id": "E1", "tool": "ask", "args": "What is it?"}, {"id": "E2", "tool": "ask", "args": "Is it {{E1}}?"}]}` + "'\n[[role.informant]]\nsay = \"It is.\"\n",
	strategy.NameDebate:     "\n[[role.debater]]\nsay = \"Do it.\"\n[[role.judge]]\nsay = \"Do it.\"\n",
	strategy.NamePlan:       "\n[[role.planner]]\nsay = \"PLAN:\\n1. Do it.\"\n[[critic]]\nsay = \"DECISION: DONE\\nSEAL: {seal}\"\n",
}

func newScene(t *testing.T, name string) *scene {
	t.Helper()
	dir := t.TempDir()
	s := &scene{t: t, dir: dir, name: name, at: demo.NewStage(dir)}
	s.env = s.at.Environ(append(os.Environ(),
		"HOME="+dir, "TMPDIR="+dir, "XDG_DATA_HOME="+filepath.Join(dir, "data"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
		"CODELOOPS_SESSION_DIR="+s.sessions(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		playCodeloops+"=1", "NO_COLOR=1", turnsFile+"="+filepath.Join(dir, "turns")))
	over, base, nested := strings.Cut(name, " over ")
	if nested {
		s.name, name = over, base
		s.env = append(s.env, "CODELOOPS_STRATEGY_BASE="+base)
	}
	if err := s.at.Set(t.Context(), s.env, name, false); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(s.at.Script())
	if err != nil {
		t.Fatal(err)
	}
	sleeps := regexp.MustCompile(`sleep = "\d+ms"`)
	if nested {
		script = append(script, drivers[over]...)
	}
	s.write("scenario.toml", sleeps.ReplaceAllString(string(script), `sleep = "1ms"`))
	return s
}

func (s *scene) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) sessions() string { return filepath.Join(s.dir, "sessions") }

// play runs codeloops, and returns its exit code and output; -1 is death by a signal.
func (s *scene) play(env []string, args ...string) (code int, out string) {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = s.at.Repository(), append(slices.Clip(s.env), env...)
	text, _ := cmd.CombinedOutput() // the exit code is returned
	s.await("the end of what was started", func() bool { return !running(s.dir, "") })
	return cmd.ProcessState.ExitCode(), string(text)
}

// begin starts the session.
func (s *scene) begin(env ...string) (code int, out string) {
	s.t.Helper()
	return s.play(env, "--agent", "scripted", "--script", s.at.Script(), "--strategy", s.name, "-n", "9")
}

// resume resumes it.
func (s *scene) resume(env ...string) (code int, out string) {
	s.t.Helper()
	return s.play(env, "resume", "--agent", "scripted", "--script", s.at.Script(), "--accept-changes", "latest")
}

func (s *scene) await(what string, there func() bool) {
	s.t.Helper()
	for end := time.Now().Add(liveness); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// begun counts the turns that agents started, by step.
func (s *scene) begun() map[loop.Step]int {
	text, _ := os.ReadFile(filepath.Join(s.dir, "turns"))
	count := map[loop.Step]int{}
	for step := range strings.FieldsSeq(string(text)) {
		count[loop.Step(step)]++
	}
	return count
}

// finished returns the turns in the log. A critic's turn is finished only with its iteration: a
// DONE without the end of the iteration does not count.
func (s *scene) finished() (steps []loop.Step) {
	whole := map[int]bool{}
	var critics []loop.Step
	for _, e := range s.log() {
		switch is := e.Event.(type) {
		case loop.ActorFinished:
			if !is.Attempt.Rejudged && is.Attempt.Ending == loop.EndCompleted {
				steps = append(steps, e.At.Step)
			}
		case loop.TurnFinished:
			if is.Reply.Ending == loop.EndCompleted {
				steps = append(steps, e.At.Step)
			}
		case loop.CriticFinished:
			critics = append(critics, e.At.Step)
		case loop.IterationFinished:
			whole[is.Round.Iteration] = true
		}
	}
	for _, step := range critics {
		if whole[step.Iteration()] {
			steps = append(steps, step)
		}
	}
	return steps
}

// log reads the only log, which may be damaged only by a torn last line.
func (s *scene) log() (all []session.Entry) {
	s.t.Helper()
	logs, _ := filepath.Glob(filepath.Join(s.sessions(), "*.jsonl"))
	if len(logs) != 1 {
		s.t.Fatalf("the logs are %q", logs)
	}
	for entry, err := range session.Read(logs[0]) {
		if err != nil && !errors.Is(err, session.ErrTorn) {
			s.t.Fatal(err)
		}
		if err == nil {
			all = append(all, entry)
		}
	}
	return all
}

// cut records, after a run was hit, which turns may be repeated: only the unfinished ones.
type cut struct {
	begun    map[loop.Step]int
	finished []loop.Step
}

func (s *scene) cut() cut { return cut{s.begun(), s.finished()} }

// holds checks that no finished turn has been repeated since.
func (s *scene) holds(c cut) {
	s.t.Helper()
	now := s.begun()
	for _, step := range c.finished {
		if now[step] != c.begun[step] {
			s.t.Errorf("the finished turn %s was repeated", step)
		}
	}
}

// done checks the same end as that of an undisturbed run: the same work, nothing left over, and a
// log that can be replayed.
func (s *scene) done(code int, out string) {
	s.t.Helper()
	if code != command.ExitDone {
		s.t.Fatalf("exit code %d\n%s", code, out)
	}
	test := exec.Command("sh", "test.sh")
	test.Dir = s.at.Repository()
	if text, err := test.CombinedOutput(); err != nil {
		s.t.Errorf("the work is missing: %s", text)
	}
	var names []string
	err := fs.WalkDir(os.DirFS(s.at.Repository()), ".", func(path string, _ fs.DirEntry, err error) error {
		if path == ".git" {
			return fs.SkipDir
		}
		names = append(names, path)
		return err
	})
	if want := []string{".", "prompt.md", "slug.sh", "test.sh"}; err != nil || !slices.Equal(names, want) {
		s.t.Errorf("the work tree has %q, %v", names, err)
	}
	if forks, _ := filepath.Glob(filepath.Join(s.sessions(), "*.d", "*")); len(forks) > 0 && strings.Contains(forks[0], "forks") {
		s.t.Errorf("left: %q", forks)
	}
	if code, out := s.play(nil, "doctor", "--clean"); code != command.ExitDone || !strings.HasPrefix(out, "nothing to clean") {
		s.t.Errorf("exit code %d\n%s", code, out)
	}
	s.verified("same")
}

// verified checks that replay --verify agrees with the log, as far as it goes.
func (s *scene) verified(how ...string) {
	s.t.Helper()
	code, out := s.play(nil, "replay", "--verify", "latest")
	if word, _, _ := strings.Cut(out, " "); code != command.ExitDone || !slices.Contains(how, word) {
		s.t.Errorf("replay --verify: exit code %d\n%s", code, out)
	}
}

// resumeToEnd resumes the session to its end.
func (s *scene) resumeToEnd() {
	s.t.Helper()
	before := s.cut()
	code, out := s.resume()
	s.holds(before)
	s.done(code, out)
}

// A mishap interferes with a scene and checks the consequences.
type mishap struct {
	name string
	play func(*scene)
}

// hit sends a signal at a line of the log and resumes the session: no finished turn is repeated,
// the work comes to the same end, nothing is left over, and the log is valid.
func hit(by string, line, want int) mishap {
	return mishap{fmt.Sprintf("%s at line %d", by, line), func(s *scene) {
		s.t.Helper()
		code, out := s.begin(hitAtLine+"="+strconv.Itoa(line), hitBy+"="+by)
		if code == command.ExitDone && by != "KILL" {
			return // the run had already ended
		}
		if code != want {
			s.t.Fatalf("exit code %d\n%s", code, out)
		}
		before := s.cut()
		if again := lines(s.sessions()) + 1 + rand.IntN(6); by == "KILL" {
			code, out = s.resume(hitAtLine+"="+strconv.Itoa(again), hitBy+"="+by)
			s.holds(before)
		}
		all := s.log()
		if end, ended := all[len(all)-1].Event.(loop.Finished); ended && end.Outcome.Reason == loop.StopDone {
			if code != command.ExitDone { // it was killed before it could tidy up
				s.play(nil, "doctor", "--clean", "--yes")
			}
			s.done(command.ExitDone, out)
			return
		}
		s.resumeToEnd()
	}}
}

// odd gives a turn no usable result; the run may end in any way after it.
func odd(what string, step loop.Step, turn string) mishap {
	return mishap{what + " of " + string(step), func(s *scene) {
		s.t.Helper()
		code, out := s.withOddTurn(step, turn)
		if code != command.ExitDone && code != command.ExitLimit && code != command.ExitError || strings.Contains(out, "(internal)") {
			s.t.Fatalf("exit code %d\n%s", code, out)
		}
		s.verified("same", "partly")
	}}
}

// withOddTurn starts the session with one turn replaced by another.
func (s *scene) withOddTurn(step loop.Step, turn string) (code int, out string) {
	s.t.Helper()
	var b strings.Builder
	for _, role := range []string{"actor", "critic"} {
		fmt.Fprintf(&b, "[[%s]]\n%s", role, turn)
	}
	roles := []loop.Role{"coder", "tester", "writer", "debater_1", "debater_2", "debater_3"}
	for _, k := range strategy.All() {
		roles = slices.AppendSeq(roles, maps.Keys(k.Roles))
	}
	slices.Sort(roles)
	for _, role := range slices.Compact(roles) {
		fmt.Fprintf(&b, "[[role.%s]]\n%s", role, turn)
	}
	s.write("odd.toml", b.String())
	return s.begin(oddStep+"="+string(step), oddScript+"="+filepath.Join(s.dir, "odd.toml"))
}

// limited plays a run with a check that never passes and too few iterations.
var limited = mishap{"limit", func(s *scene) {
	s.t.Helper()
	code, out := s.play(nil, "--agent", "scripted", "--script", s.at.Script(), "--strategy", s.name, "-n", "2", "--check", "false")
	if code != command.ExitLimit {
		s.t.Errorf("exit code %d\n%s", code, out)
	}
	s.verified("same")
}}

// TestPaidOnceByStrategies runs each strategy, also over each that it can drive, with every kind of
// trouble: kill -9 after a line of each kind in its log, and again while it is resumed, Ctrl+C after
// some, an agent that fails or gives an unreadable reply in each of its turns, and a limit. No
// finished turn is paid for twice, and every log can be replayed.
func TestPaidOnceByStrategies(t *testing.T) {
	t.Parallel()
	names := courses()
	if testing.Short() { // only strategies that fork or run turns concurrently
		names = []string{"reflexion", "rewoo", "tree-of-thoughts", "debate"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, name)
			s.done(s.begin())
			mishaps := []mishap{hit("KILL", lines(s.sessions())/2, -1)}
			if !testing.Short() {
				mishaps = []mishap{limited}
				for _, line := range s.kinds() {
					mishaps = append(mishaps, hit("KILL", line, -1))
					if rand.IntN(3) == 0 { // less depends on timing than with SIGKILL
						mishaps = append(mishaps, hit("INT", line, command.ExitInterrupted))
					}
				}
				for step := range s.begun() {
					what, turn := "failure", "exit = 1\n"
					if rand.IntN(2) == 0 {
						what, turn = "gibberish", "say = \"score: vote: NEXT: PLAN:\"\n"
					}
					mishaps = append(mishaps, odd(what, step, turn))
				}
				if strings.Contains(name, " over ") { // most of it is the same as in the strategies alone
					rand.Shuffle(len(mishaps), func(i, j int) { mishaps[i], mishaps[j] = mishaps[j], mishaps[i] })
					mishaps = mishaps[:min(nestedMishaps, len(mishaps))]
				}
			}
			for _, m := range mishaps {
				t.Run(m.name, func(t *testing.T) {
					t.Parallel()
					m.play(newScene(t, name))
				})
			}
		})
	}
}

// nestedMishaps is how many things go wrong with each strategy that drives another one.
const nestedMishaps = 3

// courses names the strategies, each alone and over each that it can drive.
func courses() (names []string) {
	for _, k := range strategy.All() {
		names = append(names, k.Name)
		if k.Base != "" {
			for _, base := range k.Bases() {
				names = append(names, k.Name+" over "+base)
			}
		}
	}
	return names
}

// kinds returns the number of one line of each kind in the log, the last excepted.
func (s *scene) kinds() []int {
	s.t.Helper()
	logs, _ := filepath.Glob(filepath.Join(s.sessions(), "*.jsonl"))
	text, err := os.ReadFile(logs[0])
	if err != nil {
		s.t.Fatal(err)
	}
	of := map[[4]string][]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var is struct{ Type, State, Role, Name string }
		if err := json.Unmarshal([]byte(line), &is); err != nil {
			s.t.Fatal(err)
		}
		if is.Type != "session_end" {
			kind := [4]string{is.Type, is.State, is.Role, is.Name}
			of[kind] = append(of[kind], i+1)
		}
	}
	var some []int
	for _, all := range of {
		some = append(some, all[rand.IntN(len(all))])
	}
	return some
}
