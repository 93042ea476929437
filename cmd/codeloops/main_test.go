package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"codeloops/internal/agent"
	"codeloops/internal/agent/scripted"
	"codeloops/internal/command"
	"codeloops/internal/config/host"
	"codeloops/internal/forge/forgetest"
	"codeloops/internal/proc"
	"codeloops/internal/queue/hub/hubtest"
	"codeloops/internal/screen/term"
	"codeloops/internal/view"
)

// playCodeloops is the variable that makes the test binary act as codeloops.
const playCodeloops = "PLAY_CODELOOPS"

// TestMain makes the test binary act as codeloops itself and as every agent CLI that the scripts
// put on the PATH: real processes, with scripted behaviour.
func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	// Otherwise each process under the race detector sleeps a second at its end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	play := func() {
		if path := os.Getenv(bugAt); path != "" {
			go panicOnce(path)
		}
		os.Exit((&app{board: leases(), Console: &command.Console{
			Streams: term.New(os.Stdin, os.Stdout, os.Stderr, os.Getenv),
			Host:    host.Host{Environ: os.Environ(), Now: hitClock()},
		}}).run(os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == scripted.Command {
		os.Args = append(os.Args[:1], scriptedArgs(os.Args[1:])...)
		play()
	}
	if os.Getenv(playCodeloops) != "" {
		play() // started by a test that is not a script
	}
	commands := map[string]func(){"codeloops": play}
	for _, name := range []string{"claude", "codex", "opencode", "cursor-agent", "mine"} {
		commands[name] = fakeAgent
	}
	testscript.Main(tests{m}, commands)
}

// bugAt names a variable with the path of a file: once it is there, a goroutine of codeloops panics.
const bugAt = "CODELOOPS_TEST_BUG_AT"

func panicOnce(path string) {
	for {
		if _, err := os.Stat(path); err == nil {
			panic("a bug")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// tests keep the scripts' files until the end: ext4 creates files slowly while others are being
// removed.
type tests struct{ *testing.M }

// works is the parent of the scripts' work directories.
var works string

func (t tests) Run() int {
	dir, err := os.MkdirTemp("", "codeloops-scripts-")
	if err != nil {
		panic(err)
	}
	works = dir
	code := t.M.Run()
	_ = os.RemoveAll(dir)
	return code
}

// fakeAgent is an agent CLI that writes its arguments to argv.<role> and plays the scenario that
// the variable SCENARIO names, in the output format of the real CLI.
func fakeAgent() {
	if asked := strings.Join(os.Args[1:], " "); asked == "auth status" || asked == "login status" {
		fakeLogin()
	}
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fakeVersion()
	}
	if len(os.Args) == 2 && os.Args[1] == "models" {
		fmt.Println("loading the list\nanthropic/one\nlocal/two")
		os.Exit(0)
	}
	record := filepath.Join(os.Getenv("RECORD"), "argv."+os.Getenv("CODELOOPS_ROLE"))
	line := strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " ") + "\n"
	f, err := os.OpenFile(record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	args := []string{"--script", os.Getenv("SCENARIO")}
	if spec, err := agent.Find(filepath.Base(os.Args[0])); err == nil && spec.Output != agent.Text {
		args = append(args, "--format", string(spec.Output))
	} else if len(os.Args) > 1 && os.Args[1] == "--claude" {
		args = append(args, "--format", "claude-stream-json")
	}
	os.Exit(scripted.Main(context.Background(), scripted.Invocation{
		Args:  args,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Now: time.Now,
	}))
}

// fakeLogin reports whether an agent is signed in: with the exit code in the file keyring.<name>,
// or otherwise that it is not.
func fakeLogin() {
	code, err := os.ReadFile(filepath.Join(os.Getenv("RECORD"), "keyring."+filepath.Base(os.Args[0])))
	if err != nil {
		os.Exit(1)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(code)))
	if err != nil {
		os.Exit(1)
	}
	os.Exit(n)
}

// fakeVersion prints a version to stderr, as some agents do, unless the file broken.<name> exists.
func fakeVersion() {
	if _, err := os.Stat(filepath.Join(os.Getenv("RECORD"), "broken."+filepath.Base(os.Args[0]))); err == nil {
		fmt.Fprintln(os.Stderr, "SyntaxError: node is too old")
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "0.0.1")
	os.Exit(0)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	params := scripts()
	params.Dir = "testdata/script"
	t.Cleanup(func() { keepSaid(t) }) // when all scripts have ended, as they run beside each other
	testscript.Run(t, params)
}

// scripts returns the parameters that scripts run with.
func scripts() testscript.Params {
	return testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		WorkdirRoot:         works,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
			env.Setenv("CODELOOPS_SESSION_DIR", filepath.Join(env.WorkDir, "sessions"))
			env.Setenv("CODELOOPS", filepath.Join(filepath.SplitList(env.Getenv("PATH"))[0], "codeloops"))
			env.Setenv("RECORD", env.WorkDir)
			env.Setenv("SCENARIO", filepath.Join(env.WorkDir, "scenario.toml"))
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
			env.Setenv("GIT_TEST_FSYNC", "0") // git does not wait for the disk in tests
			env.Setenv("GIT_AUTHOR_NAME", "A")
			env.Setenv("GIT_AUTHOR_EMAIL", "a@example.com")
			env.Setenv("GIT_COMMITTER_NAME", "A")
			env.Setenv("GIT_COMMITTER_EMAIL", "a@example.com")
			logs, err := filepath.Abs("../../testdata/logs")
			if err != nil {
				return err
			}
			env.Setenv("LOGS", logs)
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each process under the race detector sleeps a second at its end
			awaitForks()
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(name string) (bool, error) {
			if name == "overlays" {
				return overlays(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo":    cmdRepo,
			"exits":   cmdExits,
			"await":   cmdAwait,
			"gone":    cmdGone,
			"log":     cmdLog,
			"signals": cmdSignals,
			"matches": cmdMatches,
			"nats":    cmdNATS,
			"forge":   cmdForge,
			"says":    cmdSays,
		},
	}
}

// awaitForks waits until every forked process has called exec: until then it holds files open that
// were being written, and those cannot be run.
func awaitForks() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// cmdNATS starts a NATS server with TLS, as an operator would. It admits the home whose public key
// is in a file; its address is in $NATS, its certificate authority in $CODELOOPS_QUEUE_CA.
func cmdNATS(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nats KEYFILE")
	}
	key, _, _ := strings.Cut(ts.ReadFile(args[0]), " ")
	dir := ts.MkAbs("nats")
	ts.Check(os.MkdirAll(dir, 0o700))
	s, err := hubtest.New(dir, hubtest.Options{Homes: []string{strings.TrimSpace(key)}})
	ts.Check(err)
	ts.Defer(s.Kill)
	ts.Setenv("NATS", s.URL)
	ts.Setenv("CODELOOPS_QUEUE_CA", s.CA)
}

// cmdForge starts a server that behaves as GitHub and GitLab do, or has something happen there. $FORGE is its address; the
// token of its user is "secret-token".
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		ts.Check(err)
		return n
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: forge WHAT [ARG ...]")
	}
	key := ts.Getenv("WORK")
	if args[0] == "start" {
		dir := filepath.Join(ts.Getenv("WORK"), "forge")
		s := forgetest.New(dir, "secret-token")
		ts.Defer(s.Close)
		forges.Store(key, s)
		ts.Setenv("FORGE", s.URL)
		for _, path := range args[1:] {
			_, err := s.Add(path)
			ts.Check(err)
		}
		return
	}
	found, ok := forges.Load(key)
	if !ok {
		ts.Fatalf("forge start comes first")
	}
	s := found.(*forgetest.Server)
	switch what, args := args[0], args[1:]; what {
	case "state":
		s.SetState(number(args[0]), args[1])
	case "body":
		s.SetBody(number(args[0]), args[1])
	case "fail": // METHOD STATUS [BODY [NAME=VALUE ...]]
		headers, body := map[string]string{}, ""
		if len(args) > 2 {
			body = args[2]
			for _, h := range args[3:] {
				name, value, _ := strings.Cut(h, "=")
				headers[name] = value
			}
		}
		s.Fail(args[0], number(args[1]), body, headers)
	case "say": // NUMBER KIND AUTHOR RIGHTS PATH LINE TEXT
		s.Say(number(args[0]), args[1], args[2], args[3], args[4], number(args[5]), args[6])
	case "check": // REPO NAME CONCLUSION OUTPUT [broken]
		s.Check(args[0], args[1], args[2], args[3], len(args) > 4)
	case "dump":
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s.Dump()), 0o600))
	default:
		ts.Fatalf("forge cannot %s", what)
	}
}

