//go:build unix

package proc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/proc"
)

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"stdout", "stderr"} {
		cmd := playing(t, "flood", stream)
		cmd.MaxOutput = 1 << 20
		res := run(t, cmd)
		if res.Stop != proc.StopOutputLimit {
			t.Errorf("%s: stop %q", stream, res.Stop)
		}
		if total := max(res.Stdout.Total, res.Stderr.Total); total <= cmd.MaxOutput {
			t.Errorf("%s: %d bytes", stream, total)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	cmd := script(t, `sleep 300`)
	cmd.Timeout = 50 * time.Millisecond
	res := run(t, cmd)
	if res.Stop != proc.StopTimeout || res.Duration > within {
		t.Errorf("got %+v", res)
	}
}

// TestIdle: output resets the idle limit. The watch controls the clock, so that the
// machine's speed does not matter.
func TestIdle(t *testing.T) {
	t.Parallel()
	const idle = time.Second
	var late atomic.Int64
	r := proc.NewRunner(func() time.Time { return time.Unix(0, late.Load()) })
	defer r.Close()
	quiet := script(t, `echo begin; sleep 300`)
	quiet.Idle = idle
	quiet.Watch = func(string, []byte) { late.Add(int64(idle)) }
	if res, err := r.Run(t.Context(), quiet); err != nil || res.Stop != proc.StopIdle || string(res.Stdout.Text) != "begin\n" {
		t.Errorf("quiet: %+v, %v", res, err)
	}

	busy := script(t, `for i in 1 2 3 4; do echo $i; until [ -e $i ]; do sleep 0.01; done; done`)
	busy.Idle = idle
	busy.Watch = func(_ string, chunk []byte) {
		late.Add(int64(idle) * 9 / 10)
		time.Sleep(idle / 5) // while the output is being watched
		if err := os.WriteFile(filepath.Join(busy.Dir, strings.TrimSpace(string(chunk))), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	if res, err := r.Run(t.Context(), busy); err != nil || res.Stop != proc.StopNone || res.ExitCode != 0 {
		t.Errorf("busy: %+v, %v", res, err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	cmd := playing(t, "trap")
	cmd.Grace = within
	res := runUntil(t, cmd, func(cancel, _ func()) { cancel() })
	if res.Stop != proc.StopCancelled || string(res.Stdout.Text) != "ready\nbye\n0\n" {
		t.Errorf("got %+v, %s", res, res.Stdout.Text)
	}
}

func TestCancelledBeforeTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := script(t, `echo started`)
	res, err := newRunner(t).Run(ctx, cmd)
	if err != nil || res.Stop != proc.StopCancelled || res.ExitCode != -1 {
		t.Errorf("got %+v, %v", res, err)
	}
	if _, err := os.Stat(cmd.Stdout); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was prepared: %v", err)
	}
}

func TestGraceIsOver(t *testing.T) {
	t.Parallel()
	cmd := playing(t, "stubborn")
	cmd.Grace = 300 * time.Millisecond
	res := runUntil(t, cmd, func(cancel, _ func()) { cancel() })
	if res.Stop != proc.StopCancelled || res.Signal != "killed" || res.Duration < cmd.Grace {
		t.Errorf("got %+v", res)
	}
}

func TestKillDuringGrace(t *testing.T) {
	t.Parallel()
	cmd := playing(t, "stubborn")
	cmd.Grace = 10 * time.Minute
	res := runUntil(t, cmd, func(cancel, kill func()) {
		cancel()
		time.Sleep(50 * time.Millisecond)
		kill()
	})
	if res.Stop != proc.StopCancelled || res.Signal != "killed" {
		t.Errorf("got %+v", res)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	cmd := playing(t, "trap")
	res := runUntil(t, cmd, func(_, kill func()) { kill() })
	if res.Stop != proc.StopCancelled || res.Signal != "killed" {
		t.Errorf("got %+v", res)
	}
}

// runUntil runs a command and calls act after it has printed "ready".
func runUntil(t *testing.T, cmd proc.Command, act func(cancel, kill func())) proc.Result {
	t.Helper()
	r := newRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	var res proc.Result
	var err error
	go func() {
		defer close(done)
		res, err = r.Run(ctx, cmd)
	}()
	awaitText(t, cmd.Stdout, "ready\n")
	act(cancel, r.Kill)
	select {
	case <-done:
	case <-time.After(within):
		t.Fatal("the command still runs")
	}
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestCancelEndsTheChildren(t *testing.T) {
	t.Parallel()
	cmd := script(t, `for i in 1 2 3; do sh -c 'echo $$ >>pids; sleep 300; :' & done; echo ready; wait`)
	runUntil(t, cmd, func(cancel, _ func()) {
		path := filepath.Join(cmd.Dir, "pids")
		await(t, "three children", func() bool {
			b, _ := os.ReadFile(path)
			return strings.Count(string(b), "\n") == 3
		})
		cancel()
	})
	assertGone(t, pids(t, filepath.Join(cmd.Dir, "pids"))...)
}

func TestCloseEndsRuns(t *testing.T) {
	t.Parallel()
	r := proc.NewRunner(time.Now)
	cmd := playing(t, "stubborn")
	done := make(chan proc.Result)
	go func() {
		res, _ := r.Run(t.Context(), cmd)
		done <- res
	}()
	awaitText(t, cmd.Stdout, "ready\n")
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if res := <-done; res.Stop != proc.StopCancelled {
		t.Errorf("got %+v", res)
	}
	if _, err := r.Run(t.Context(), cmd); !errors.Is(err, proc.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
