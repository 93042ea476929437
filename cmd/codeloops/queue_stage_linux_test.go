package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/command"
	"codeloops/internal/config/host"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/hub/hubtest"
	"codeloops/internal/queue/play"
	"codeloops/internal/redact"
)

// A queueStage is a user's repository with a hub and workers, separate processes that talk over
// TCP. Every turn of an agent appends a line at its start and at its end to a file outside of
// codeloops, where the turns are counted.
type queueStage struct {
	*gittest.Repo

	dir    string // the parent of all files, and the user's home
	counts string
	lease  time.Duration
	home   *hub.Home   // of the user
	way    hub.Address // to a hub that is not the user's own
	nats   *hubtest.Server
	apart  bool // workers have their own homes

	mu        sync.Mutex
	processes []*exec.Cmd
}

// counting is the beginning of every agent's script: it counts the turn and reads its task.
const counting = `
task=${PWD##*/}
say() { echo "$1 $CODELOOPS_SESSION $CODELOOPS_STEP $$ $(date +%s%N) $task" >>"$COUNTS"; }
`

// newQueueStage creates a stage whose agent is a shell script.
func newQueueStage(t *testing.T, lease time.Duration, agent string) *queueStage {
	t.Helper()
	s := &queueStage{Repo: gittest.New(t), lease: lease}
	s.dir = filepath.Dir(s.Root)
	s.counts = filepath.Join(s.dir, "counts")
	s.Put(s.dir, "agent", counting+agent)
	s.Put(s.dir, "counts", "")
	s.Put(s.dir, "tmp/.keep", "")
	s.home = s.open(s.dir)
	t.Cleanup(s.end)
	kind := os.Getenv("QUEUE_HUB")
	s.apart = strings.Contains(kind, "apart")
	switch {
	case strings.Contains(kind, "nats"):
		s.nats = hubtest.Start(t, hubtest.Options{Homes: s.keys()})
		s.way = s.nats.Way()
	case s.apart:
		s.Put(s.dir, "keys", strings.Join(s.keys(), "\n")+"\n")
		s.way = hub.Address{URL: "tls://" + freePort(t)}
	}
	for n := range mostHomes {
		s.furnish(s.homeOf(n))
	}
	return s
}

// open opens the queue of a home.
func (s *queueStage) open(home string) *hub.Home {
	s.Helper()
	h, err := hub.Open(filepath.Join(home, "data", "codeloops", "queue"))
	if err != nil {
		s.Fatal(err)
	}
	return h
}

// most is the maximum number of homes besides the user's.
const mostHomes = 8

// homeOf returns the home of a worker.
func (s *queueStage) homeOf(n int) string {
	if !s.apart || n == 0 { // somebody merges
		return s.dir
	}
	return filepath.Join(s.dir, fmt.Sprintf("home-%d", n))
}

