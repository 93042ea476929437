//go:build unix

package proc_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"codeloops/internal/proc"
)

func TestRunReturnsWhatTheCommandDid(t *testing.T) {
	t.Parallel()
	cmd := script(t, `pwd; echo "$A"; cat; echo oops >&2; exit 3`)
	cmd.Env = append(cmd.Env, "A=a b")
	cmd.Stdin = []byte("input\n")
	res := run(t, cmd)
	if res.Duration <= 0 {
		t.Errorf("duration %v", res.Duration)
	}
	res.Duration = 0
	dir, _ := filepath.EvalSymlinks(cmd.Dir)
	want := dir + "\na b\ninput\n"
	assertResult(t, res, proc.Result{
		ExitCode: 3,
		Stdout:   proc.Captured{Text: []byte(want), Total: int64(len(want)), File: cmd.Stdout},
		Stderr:   proc.Captured{Text: []byte("oops\n"), Total: 5, File: cmd.Stderr},
	})
	st, err := os.Stat(cmd.Stdout)
	if err != nil || st.Mode() != 0o600 {
		t.Errorf("output file: %v, %v", st.Mode(), err)
	}
}

func assertResult(t *testing.T, got, want proc.Result) {
	t.Helper()
	same := got.ExitCode == want.ExitCode && got.Signal == want.Signal && got.Stop == want.Stop &&
		sameOutput(got.Stdout, want.Stdout) && sameOutput(got.Stderr, want.Stderr) &&
		len(got.Leftovers) == 0 && len(want.Leftovers) == 0
	if !same {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func sameOutput(a, b proc.Captured) bool {
	return string(a.Text) == string(b.Text) && a.Total == b.Total && a.Omitted == b.Omitted && a.File == b.File
}

// TestStreamsThatShareAFile: if stdout and stderr share a file, stdout holds the output
// of both in order.
func TestStreamsThatShareAFile(t *testing.T) {
	t.Parallel()
	cmd := script(t, `echo 1; echo 2 >&2; echo 3; echo 4 >&2`)
	cmd.Stderr = cmd.Stdout
	res := run(t, cmd)
	if got := string(res.Stdout.Text); got != "1\n2\n3\n4\n" {
		t.Errorf("stdout %q", got)
	}
	if !sameOutput(res.Stderr, proc.Captured{}) {
		t.Errorf("stderr %+v", res.Stderr)
	}
}

func TestStreamsWithoutAPath(t *testing.T) {
	t.Parallel()
	cmd := script(t, `echo out; echo err >&2`)
	cmd.Stdout, cmd.Stderr = "", ""
	res := run(t, cmd)
	if !sameOutput(res.Stdout, proc.Captured{Text: []byte("out\n"), Total: 4}) {
		t.Errorf("stdout %+v", res.Stdout)
	}
	if !sameOutput(res.Stderr, proc.Captured{Text: []byte("err\n"), Total: 4}) {
		t.Errorf("stderr %+v", res.Stderr)
	}
}

// TestStreamsInThePlaceOfSomething: a link or pipe that an earlier command left in the
// place of the output file is replaced and gets no output.
func TestStreamsInThePlaceOfSomething(t *testing.T) {
	t.Parallel()
	cmd := script(t, `echo out; echo err >&2`)
	other := filepath.Join(cmd.Dir, "other")
	if err := os.WriteFile(other, []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(other, cmd.Stdout), syscall.Mkfifo(cmd.Stderr, 0o600)); err != nil {
		t.Fatal(err)
	}
	res := run(t, cmd)
	if string(res.Stdout.Text) != "out\n" || string(res.Stderr.Text) != "err\n" {
		t.Errorf("got %q, %q", res.Stdout.Text, res.Stderr.Text)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "other\n" {
		t.Errorf("the other file holds %q, %v", text, err)
	}
}

// TestCommandThatOpensItsOutputAgain: no output is lost if a command reopens its output.
func TestCommandThatOpensItsOutputAgain(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "path"} {
		cmd := script(t, `echo a; echo b >>/dev/stdout; echo c; printf '1\n2\n3\n' >&2; echo 4 >/dev/stderr; echo 5 >&2`)
		if path == "" {
			cmd.Stdout, cmd.Stderr = "", ""
		}
		res := run(t, cmd)
		if string(res.Stdout.Text) != "a\nb\nc\n" || string(res.Stderr.Text) != "1\n2\n3\n4\n5\n" {
			t.Errorf("stdout %q, stderr %q", res.Stdout.Text, res.Stderr.Text)
		}
	}
}

func TestSignalledCommand(t *testing.T) {
	t.Parallel()
	res := run(t, script(t, `kill -KILL $$`))
	if res.ExitCode != -1 || res.Signal != "killed" || res.Stop != proc.StopNone {
		t.Errorf("got %+v", res)
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	large := []byte(strings.Repeat("0123456789abcde\n", 5<<16)) // 5 MiB
	for name, input := range map[string][]byte{"null": nil, "empty": {}, "small": []byte("x"), "large": large} {
		for _, pipe := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cmd := playing(t, "echo")
				cmd.Stdin, cmd.StdinPipe, cmd.Keep = input, pipe, 16<<20
				res := run(t, cmd)
				if res.ExitCode != 0 || string(res.Stdout.Text) != string(input) {
					t.Errorf("pipe %v: exit code %d, %d bytes back of %d, stderr %q",
						pipe, res.ExitCode, len(res.Stdout.Text), len(input), res.Stderr.Text)
				}
			})
		}
	}
}

