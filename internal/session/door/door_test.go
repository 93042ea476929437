package door_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/proc"
	"codeloops/internal/session/door"
	"codeloops/internal/session/standing"
)

// playClient names the variable that makes the test binary connect to a door.
const playClient = "PLAY_CLIENT"

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	if path := os.Getenv(playClient); path != "" {
		_, err := (&door.Client{Path: path}).Ask(context.Background(), loop.SteerStop, "")
		if err != nil {
			_, _ = io.WriteString(os.Stdout, err.Error())
		}
		return
	}
	os.Exit(m.Run())
}

// A fakeRun records the requests.
type fakeRun struct {
	loop.Steering

	mu      sync.Mutex
	hurried int
	text    string // the last one

	watchers int
	patch    string
	fails    error
}

func (r *fakeRun) Steer(kind loop.SteerKind, text string) error {
	r.mu.Lock()
	r.text = text
	r.mu.Unlock()
	return r.Steering.Steer(kind, text)
}

func (r *fakeRun) Hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hurried++
}

func (r *fakeRun) hurries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hurried
}

func (*fakeRun) Standing() standing.Standing {
	return standing.Standing{Session: "the one", Now: standing.Now{Iteration: 2}}
}

func (*fakeRun) Recent(since int) []progress.Instant {
	all := []progress.Instant{{After: 1, At: loop.Stamp{Seq: 2}, Does: loop.Activity{Iteration: 1, Notice: loop.Notice{Text: "edits"}}}, {After: 1, At: loop.Stamp{Seq: 3}}}
	return slices.DeleteFunc(all, func(i progress.Instant) bool { return i.At.Seq <= since })
}

func (r *fakeRun) Watched() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers++
}

func (r *fakeRun) Diff(context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.patch, r.fails
}

// open opens a door in a temporary directory.
func open(t *testing.T) (run *fakeRun, path string) {
	t.Helper()
	run, path = &fakeRun{}, filepath.Join(t.TempDir(), "locks", "a.sock")
	at(t, run, path)
	return run, path
}

