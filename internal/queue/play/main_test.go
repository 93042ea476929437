//go:build unix

package play_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/play"
	"codeloops/internal/queue/work"
	"codeloops/internal/redact"
)

// workerCommand makes the test binary run as a worker of a machine.
const workerCommand = "worker-of"

// TestMain lets the test binary run as the scripted agent, as the guard of other processes, and as a worker.
func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	if len(os.Args) > 1 && os.Args[1] == scripted.Command {
		os.Exit(scripted.Main(context.Background(), scripted.Invocation{
			Args: os.Args[2:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Now: time.Now,
		}))
	}
	if len(os.Args) > 3 && os.Args[1] == workerCommand {
		if err := beWorker(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func beWorker(dir, url string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m, err := openMachine(dir, func(s string) { fmt.Fprintln(os.Stderr, s) })
	if err != nil {
		return err
	}
	w, end, err := m.worker(ctx, url, 1)
	if err != nil {
		return err
	}
	defer end()
	_ = w.Run(ctx)
	return nil
}

// A machine is a user's machine, with its own home directory.
type machine struct {
	dir  string
	host *host.Host
	home *hub.Home
	tell func(string)
}

func openMachine(dir string, tell func(string)) (*machine, error) {
	environ := []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TEST_FSYNC=0", "TMPDIR=" + filepath.Join(dir, "tmp"),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
	}
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return nil, err
	}
	m := &machine{dir: dir, tell: tell, host: &host.Host{Environ: environ, Dir: dir, Now: time.Now, Secrets: redact.New(environ)}}
	var err error
	m.home, err = hub.Open(m.host.Data("queue"))
	return m, err
}

// The leases of tests are short.
var leases = board.Options{AckWait: 2 * time.Second, Beat: 500 * time.Millisecond}

// worker returns a worker of the machine at a hub. It also answers requests to its home.
func (m *machine) worker(ctx context.Context, url string, slots int) (*work.Worker, func(), error) {
	conn, err := m.home.Dial(url)
	if err != nil {
		return nil, nil, err
	}
	on, err := board.Open(ctx, conn, leases)
	if err != nil {
		return nil, nil, err
	}
	runner := proc.NewRunner(time.Now)
	p := &play.Player{
		Host: m.host, Version: "test", Home: m.home, Starter: runner, Board: on, Conn: conn,
		Tell: func(task, s string) { m.tell(task + ": " + s) },
	}
	answers, err := p.Answer(ctx)
	if err != nil {
		return nil, nil, err
	}
	w := &work.Worker{
		Board: on, Who: queue.Worker{Name: filepath.Base(m.dir), Home: m.home.ID()}, Slots: slots,
		Player: p, Tell: m.tell,
	}
	p.Budgets = w.Budgets
	return w, func() {
		answers()
		_ = runner.Close()
		conn.Close()
	}, nil
}

// A world is a set of machines. The first one has the repository and the hub.
type world struct {
	*testing.T

	machines []*machine
	hub      *hub.Hub
	options  hub.Options // of the hub, with its address once it is known
	url      string
	root     string // of the repository
	scenario string
	on       *board.Board
}

func newWorld(t *testing.T, machines int) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, root: filepath.Join(dir, "project"), scenario: filepath.Join(dir, "scenario.toml")}
	var keys []string
	for n := range machines {
		m, err := openMachine(filepath.Join(dir, fmt.Sprintf("machine-%d", n)), func(s string) { t.Logf("machine %d: %s", n, s) })
		if err != nil {
			t.Fatal(err)
		}
		w.machines, keys = append(w.machines, m), append(keys, m.home.PublicKey)
	}
	authorized := filepath.Join(dir, "authorized")
	if err := os.WriteFile(authorized, []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.options = hub.Options{Authorized: authorized}
	w.serve()
	w.url = w.hub.URL()
	w.options.Listen = strings.TrimPrefix(w.url, "nats://")
	t.Cleanup(func() { _ = w.hub.Close() })
	if w.on, err = w.board(); err != nil {
		t.Fatal(err)
	}
	w.git(dir, "init", "--quiet", w.root)
	w.git(w.root, "config", "user.name", "User")
	w.git(w.root, "config", "user.email", "user@example.com")
	w.write("first", "first\n")
	w.git(w.root, "add", "--all")
	w.git(w.root, "commit", "--quiet", "-m", "first")
	return w
}

