//go:build linux

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// build makes the program that is measured, as the released one is made.
func (w *work) build(t *testing.T) {
	t.Helper()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", w.program(), "./child")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the child: %v\n%s", err, out)
	}
}

func (w *work) program() string { return filepath.Join(w.scratch, "child") }

func (w *work) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(w.program(), args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, w.env, os.Stderr
	return cmd
}

// begin begins the session that others resume.
func (w *work) begin(t *testing.T) {
	t.Helper()
	w.session = strings.TrimSpace(w.child(t, "begin", w.root).text)
}

// child runs a job in a process of its own.
func (w *work) child(t *testing.T, mode, dir string) cost {
	t.Helper()
	return run(t, w.command(dir, mode, w.session))
}

// peak runs a job and returns how much memory it takes at most, in bytes.
func (w *work) peak(t *testing.T, mode string) (size int64) {
	t.Helper()
	file := filepath.Join(w.scratch, "peak")
	run(t, w.command(w.root, mode, w.session, file))
	status, err := os.ReadFile(file)
	must(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &size)
	must(t, err)
	return size << 10
}

func run(t *testing.T, cmd *exec.Cmd) cost {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout = &out
	at := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v: %v", cmd.Args, err, cmd.Stderr)
	}
	p := cmd.ProcessState
	return cost{wall: time.Since(at), cpu: p.UserTime() + p.SystemTime(), text: out.String()}
}

// A server is a child that does one job after the other.
type server struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Scanner
}

func (w *work) serve(t *testing.T, mode string) *server {
	t.Helper()
	s := &server{t: t, cmd: w.command(w.root, mode, w.session)}
	out, err := s.cmd.StdoutPipe()
	must(t, err)
	s.in, err = s.cmd.StdinPipe()
	must(t, err)
	s.answers = bufio.NewScanner(out)
	must(t, s.cmd.Start())
	return s
}

func (s *server) ask(job string) cost {
	s.t.Helper()
	_, err := io.WriteString(s.in, job+"\n")
	must(s.t, err)
	if !s.answers.Scan() {
		s.t.Fatal("the child gave up")
	}
	var wall, cpu int64
	_, err = fmt.Sscan(s.answers.Text(), &wall, &cpu)
	must(s.t, err)
	return cost{wall: time.Duration(wall), cpu: time.Duration(cpu)}
}

func (s *server) close() {
	s.t.Helper()
	must(s.t, s.in.Close())
	must(s.t, s.cmd.Wait())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
