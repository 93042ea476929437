//go:build unix

package proc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/proc"
)

func shell(t *testing.T, text string) proc.Call {
	t.Helper()
	return proc.Call{Invocation: proc.Invocation{Argv: []string{"sh", "-c", text}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}}}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	call := shell(t, `cat; echo "$HOME"; echo noise >&2`)
	call.Stdin = []byte("in\n")
	out, err := proc.Output(t.Context(), call)
	if err != nil || string(out) != "in\n\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestOutputOnEitherStream(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"echo 1.0 >&2": "1.0\n", "echo 2.0; echo noise >&2": "2.0\n"} {
		call := shell(t, text)
		call.Either = true
		if out, err := proc.Output(t.Context(), call); err != nil || string(out) != want {
			t.Errorf("%s: got %q, %v", text, out, err)
		}
	}
}

func TestOutputOfAFailure(t *testing.T) {
	t.Parallel()
	out, err := proc.Output(t.Context(), shell(t, `echo some; echo ' fatal: no ' >&2; exit 128`))
	want := proc.ExitError{Program: "sh", ExitCode: 128, Stderr: "fatal: no"}
	ee, ok := errors.AsType[*proc.ExitError](err)
	if !ok || *ee != want || string(out) != "some\n" || err.Error() != "sh: exit code 128: fatal: no" {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestOutputLimitOfACall: a call's output and its error output are limited.
func TestOutputLimitOfACall(t *testing.T) {
	t.Parallel()
	call := shell(t, `yes`)
	call.MaxOutput = 1000
	if _, err := proc.Output(t.Context(), call); !errors.Is(err, proc.ErrOutput) {
		t.Errorf("got %v", err)
	}
	call = shell(t, `yes | head -c 1000; yes | head -c 100000 >&2; exit 1`)
	call.MaxOutput = 1000
	out, err := proc.Output(t.Context(), call)
	ee, ok := errors.AsType[*proc.ExitError](err)
	if len(out) != 1000 || !ok || len(ee.Stderr) > 4<<10 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestOutputEndsTheChildren(t *testing.T) {
	t.Parallel()
	call := shell(t, `(trap "" TERM; sleep 300) & echo $! >>pids; sleep 300 & echo $! >>pids; echo done`)
	out, err := proc.Output(t.Context(), call)
	if err != nil || string(out) != "done\n" {
		t.Errorf("got %q, %v", out, err)
	}
	left := pids(t, filepath.Join(call.Dir, "pids"))
	await(t, "the children's end", func() bool { return !runs(left[0]) && !runs(left[1]) })
}

func TestOutputCancelled(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	began := time.Now()
	_, err := proc.Output(ctx, shell(t, `trap "" TERM; sleep 300 & wait`))
	if !errors.Is(err, cause) || time.Since(began) > within {
		t.Errorf("got %v after %v", err, time.Since(began))
	}
}

// TestOutputCancelledBefore: a cancelled context prevents the start, and its cause is the
// error.
func TestOutputCancelledBefore(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := proc.Output(ctx, shell(t, `echo started`)); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	path, err := proc.LookPath("sh", "", []string{"PATH=/nowhere:relative::/bin"})
	if err != nil || path != "/bin/sh" {
		t.Errorf("got %q, %v", path, err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := proc.LookPath("sh", "", []string{"PATH=" + dir + ":/nowhere"}); !errors.Is(err, proc.ErrNotExecutable) {
		t.Errorf("got %q, %v", path, err)
	}
	if path, err := proc.LookPath("sh", "", []string{"PATH=" + dir + ":/bin"}); err != nil || path != "/bin/sh" {
		t.Errorf("got %q, %v", path, err)
	}
	for _, env := range [][]string{nil, {"PATH="}, {"PATH=.:"}, {"PATH=/bin", "PATH=/nowhere"}} {
		if path, err := proc.LookPath("sh", "", env); !errors.Is(err, proc.ErrNotFound) || !strings.Contains(err.Error(), "sh") {
			t.Errorf("%q: got %q, %v", env, path, err)
		}
	}
}

func TestRunnerOutputFails(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	out, _, err := r.Output(t.Context(), shell(t, `echo some; echo ' fatal: no ' >&2; exit 128`))
	ee, ok := errors.AsType[*proc.ExitError](err)
	if want := (proc.ExitError{Program: "sh", ExitCode: 128, Stderr: "fatal: no"}); !ok || *ee != want || string(out) != "some\n" {
		t.Errorf("got %q, %v", out, err)
	}
	call := shell(t, `yes`)
	call.MaxOutput = 1000
	if _, _, err := r.Output(t.Context(), call); !errors.Is(err, proc.ErrOutput) {
		t.Errorf("got %v", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	if _, _, err := r.Output(ctx, shell(t, `sleep 300`)); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}