func (w *world) serve() {
	w.Helper()
	var err error
	if w.hub, err = w.machines[0].home.Serve(w.Context(), w.options); err != nil {
		w.Fatal(err)
	}
}

func (w *world) board() (*board.Board, error) {
	conn, err := w.machines[0].home.Dial(w.url)
	if err != nil {
		return nil, err
	}
	w.Cleanup(conn.Close)
	return board.Open(w.Context(), conn, leases)
}

func (w *world) git(dir string, args ...string) string {
	w.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, w.machines[0].host.Environ
	out, err := c.CombinedOutput()
	if err != nil {
		w.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// add adds a task that plays the scenario.
func (w *world) add(prompt string, change ...func(*queue.Task)) string {
	w.Helper()
	task := queue.Task{
		Prompt: prompt, Repository: queue.Repository{Home: w.machines[0].home.ID(), Root: w.root}, Target: "main", Added: time.Now(),
		Flags: []loop.Flag{{Name: "agent", Values: []string{"scripted"}}, {Name: "script", Values: []string{w.scenario}}},
	}
	for _, do := range change {
		do(&task)
	}
	task.Name()
	if _, err := w.on.Add(w.Context(), task); err != nil {
		w.Fatal(err)
	}
	return task.ID
}

func (w *world) play(scenario string) {
	w.Helper()
	if err := os.WriteFile(w.scenario, []byte(scenario), 0o600); err != nil {
		w.Fatal(err)
	}
}

// works runs a machine's worker in this process until stop is called.
func (w *world) works(n, slots int) (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	worker, end, err := w.machines[n].worker(ctx, w.url, slots)
	if err != nil {
		w.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = worker.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
		end()
	})
	w.Cleanup(stop)
	return stop
}

// process runs a machine's worker in a separate process.
func (w *world) process(n int, env ...string) *exec.Cmd {
	w.Helper()
	c := exec.Command(os.Args[0], workerCommand, w.machines[n].dir, w.url)
	c.Stderr, c.Env = os.Stderr, append(os.Environ(), env...)
	if err := c.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c
}

// liveness is how long a test waits for anything.
const liveness = 2 * time.Minute

// await waits for a condition.
func (w *world) await(what string, so func() bool) {
	w.Helper()
	for end := time.Now().Add(liveness); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			all, _ := w.on.All(w.Context())
			for _, r := range all {
				w.Logf("%s is %s: %s %+v", r.Task.ID, r.State, r.Why, r.Course)
			}
			w.Fatal("waited in vain for " + what)
		}
	}
}

// merged waits until a task is merged.
func (w *world) merged(id string) (r queue.Record) {
	w.Helper()
	w.await(id+" to be merged", func() bool {
		var err error
		r, err = w.on.Get(w.Context(), id)
		return err == nil && r.State == queue.Merged
	})
	return r
}

func (w *world) there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (w *world) text(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// clean expects that no machine has anything left of tasks.
func (w *world) clean() {
	w.Helper()
	if trees := w.git(w.root, "worktree", "list"); strings.Contains(trees, "\n") {
		w.Errorf("work trees are left:\n%s", trees)
	}
	if refs := w.git(w.root, "for-each-ref", "--format=%(refname)", "refs/heads/codeloops", "refs/codeloops/base", "refs/codeloops/parcel"); refs != "" {
		w.Errorf("refs are left: %s", refs)
	}
	for _, m := range w.machines {
		_ = filepath.WalkDir(m.home.In("away"), func(path string, _ fs.DirEntry, err error) error {
			if err == nil && path != m.home.In("away") {
				w.Errorf("left: %s", path)
			}
			return nil
		})
	}
}

func (w *world) writeTo(path string) {
	w.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		w.Fatal(err)
	}
}

// tidy removes what tasks left on a machine, as it does when it is back.
func (w *world) tidy(n int) { (&play.Player{Home: w.machines[n].home}).Tidy() }
