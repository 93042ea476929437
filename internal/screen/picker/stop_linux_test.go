package picker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"codeloops/internal/screen/term/termtest"
)

// liveness limits every wait: exceeding it means a hang, not a slow machine.
const liveness = 5 * time.Minute

// A testList is a terminal with a list whose process continues as soon as it is stopped.
type testList struct {
	t       *testing.T
	main    *os.File
	screen  *os.File
	found   unix.Termios
	signals chan os.Signal
	stopped chan struct{}
	stop    func() // runs while the process is stopped

	mu    sync.Mutex
	shown bytes.Buffer

	done   chan struct{}
	picked int
	err    error
}

func newStand(t *testing.T) *testList {
	t.Helper()
	main, name := termtest.Open(t)
	screen, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &testList{
		t: t, main: main, screen: screen, signals: make(chan os.Signal), done: make(chan struct{}),
		stopped: make(chan struct{}, 100), stop: func() {},
	}
	s.found = s.modes()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := main.Read(buf)
			s.mu.Lock()
			s.shown.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = screen.Close() })
	return s
}

// Signals, Resumable and Stop replace those of the process.
func (s *testList) Signals() <-chan os.Signal { return s.signals }
func (s *testList) Resumable() bool           { return true }
func (s *testList) Stop(ctx context.Context, _ *os.File) error {
	if s.modes() != s.found {
		s.t.Error("stopped before the terminal was restored")
	}
	// The shell's prompt follows all output of the list. Any later output is the next list.
	const shell = "shell$ "
	if _, err := s.screen.WriteString(shell); err != nil {
		s.t.Error(err)
	}
	s.waitFor(shell)
	s.types("")
	s.stop()
	s.stopped <- struct{}{}
	return context.Cause(ctx)
}

func (s *testList) modes() unix.Termios {
	modes, err := unix.IoctlGetTermios(int(s.screen.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *modes
}

// start starts to show a list.
func (s *testList) start(ctx context.Context) { s.showsModel(ctx, listOf(30)) }

func (s *testList) showsModel(ctx context.Context, m *model) {
	m.opts.In, m.opts.Out = s.screen, s.screen
	go func() {
		defer close(s.done)
		s.picked, s.err = pick(ctx, m, s)
	}()
}

// waitFor waits for a text in the output since the last typing.
func (s *testList) waitFor(text string) {
	s.t.Helper()
	seen := func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.shown.String()
	}
	for end := time.Now().Add(liveness); !strings.Contains(ansi.Strip(seen()), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain for %q in %q", text, seen())
		}
	}
}

// suspend types Ctrl+Z and waits for its effect.
func (s *testList) suspend() {
	s.t.Helper()
	s.types("\x1a")
	s.awaitStop()
}

func (s *testList) awaitStop() {
	s.t.Helper()
	select {
	case <-s.stopped:
	case <-time.After(liveness):
		s.t.Fatal("not stopped")
	}
}

// types drops the output so far and types keys.
func (s *testList) types(keys string) {
	s.t.Helper()
	s.mu.Lock()
	s.shown.Reset()
	s.mu.Unlock()
	if _, err := s.main.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// wait waits for the end and checks that the terminal is restored.
func (s *testList) wait() (int, error) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(liveness):
		s.t.Fatal("the list does not end")
	}
	if s.modes() != s.found {
		s.t.Error("the terminal was not restored")
	}
	return s.picked, s.err
}

// TestStopped stops the list repeatedly. Each time it comes back, handles new keys, and remembers
// the earlier ones.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.start(t.Context())
	s.waitFor("30 of 30")
	s.types("red")
	s.waitFor("Red thing 20")
	for i := range 30 {
		s.suspend()
		s.waitFor("3 of 30")
		s.types("x")
		s.waitFor("nothing fits")
		s.types("\x7f")
		s.waitFor("Red thing 20")
		if t.Failed() {
			t.Fatalf("after %d stops", i)
		}
	}
	s.types("\x1b[B\r")
	if picked, err := s.wait(); picked != 10 || err != nil {
		t.Errorf("picked %d, %v", picked, err)
	}
}

// TestStoppedOnce: two presses before the list has stopped count as one.
func TestStoppedOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.start(t.Context())
	s.waitFor("30 of 30")
	s.types("\x1a\x1a\x1a")
	s.awaitStop()
	s.waitFor("30 of 30")
	s.types("x")
	s.waitFor("nothing fits")
	s.types("\x1b")
	if _, err := s.wait(); !errors.Is(err, ErrCancelled) || len(s.stopped) > 0 {
		t.Errorf("stopped %d more times than wanted, %v", len(s.stopped), err)
	}
}

// TestSignals: other processes can stop and continue the list.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.start(t.Context())
	s.waitFor("30 of 30")
	s.signals <- unix.SIGTSTP
	s.awaitStop()
	s.waitFor("30 of 30")

	// A SIGSTOP cannot be caught: the shell has restored the terminal and printed its own text.
	s.types("x")
	s.waitFor("nothing fits")
	if err := unix.IoctlSetTermios(int(s.screen.Fd()), unix.TCSETS, &s.found); err != nil {
		t.Fatal(err)
	}
	s.types("")
	s.signals <- unix.SIGCONT
	for end := time.Now().Add(liveness); s.modes() == s.found; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the terminal is not read key by key")
		}
	}
	s.waitFor("0 of 30")
	s.types("\x1b")
	if _, err := s.wait(); !errors.Is(err, ErrCancelled) || len(s.stopped) > 0 {
		t.Errorf("%v, stopped %d more times than wanted", err, len(s.stopped))
	}
}

// TestEndedWhileStopped: if the process is ended while stopped, no list is shown again.
func TestEndedWhileStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("asked to end")
	s := newStand(t)
	s.stop = func() { cancel(reason) }
	s.start(ctx)
	s.waitFor("30 of 30")
	s.types("\x1a")
	if _, err := s.wait(); !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown.Len() > 0 {
		t.Errorf("after its end the list shows %q", s.shown.String())
	}
}

// TestTerminalGone: the list ends if the terminal disappears without a signal.
func TestTerminalGone(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.start(t.Context())
	s.waitFor("30 of 30")
	if err := s.main.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(liveness):
		t.Fatal("the list waits for keys of a missing terminal")
	}
	if s.err == nil || errors.Is(s.err, ErrCancelled) {
		t.Errorf("%v", s.err)
	}
}
