//go:build linux

package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// The environment of a child: what it does, and where it says how much memory
// that took at most.
const (
	childMode = "CODELOOPS_BENCH_CHILD"
	childPeak = "CODELOOPS_BENCH_PEAK"
)

// TestMain lets the test program be the process that is measured.
func TestMain(m *testing.M) {
	mode := os.Getenv(childMode)
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := job(context.Background(), mode); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The peak that wait4(2) tells may be that of the parent.
	if name := os.Getenv(childPeak); name != "" {
		status, err := os.ReadFile("/proc/self/status")
		if err == nil {
			err = os.WriteFile(name, status, 0o600)
		}
		if err != nil {
			os.Exit(1)
		}
	}
}

// job does one job in the current directory.
func job(ctx context.Context, mode string) error {
	if mode == "nothing" {
		return nil
	}
	tree, err := diff.Open(ctx, ".", options(mode))
	if err != nil {
		return err
	}
	defer tree.Close()
	switch mode {
	case "baseline":
		return tree.Baseline(ctx)
	case "first":
		return first(ctx, tree)
	}
	if err := tree.Resume(ctx, tree.BaseCommit()); err != nil {
		return err
	}
	if strings.HasPrefix(mode, "serve") {
		return serve(ctx, tree)
	}
	c, err := tree.Capture(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, c.Patch())
	return err
}

// first is what a session's first look finds, as a difference to HEAD. The
// index counts here, as it does for git.
func first(ctx context.Context, tree *diff.Tree) error {
	if err := tree.Baseline(ctx); err != nil {
		return err
	}
	head, err := tree.Recall(ctx, tree.BaseCommit())
	if err != nil {
		return err
	}
	c, err := tree.Between(ctx, loop.Change{State: head}, loop.Change{})
	if err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, c.Patch())
	return err
}

// serve does what standard input says and tells what each took.
func serve(ctx context.Context, tree *diff.Tree) error {
	lowest, err := newFloor()
	if err != nil {
		return err
	}
	lines, state := bufio.NewScanner(os.Stdin), ""
	for n := 0; lines.Scan(); n++ {
		cpu, at := used(), time.Now()
		switch lines.Text() {
		case "capture":
			c, err := tree.Capture(ctx)
			if err != nil {
				return err
			}
			state = c.State
		case "recapture":
			if _, err := tree.Recapture(ctx); err != nil {
				return err
			}
		case "floor":
			if err := lowest.run(); err != nil {
				return err
			}
		case "await": // the watching has begun
			time.Sleep(time.Second)
		case "checkpoint":
			if _, err := tree.Checkpoint(ctx, state, fmt.Sprintf("bench/%d", n), "bench"); err != nil {
				return err
			}
		}
		fmt.Println(time.Since(at).Nanoseconds(), (used() - cpu).Nanoseconds())
	}
	return lines.Err()
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (w *work) command(mode, dir string) *exec.Cmd {
	self, _ := os.Executable()
	cmd := exec.Command(self)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(slices.Clip(w.env), childMode+"="+mode)
	return cmd
}

// child runs a job in a process of its own.
func (w *work) child(t *testing.T, mode, dir string) cost {
	t.Helper()
	return run(t, w.command(mode, dir))
}

// peak runs a job and returns how much memory it takes at most, in bytes. The
// job's own cost would have that of telling in it.
func (w *work) peak(t *testing.T, mode string) (size int64) {
	t.Helper()
	cmd := w.command(mode, w.root)
	cmd.Env = append(cmd.Env, childPeak+"="+w.peakFile())
	run(t, cmd)
	status, err := os.ReadFile(w.peakFile())
	must(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &size)
	must(t, err)
	return size << 10
}

func (w *work) peakFile() string { return filepath.Join(w.scratch, "peak") }

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
	s := &server{t: t, cmd: w.command(mode, w.root)}
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

func options(mode string) diff.Options {
	o := diff.Options{Env: os.LookupEnv, Now: time.Now, Saved: diff.Off}
	o.Hints = diff.Off
	switch mode {
	case "saved":
		o.Saved, o.SavedDir = diff.On, filepath.Join(os.Getenv("HOME"), "saved")
	case "serve hints":
		o.Hints = diff.On
	}
	return o
}