// TestStdinThatAnswers: what is written to a command may depend on what it has printed. An input that
// does not end does not outlast the command.
func TestStdinThatAnswers(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"exit 0", "read more", "kill -KILL $$"} {
		cmd := script(t, `echo ready; read answer; echo "it is $answer"; `+end)
		ctx, cancel := context.WithCancel(t.Context())
		answers, more := io.Pipe()
		cmd.StdinPipe, cmd.More = true, answers
		cmd.Watch = func(_ string, chunk []byte) {
			switch text := string(chunk); {
			case strings.Contains(text, "ready"):
				_, _ = more.Write([]byte("heard\n"))
			case strings.Contains(text, "heard") && end == "read more":
				cancel()
			}
		}
		res, err := newRunner(t).Run(ctx, cmd)
		cancel()
		if err != nil || !strings.HasPrefix(string(res.Stdout.Text), "ready\nit is heard\n") {
			t.Errorf("%+v, %v", res, err)
		}
		if _, err := more.Write([]byte("too late")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the input is still read: %v", err)
		}
	}
}

func TestStdinThatNobodyReads(t *testing.T) {
	t.Parallel()
	for _, pipe := range []bool{false, true} {
		cmd := script(t, `exit 0`)
		cmd.Stdin, cmd.StdinPipe = make([]byte, 5<<20), pipe
		if res := run(t, cmd); res.ExitCode != 0 || res.Stop != proc.StopNone {
			t.Errorf("pipe %v: %+v", pipe, res)
		}
	}
}

//nolint:paralleltest // it measures what the whole process allocates
func TestLongLineIsKeptInPart(t *testing.T) {
	const size = 60 << 20
	cmd := playing(t, "longline", "62914560")
	cmd.Keep = 1<<20 + 1 // both cuts are inside a character
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := run(t, cmd)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes allocated", grown)
	}
	text := string(res.Stdout.Text)
	head, rest, _ := strings.Cut(text, "\n")
	notice, tail, _ := strings.Cut(rest, "\n")
	if notice != "[… 61865984 bytes omitted …]" {
		t.Errorf("notice %q", notice)
	}
	if head != strings.Repeat("é", 1<<18) || tail != strings.Repeat("é", 1<<18) {
		t.Errorf("head of %d bytes, tail of %d", len(head), len(tail))
	}
	if res.Stdout.Total != size || res.Stdout.Omitted != size-1<<20 || res.ExitCode != 0 {
		t.Errorf("total %d, omitted %d, exit code %d", res.Stdout.Total, res.Stdout.Omitted, res.ExitCode)
	}
}

func TestBackgroundProcessIsEnded(t *testing.T) {
	t.Parallel()
	cmd := script(t, `sleep 300 & echo $! >>pids
until ps -o args= -p $! | grep -q '^sleep'; do sleep 0.01; done
echo done`)
	res := run(t, cmd)
	if string(res.Stdout.Text) != "done\n" || res.ExitCode != 0 || res.Stop != proc.StopNone {
		t.Errorf("got %+v", res)
	}
	left := pids(t, filepath.Join(cmd.Dir, "pids"))
	assertGone(t, left...)
	if len(res.Leftovers) != 1 || res.Leftovers[0].PID != left[0] || !strings.HasPrefix(res.Leftovers[0].Command, "sleep") {
		t.Errorf("leftovers %+v", res.Leftovers)
	}
}

func TestWatchSeesAllOfIt(t *testing.T) {
	t.Parallel()
	cmd := script(t, `echo one; echo two >&2; while [ ! -e go ]; do sleep 0.01; done; echo three`)
	seen := map[string]string{}
	first := sync.OnceFunc(func() {
		if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	cmd.Watch = func(stream string, chunk []byte) {
		seen[stream] += string(chunk)
		first() // the command goes on only after its first output was seen
	}
	if res := run(t, cmd); res.ExitCode != 0 || res.Stop != proc.StopNone {
		t.Errorf("got %+v", res)
	}
	if seen["stdout"] != "one\nthree\n" || seen["stderr"] != "two\n" || len(seen) != 2 {
		t.Errorf("seen %q", seen)
	}
}

func TestWatchOfAFlood(t *testing.T) {
	t.Parallel()
	cmd := playing(t, "longline", "9000000")
	var n int
	cmd.Watch = func(_ string, chunk []byte) { n += len(chunk) }
	if res := run(t, cmd); int64(n) != res.Stdout.Total || n != 9000000 {
		t.Errorf("seen %d of %d", n, res.Stdout.Total)
	}
}

func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	// One command leaves something running, while another command's background process
	// must not be touched.
	slow := script(t, `sh -c 'sleep 0.5; echo alive >>later' & echo ready; wait; cat later`)
	var wg sync.WaitGroup
	wg.Go(func() {
		res, err := r.Run(t.Context(), slow)
		if err != nil || string(res.Stdout.Text) != "ready\nalive\n" {
			t.Errorf("slow: %q, %v", res.Stdout.Text, err)
		}
	})
	for range 4 {
		cmd := script(t, `sleep 300 & echo $! >>pids`)
		wg.Go(func() {
			res, err := r.Run(t.Context(), cmd)
			if err != nil || len(res.Leftovers) != 1 {
				t.Errorf("got %+v, %v", res, err)
			}
			assertGone(t, pids(t, filepath.Join(cmd.Dir, "pids"))...)
		})
	}
	wg.Wait()
}