var forges sync.Map // the servers of the scripts, by their directories

// cmdRepo turns a directory into a git repository and commits its files.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	for _, argv := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"commit", "-q", "--allow-empty", "-m", "start"},
	} {
		ts.Check(ts.Exec("git", append([]string{"-C", dir}, argv...)...))
	}
}

// cmdExits runs a command and expects an exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG ...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdSignals starts a command, waits for a file to exist or to hold a text, sends the command
// signals one after the other, and expects an exit code; -1 is death by a signal. Its output is
// then in the files out and err of the script's directory.
func cmdSignals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: signals CODE SIGNAL[,SIGNAL] FILE[:TEXT] COMMAND [ARG ...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	work := ts.Getenv("WORK")
	cmd := exec.Command(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[3]), args[4:]...)
	cmd.Dir = ts.MkAbs(".")
	for name := range strings.FieldsSeq(scriptEnv) {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	for name, stream := range map[string]*io.Writer{"out": &cmd.Stdout, "err": &cmd.Stderr} {
		f, err := os.Create(filepath.Join(work, name))
		ts.Check(err)
		defer f.Close()
		*stream = f
	}
	ts.Check(startHearing(cmd))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ts.Defer(func() { _ = cmd.Process.Kill() })
	pattern, text, _ := strings.Cut(args[2], ":")
	await(ts, args[2], func() bool { return holds(ts, pattern, text) })
	for i, name := range strings.Split(args[1], ",") {
		if i > 0 {
			time.Sleep(200 * time.Millisecond) // so that two are not merged into one
		}
		if err := cmd.Process.Signal(signalsByName[name]); !errors.Is(err, os.ErrProcessDone) {
			ts.Check(err)
		}
	}
	select {
	case <-ended:
	case <-time.After(liveness):
		ts.Fatalf("it does not end")
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		ts.Fatalf("exit code %d, want %d\n%s", code, want, ts.ReadFile(filepath.Join(work, "err")))
	}
	if want == -1 { // its children get the signal a little later
		await(ts, "the end of its agents", func() bool { return !running(work, "") })
	}
}