// keys returns the public keys of all homes.
func (s *queueStage) keys() (all []string) {
	s.Helper()
	for n := range mostHomes {
		key := s.open(s.homeOf(n)).PublicKey
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

// furnish writes the configuration of a home.
func (s *queueStage) furnish(home string) {
	s.Helper()
	way := ""
	if s.way.URL != "" {
		way = fmt.Sprintf("[queue]\nhub = %q\nca = %q\n", s.way.URL, s.way.CA)
	}
	s.Put(home, "config/codeloops/config.toml", fmt.Sprintf(`
agent = "counted"
[agents.counted]
command = ["/bin/sh", %[1]q]
critic_command = ["/bin/sh", %[1]q]
%[2]s`, filepath.Join(s.dir, "agent"), way))
}

// in returns the environment of processes in a home.
func (s *queueStage) in(home string) []string {
	env := append(gittest.Environ(home), "XDG_DATA_HOME="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"TMPDIR="+filepath.Join(s.dir, "tmp"), "COUNTS="+s.counts, "STAGE="+s.dir, "NO_COLOR=1", "GIT_TEST_FSYNC=0", "GORACE=atexit_sleep_ms=0",
		playCodeloops+"=1")
	if s.lease > 0 {
		env = append(env, queueLease+"="+s.lease.String())
	}
	return env
}

// codeloops returns a command that has not been started; its output is appended to a file.
func (s *queueStage) codeloops(home, log string, args ...string) *exec.Cmd {
	s.Helper()
	self, err := os.Executable()
	if program := os.Getenv("CODELOOPS_BIN"); program != "" {
		self = program
	}
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = s.Root, s.in(home)
	out, err := os.OpenFile(filepath.Join(s.dir, log), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = out.Close() })
	cmd.Stderr = out
	return cmd
}

// start starts a long-running process.
func (s *queueStage) start(home, log string, args ...string) *exec.Cmd {
	s.Helper()
	cmd := s.codeloops(home, log, args...)
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes = append(s.processes, cmd)
	return cmd
}

// A stageHub is the hub of a stage.
type stageHub struct {
	stage *queueStage
	cmd   *exec.Cmd // nil: a NATS server
}

// hub starts the hub.
func (s *queueStage) hub() *stageHub {
	s.Helper()
	h := &stageHub{stage: s}
	if s.nats == nil {
		h.start()
	}
	return h
}

func (h *stageHub) start() {
	s := h.stage
	s.Helper()
	if s.way.URL == "" {
		h.cmd = s.start(s.dir, "hub.log", "hub")
		return
	}
	listen, _, _ := strings.Cut(strings.TrimPrefix(s.way.URL, "tls://"), "#")
	h.cmd = s.start(s.dir, "hub.log", "hub", "--listen", listen, "--self-signed", "--authorized", filepath.Join(s.dir, "keys"))
	if strings.Contains(s.way.URL, "#") {
		return
	}
	s.await("the address of the hub", func() bool {
		_, address, told := strings.Cut(s.Text(s.dir, "hub.log"), "served at ")
		s.way.URL, _, _ = strings.Cut(address, "\n")
		return told && strings.Contains(address, "\n")
	})
	for n := range mostHomes {
		s.furnish(s.homeOf(n))
	}
}

// kill kills the hub with SIGKILL and starts it again. It returns when the hub was dead.
func (h *stageHub) kill() (gone time.Time) {
	h.stage.Helper()
	if h.cmd != nil {
		h.stage.kill(h.cmd)
		gone = time.Now()
		h.start()
		return gone
	}
	h.stage.nats.Kill()
	gone = time.Now()
	if err := h.stage.nats.Start(); err != nil {
		h.stage.Fatal(err)
	}
	return gone
}

// stop stops the hub.
func (h *stageHub) stop() {
	h.stage.Helper()
	if h.cmd != nil {
		h.stage.stop(h.cmd)
	}
}

// freePort returns a local address that is not in use.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// worker starts a worker in its home.
func (s *queueStage) worker(n int) *exec.Cmd {
	s.Helper()
	return s.start(s.homeOf(n), fmt.Sprintf("worker-%d.log", n), "work")
}

// attend has somebody answer workers elsewhere at the home of the repository, as our own hub does there; end ends that.
func (s *queueStage) attend(on *board.Board) (end func()) {
	s.Helper()
	if s.nats == nil {
		return func() {}
	}
	environ := s.in(s.dir)
	conn, err := s.home.Reach(s.way)
	if err != nil {
		s.Fatal(err)
	}
	p := &play.Player{
		Host: &host.Host{Environ: environ, Dir: s.Root, Now: time.Now, Secrets: redact.New(environ)}, Home: s.home, Starter: s.Starter,
		Board: on, Conn: conn.Conn, Tell: func(task, sentence string) { s.Log(task, sentence) },
	}
	answers, err := p.Answer(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return func() {
		answers()
		conn.Conn.Close()
	}
}

// kill kills a process with SIGKILL.
func (s *queueStage) kill(cmd *exec.Cmd) {
	s.Helper()
	if err := cmd.Process.Kill(); err != nil {
		s.Error(err)
	}
	_ = cmd.Wait() // it was killed
}

// stop asks processes to end, and checks their exit codes.
func (s *queueStage) stop(all ...*exec.Cmd) {
	s.Helper()
	for _, cmd := range all {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			s.Error(err)
		}
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != command.ExitInterrupted {
			s.Errorf("%v ended with %v", cmd.Args[1:], err)
		}
	}
}

// end ends leftover processes after a test, and shows their output if the test failed.
func (s *queueStage) end() {
	for _, cmd := range s.processes {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	if keep := os.Getenv("QUEUE_KEEP"); keep != "" {
		_ = exec.Command("cp", "-a", s.dir, keep).Run()
	}
	if !s.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, name := range logs {
		text := s.Text("", name)
		s.Logf("%s:\n%s", filepath.Base(name), text[max(0, len(text)-4000):])
	}
}

// add adds a task, and returns its ID.
func (s *queueStage) add(args ...string) string {
	s.Helper()
	cmd := s.codeloops(s.dir, "add.log", append([]string{"queue", "add"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("queue add: %v\n%s", err, s.Text(s.dir, "add.log"))
	}
	return strings.TrimSpace(string(out))
}

// connect connects to the hub.
func (s *queueStage) connect() (*hub.Link, error) {
	if s.way.URL != "" {
		return s.home.Reach(s.way)
	}
	return s.home.Connect(s.Context())
}

// board opens the board over a connection of this process.
func (s *queueStage) board() *board.Board {
	s.Helper()
	var link *hub.Link
	s.await("the hub", func() bool {
		if s.way.URL == "" && s.Text(s.home.Dir, "hub.json") == "-" {
			return false // otherwise it would be served here
		}
		var err error
		link, err = s.connect()
		return err == nil
	})
	s.Cleanup(func() { _ = link.Close() })
	on, err := board.Open(s.Context(), link.Conn, board.Options{})
	if err != nil {
		s.Fatal(err)
	}
	return on
}

// retry retries a task.
func (s *queueStage) retry(id string) {
	s.Helper()
	if err := s.codeloops(s.dir, "retry.log", "queue", "retry", id).Run(); err != nil {
		s.Errorf("queue retry: %v", err)
	}
}

func (s *queueStage) await(what string, there func() bool) {
	s.Helper()
	for end := time.Now().Add(liveness); !there(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("timed out waiting for %s", what)
		}
	}
}

// all reads the backlog, as soon as the hub answers.
func (s *queueStage) all(on *board.Board) (all queue.Backlog) {
	s.Helper()
	s.await("the backlog", func() (ok bool) {
		ctx, cancel := context.WithTimeout(s.Context(), 2*time.Second)
		defer cancel()
		var err error
		all, err = on.All(ctx)
		return err == nil
	})
	return all
}

// over counts the tasks that are in a final state.
func over(all queue.Backlog) (n int) {
	for _, r := range all {
		if r.State.Over() {
			n++
		}
	}
	return n
}

// A turn is a line of the count: the start or the end of a turn.
type queueTurn struct{ what, session, step, pid, at, task string }

func (s *queueStage) turns() (all []queueTurn) {
	s.Helper()
	for line := range strings.Lines(s.Text(s.dir, "counts")) {
		f := strings.Fields(line)
		if len(f) != 6 {
			s.Fatalf("the count has the line %q", line)
		}
		all = append(all, queueTurn{f[0], f[1], f[2], f[3], f[4], f[5]})
	}
	return all
}

// again counts the repeated turns. A turn must not be repeated after the next one of its session
// has started, because it was finished.
func (s *queueStage) again() (n int) {
	s.Helper()
	begun := map[string][]string{} // steps, by session
	for _, t := range s.turns() {
		if t.what != "begin" {
			continue
		}
		steps := begun[t.session]
		switch i := slices.Index(steps, t.step); {
		case i < 0:
			begun[t.session] = append(steps, t.step)
		case i < len(steps)-1:
			s.Errorf("session %s of %s: %s was played again, after %s", t.session, t.task, t.step, steps[len(steps)-1])
		default:
			n++
		}
	}
	return n
}

// merged counts the merges of each task on a ref.
func (s *queueStage) merged(ref string) map[string]int {
	s.Helper()
	count := map[string]int{}
	for id := range strings.FieldsSeq(s.Git("log", "--merges", "--first-parent", "--format=%(trailers:key=Task,valueonly)", ref)) {
		count[id]++
	}
	return count
}

// Where merged work waits for main, and the commit of main that it contains.
const (
	waitingForMain = "refs/codeloops/queue/main"
	belowThat      = "refs/codeloops/below/main"
)

// settled checks a finished backlog: each task is merged exactly once or needs a person, and merged
// tasks leave nothing behind. It returns the merged ones.
func (s *queueStage) settled(on *board.Board, ids []string) (done []*queue.Record) {
	s.Helper()
	all, merged := s.all(on), s.merged(waitingForMain)
	if len(all) != len(ids) {
		s.Errorf("%d tasks of %d are on the board", len(all), len(ids))
	}
	left := map[string]bool{}
	for _, id := range ids {
		r := all[id]
		switch {
		case r == nil:
			s.Errorf("%s is lost", id)
		case r.State == queue.Merged:
			if done = append(done, r); merged[id] != 1 {
				s.Errorf("%s was merged %d times", id, merged[id])
			}
		case r.State == queue.NeedsHuman:
			left[id] = true
			s.Logf("%s needs a person after %d attempts: %s\n%+v", id, r.Attempt, r.Why, r.Course)
		default:
			s.Errorf("%s is %s after %d attempts: %s\n%+v", id, r.State, r.Attempt, r.Why, r.Course)
		}
	}
	trees, refs := s.Git("worktree", "list", "--porcelain"), s.Git("for-each-ref", "--format=%(refname)", "refs/heads/codeloops", "refs/codeloops")
	for line := range strings.Lines(trees + "\n" + refs) {
		name, isTree := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		if isTree && name != s.Root && !left[filepath.Base(name)] || strings.HasPrefix(name, "refs/") && name != waitingForMain && name != belowThat && !left[filepath.Base(name)] {
			s.Errorf("left %s", name)
		}
	}
	s.await("no message to be left", func() bool { return s.messages() == 0 })
	return done
}

// messages counts the remaining offers and results.
func (s *queueStage) messages() (n uint64) {
	s.Helper()
	link, err := s.connect()
	if err != nil {
		s.Fatal(err)
	}
	defer link.Close()
	js, err := jetstream.New(link.Conn)
	if err != nil {
		s.Fatal(err)
	}
	streams := js.ListStreams(s.Context())
	for info := range streams.Info() {
		if strings.HasPrefix(info.Config.Name, "KV_") || strings.HasPrefix(info.Config.Name, "OBJ_") {
			continue // records stay, and so do parcels of killed workers until they are swept
		}
		n += info.State.Msgs
		stream, err := js.Stream(s.Context(), info.Config.Name)
		if err != nil {
			s.Fatal(err)
		}
		consumers := stream.ListConsumers(s.Context())
		for c := range consumers.Info() {
			n += uint64(c.NumAckPending) + c.NumPending
		}
		if err := consumers.Err(); err != nil {
			s.Fatal(err)
		}
	}
	if err := streams.Err(); err != nil {
		s.Fatal(err)
	}
	return n
}

// noLeftovers checks that no process and no temporary file is left after all have been stopped.
func (s *queueStage) noLeftovers() {
	s.Helper()
	s.await("the end of all processes", func() bool { return !running(s.dir, "") })
	err := filepath.WalkDir(filepath.Join(s.dir, "tmp"), func(name string, d fs.DirEntry, err error) error {
		if d != nil && !d.IsDir() && d.Name() != ".keep" {
			s.Errorf("left %s", name)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Error(err)
	}
}

// load returns the load of the machine, to judge the figures by.
func load(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