func at(t *testing.T, run door.Run, path string) *door.Door {
	t.Helper()
	d, err := door.Open(t.Context(), path, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestAsk: a request reaches the run, and the answer contains the run's state.
func TestAsk(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	c := &door.Client{Path: path, Session: "the one"}
	s, err := c.Ask(t.Context(), loop.SteerSay, "use B")
	if err != nil || s.Now.Iteration != 2 || s.Asked.Words != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, kind := range []loop.SteerKind{loop.SteerStop, loop.SteerPause} {
		if err := c.Steer(kind, ""); err != nil {
			t.Error(kind, err)
		}
	}
	if stop, pause, words := c.Asked(); !stop || !pause || words != 1 {
		t.Errorf("the client sees stop %t, pause %t, %d messages", stop, pause, words)
	}
	if stop, pause, words := run.Asked(); !stop || !pause || words != 1 {
		t.Errorf("the run has stop %t, pause %t, %d messages", stop, pause, words)
	}
	if err := c.Steer(loop.SteerGoOn, ""); err != nil {
		t.Error(err)
	}
	if stop, pause, _ := run.Asked(); stop || pause {
		t.Error("the run is not continued")
	}
}

// TestNothingToAsk: a refusal has the run's own words.
func TestNothingToAsk(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	c := &door.Client{Path: path}
	if err := c.Steer(loop.SteerInterrupt, "x"); !errors.Is(err, loop.ErrNoTurn) {
		t.Errorf("interrupt without a turn: %v", err)
	}
	if err := c.Steer(loop.SteerSay, " "); !errors.Is(err, loop.ErrNoWords) {
		t.Errorf("an empty message: %v", err)
	}
	if err := c.Steer(loop.SteerSay, "use\x00 C\x1b[31m,\nnot B"); err != nil || run.text != "use C,\nnot B" {
		t.Errorf("the run got %q, %v", run.text, err)
	}
	if c.Hurry(); run.hurries() != 1 {
		t.Error("the wait is not ended")
	}
}

// TestOnlyItsOwn: only the user may use the socket, and a request for another session is refused.
func TestOnlyItsOwn(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Lstat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
	other := &door.Client{Path: path, Session: "another"}
	_, refused := errors.AsType[*door.RefusedError](other.Steer(loop.SteerStop, ""))
	if stop, _, _ := run.Asked(); stop || !refused {
		t.Errorf("refused: %t, stopped: %t", refused, stop)
	}
}

// TestStrangersAreRefused: processes started by an agent cannot steer a run.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux names the client's process")
	}
	run, path := open(t)
	runner := proc.NewRunner(time.Now)
	defer runner.Close()
	out, _, err := runner.Output(t.Context(), proc.Call{Invocation: proc.Invocation{
		Argv: []string{os.Args[0]}, Dir: t.TempDir(), Env: append(os.Environ(), playClient+"="+path),
	}})
	if stop, _, _ := run.Asked(); stop || err != nil || !strings.Contains(string(out), "cannot steer") {
		t.Errorf("stopped: %t; %s, %v", stop, out, err)
	}
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestRubbish: invalid requests are refused with an error line.
func TestRubbish(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	for name, text := range map[string]string{
		"a long line":    strings.Repeat("x", 3<<20) + "\n",
		"a long text":    `{"ask":"say","text":"` + strings.Repeat("x", 1<<20+1) + `"}` + "\n",
		"no JSON":        "stop\n",
		"other JSON":     "[1, 2]\n",
		"a number":       "7\n",
		"other words":    `{"ask":"delete"}` + "\n",
		"nothing":        "\n",
		"an object":      "{}\n",
		"another type":   `{"ask":{"a":1}}` + "\n",
		"bytes":          "\xff\x00\xfe\n",
		"only half":      `{"ask":"st`,
		"HTTP":           "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"deep":           strings.Repeat("[", 60_000) + "\n",
		"a huge session": `{"ask":"stop","session":"` + strings.Repeat("x", 60_000) + `"}` + "\n",
	} {
		c := dial(t, path)
		go func() {
			_, _ = io.WriteString(c, text)
			_ = c.(*net.UnixConn).CloseWrite()
		}()
		line, err := bufio.NewReader(c).ReadString('\n')
		// If a request is not read completely, the system may reset the connection before the
		// answer.
		if len(text) < 64<<10 && (err != nil || !strings.Contains(line, `"refused"`)) {
			t.Errorf("%s: %q, %v", name, line, err)
		}
	}
	if stop, pause, words := run.Asked(); stop || pause || words > 0 {
		t.Error("an invalid request steers the run")
	}
	if err := (&door.Client{Path: path}).Steer(loop.SteerStop, ""); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A slowRun takes its time to put into its log what the user says.
type slowRun struct{ *fakeRun }

func (r slowRun) Steer(kind loop.SteerKind, text string) error {
	time.Sleep(2500 * time.Millisecond)
	return r.fakeRun.Steer(kind, text)
}

// TestSlowAnswer: a run that is slow answers all the same.
func TestSlowAnswer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "locks", "a.sock")
	at(t, slowRun{&fakeRun{}}, path)
	if err := (&door.Client{Path: path, Patience: time.Minute}).Steer(loop.SteerSay, "slower"); err != nil {
		t.Error(err)
	}
}

// TestLongWords: a text may have 1 MiB, whatever its encoded size. The error for a longer one shows
// two different sizes.
func TestLongWords(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	c := &door.Client{Path: path, Patience: time.Minute}
	for i, one := range []string{"x", `"`, "<", "\n\t\\", "\x01\u2028", "ä"} {
		text := "a" + strings.Repeat(one, (1<<20-2)/len(one)) + "b"
		if err := c.Steer(loop.SteerSay, text); err != nil {
			t.Errorf("%d bytes of %q: %v", len(text), one, err)
		}
		if _, _, words := run.Asked(); words != i+1 {
			t.Errorf("%q: the run got %d messages", one, words)
		}
	}
	for bytes, want := range map[int]string{
		1<<20 + 1:        "the text has 1048577 bytes, and a run takes at most 1048576 at a time",
		1.25 * (1 << 20): "the text has 1.2 MiB, and a run takes at most 1.0 MiB at a time",
	} {
		if err := c.Steer(loop.SteerSay, strings.Repeat("x", bytes)); err == nil || err.Error() != want {
			t.Errorf("%d bytes: %v, want %s", bytes, err, want)
		}
	}
}

// TestSilence: clients that send nothing or half a line do not block others, or the end of the run.
func TestSilence(t *testing.T) {
	t.Parallel()
	run, path := &fakeRun{}, filepath.Join(t.TempDir(), "locks", "a.sock")
	d := at(t, run, path)
	var silent []net.Conn
	for i := range 50 {
		c := dial(t, path)
		if i%2 == 0 {
			_, _ = io.WriteString(c, `{"ask":"stop"`)
		}
		silent = append(silent, c)
	}
	if err := (&door.Client{Path: path}).Steer(loop.SteerPause, ""); err != nil {
		t.Fatalf("with 50 silent clients: %v", err)
	}
	for _, c := range silent { // each is closed without having steered
		_, _ = io.ReadAll(c)
	}
	for range 50 {
		dial(t, path)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if stop, pause, _ := run.Asked(); stop || !pause {
		t.Errorf("stop %t, pause %t", stop, pause)
	}
	if _, err := (&door.Client{Path: path}).Look(t.Context()); !errors.Is(err, door.ErrShut) {
		t.Errorf("after the end of the run: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket was not removed")
	}
}

// left leaves a socket as a killed run does.
func left(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
}

// TestStale: the socket of a killed run is replaced, and no other file is.
func TestStale(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "locks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.sock")
	left(t, path)
	if _, err := (&door.Client{Path: path}).Look(t.Context()); !errors.Is(err, door.ErrShut) {
		t.Errorf("the socket of a killed run: %v", err)
	}
	at(t, &fakeRun{}, path)
	if _, err := (&door.Client{Path: path}).Look(t.Context()); err != nil {
		t.Errorf("its replacement: %v", err)
	}
	file := filepath.Join(dir, "b.sock")
	if err := os.WriteFile(file, []byte("a file of somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := door.Open(t.Context(), file, &fakeRun{}); err == nil {
		t.Error("a file was replaced")
	}
	if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// TestDeep: a run is reached at a path that is too long for a socket, whatever TMPDIR is for the client.
func TestDeep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the directory for temporary files is the user's own")
	}
	path := filepath.Join(t.TempDir(), strings.Repeat("deep/", 60), "a.sock")
	d, err := door.Open(t.Context(), path, &fakeRun{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", "/nowhere")
	c := &door.Client{Path: path}
	if _, err := c.Look(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Look(t.Context()); !errors.Is(err, door.ErrShut) {
		t.Errorf("of a run that is over: %v", err)
	}
}

// TestOthersMayNot: no socket is made in a directory that others can access.
func TestOthersMayNot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := door.Open(t.Context(), filepath.Join(dir, "a.sock"), &fakeRun{}); err == nil {
		t.Error("a socket was made in a directory that others can read")
	}
}

// TestNoAnswer: a client gives up on a run that does not answer.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := &door.Client{Path: path, Patience: 50 * time.Millisecond}
	if _, err := c.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got the error %v", err)
	}
}

// TestDoing: a client is told once what agents do, and each time what was asked for.
func TestDoing(t *testing.T) {
	t.Parallel()
	run, path := open(t)
	c := &door.Client{Path: path}
	if all := c.Doing(t.Context()); len(all) != 2 || all[0].Does.Text != "edits" || all[0].After != 1 || all[1].At.Seq != 3 {
		t.Errorf("told %+v", all)
	}
	_ = run.Steer(loop.SteerPause, "")
	if all := c.Doing(t.Context()); len(all) != 0 {
		t.Errorf("told again %+v", all)
	}
	if _, pause, _ := c.Asked(); !pause {
		t.Error("the pause is unknown")
	}
	if all := (&door.Client{Path: path + ".none"}).Doing(t.Context()); all != nil {
		t.Errorf("without a run, told %+v", all)
	}
}