// startHearing starts a command that SIGHUP ends. Under nohup the tests ignore SIGHUP, and the
// command would inherit that.
func startHearing(cmd *exec.Cmd) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	return cmd.Start()
}

// scriptEnv names the script variables that matter to a run.
const scriptEnv = "PATH HOME XDG_CONFIG_HOME XDG_DATA_HOME CODELOOPS_SESSION_DIR RECORD SCENARIO WORK " +
	"GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL TZ"

// liveness bounds every wait. When it is exceeded, something hangs and is not just slow.
const liveness = 5 * time.Minute

func await(ts *testscript.TestScript, what string, there func() bool) {
	for end := time.Now().Add(liveness); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("timed out waiting for %s", what)
		}
	}
}

// cmdAwait waits until a file exists.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	await(ts, args[0], func() bool { return holds(ts, args[0], "") })
}

// holds reports whether one of the files that match a pattern contains a text.
func holds(ts *testscript.TestScript, pattern, text string) bool {
	found, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	return slices.ContainsFunc(found, func(path string) bool {
		if text == "" {
			return true // any content will do
		}
		data, err := os.ReadFile(path)
		ts.Check(err)
		return strings.Contains(string(data), text)
	})
}

// cmdGone waits until no process of this script has a word in its command line.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] gone WORD")
	}
	work := ts.Getenv("WORK")
	if neg {
		if !running(work, args[0]) {
			ts.Fatalf("no process with %q", args[0])
		}
		return
	}
	await(ts, "the end of "+args[0], func() bool { return !running(work, args[0]) })
}

// running reports whether a process has a word in its command line and a directory in its
// environment, which all processes started in a home there have. Between fork and exec it has both
// of its parent's.
func running(dir, word string) bool {
	all, _ := filepath.Glob("/proc/[0-9]*")
	return slices.ContainsFunc(all, func(process string) bool {
		environ, _ := os.ReadFile(filepath.Join(process, "environ"))
		text := string(environ) + "\x00"
		if !strings.Contains(text, dir+"\x00") && !strings.Contains(text, dir+"/") {
			return false // skip most processes early: there may be many
		}
		command, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		return strings.Contains(strings.ReplaceAll(string(command), "\x00", " "), word)
	})
}

// cmdLog copies the latest session log to a file.
func cmdLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: log FILE")
	}
	found, err := filepath.Glob(filepath.Join(ts.Getenv("CODELOOPS_SESSION_DIR"), "*.jsonl"))
	ts.Check(err)
	if len(found) == 0 {
		ts.Fatalf("there is no session log")
	}
	latest := slices.MaxFunc(found, func(a, b string) int { return changed(ts, a).Compare(changed(ts, b)) })
	data, err := os.ReadFile(latest)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

func changed(ts *testscript.TestScript, path string) time.Time {
	st, err := os.Stat(path)
	ts.Check(err)
	return st.ModTime()
}

// cmdMatches expects a file to match every one of the patterns.
func cmdMatches(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] matches FILE PATTERN ...")
	}
	text := ts.ReadFile(args[0])
	for _, pattern := range args[1:] {
		if regexp.MustCompile("(?m)"+pattern).MatchString(text) == neg {
			ts.Fatalf("%s: %q: found is %v\n%.4000s", args[0], pattern, neg, text)
		}
	}
}

// unwatched returns an app without terminals.
func unwatched() *app {
	return &app{Console: &command.Console{
		Streams: &term.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Plain: true},
	}}
}

// overlays reports whether this system has overlays for unprivileged users.
var overlays = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "codeloops-overlays-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	runner := proc.NewRunner(time.Now)
	defer runner.Close()
	root := filepath.Join(dir, "root")
	if os.Mkdir(root, 0o700) != nil {
		return false
	}
	place := &view.Place{Root: root, GitDir: root, CommonDir: root, Home: filepath.Join(dir, "views"), Starter: runner}
	_, err = place.Use(context.Background(), view.Overlay)
	return err == nil
})
