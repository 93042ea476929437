package proc_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/proc"
)

// fugitives is a script that starts processes that try everything to escape. It writes
// their IDs into the file pids.
const fugitives = `
live='trap "" HUP; echo $$ >>pids; exec sleep 300'
setsid sh -c "$live" &
(sh -c "$live" &)
nohup setsid sh -c "$live" >/dev/null 2>&1 &
env -i /usr/bin/setsid /bin/sh -c "(setsid sh -c '$live' >/dev/null 2>&1 </dev/null &)"
setsid sh -c 'trap "" TERM HUP INT; echo $$ >>pids; while :; do sleep 0.1; done' &
while [ "$(wc -l <pids)" -lt 5 ]; do sleep 0.01; done
until [ "$(ps -o args= -p "$(head -n 5 pids | paste -sd , -)" | grep -c '^sleep 300')" = 4 ]; do sleep 0.01; done
`

func TestFugitivesAreEnded(t *testing.T) {
	t.Parallel()
	cmd := script(t, ": >pids\n"+fugitives+"echo done")
	res := run(t, cmd)
	if string(res.Stdout.Text) != "done\n" || res.ExitCode != 0 {
		t.Errorf("got %+v", res)
	}
	left := pids(t, filepath.Join(cmd.Dir, "pids"))
	if len(left) != 5 {
		t.Fatalf("%d fugitives", len(left))
	}
	assertGone(t, left...)
	named := map[int]string{}
	for _, p := range res.Leftovers {
		named[p.PID] = p.Command
	}
	for _, pid := range left {
		if c := named[pid]; !strings.HasPrefix(c, "sleep 300") && !strings.HasPrefix(c, "sh -c trap") {
			t.Errorf("process %d is named %q", pid, c)
		}
	}
}

func TestStoppedFugitivesAreEnded(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(cancel, kill func()){
		"cancel": func(cancel, _ func()) { cancel() },
		"kill":   func(_, kill func()) { kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := script(t, ": >pids\n"+fugitives+"echo ready\nsleep 300")
			res := runUntil(t, cmd, act)
			if res.Stop != proc.StopCancelled {
				t.Errorf("got %+v", res)
			}
			assertGone(t, pids(t, filepath.Join(cmd.Dir, "pids"))...)
		})
	}
}

// TestCancelAsksOtherSessionsToo: when a run is cancelled, processes in other sessions
// get SIGTERM, too.
func TestCancelAsksOtherSessionsToo(t *testing.T) {
	t.Parallel()
	cmd := script(t, `trap : TERM
setsid sh -c 'trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done'
echo over`)
	cmd.Grace = within
	res := runUntil(t, cmd, func(cancel, _ func()) { cancel() })
	if got := string(res.Stdout.Text); got != "ready\nbye\nover\n" || res.Stop != proc.StopCancelled {
		t.Errorf("got %q, %+v", got, res)
	}
}

// TestForkStorm: processes that start others faster than they can be killed are ended,
// too.
func TestForkStorm(t *testing.T) {
	t.Parallel()
	t.Run("comets", func(t *testing.T) {
		t.Parallel()
		cmd := playing(t, "comet", "3000")
		res := run(t, cmd)
		if res.ExitCode != 0 || len(res.Leftovers) == 0 {
			t.Errorf("got %+v", res)
		}
	})
	t.Run("bomb", func(t *testing.T) {
		t.Parallel()
		// A thousand at most, in case they escape.
		cmd := script(t, `i=0; while [ $i -lt 1000 ]; do i=$((i+1)); (trap "" TERM; exec setsid sleep 300) & done; echo ready; wait`)
		cmd.Timeout = 300 * time.Millisecond
		cmd.Grace = 50 * time.Millisecond
		res := run(t, cmd)
		if res.Stop != proc.StopTimeout {
			t.Errorf("got %+v", res)
		}
	})
}

func TestNothingOutlivesAKilledProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(self(t), ": >pids\n"+fugitives+"echo $$ >>pids; echo >ready; sleep 300", dir)
	cmd.Env = []string{part + "=runner", "GORACE=atexit_sleep_ms=0"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the fugitives", func() bool {
		_, err := os.Stat(filepath.Join(dir, "ready"))
		return err == nil
	})
	all := pids(t, filepath.Join(dir, "pids"))
	if len(all) != 6 {
		t.Errorf("%d processes", len(all))
	}
	all = append(all, keeperOf(t, all[5]))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	await(t, "all to end", func() bool { return !slices.ContainsFunc(all, runs) })
}

func keeperOf(t *testing.T, leader int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", leader))
	if err != nil {
		t.Fatal(err)
	}
	parent, err := strconv.Atoi(strings.Fields(string(stat))[3])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

func TestKilledKeeper(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	cmd := script(t, ": >pids\n"+fugitives+"echo $$ >>pids; echo ready; sleep 300")
	done := make(chan error)
	go func() {
		_, err := r.Run(t.Context(), cmd)
		done <- err
	}()
	awaitText(t, cmd.Stdout, "ready\n")
	all := pids(t, filepath.Join(cmd.Dir, "pids"))
	if err := syscall.Kill(keeperOf(t, all[5]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, proc.ErrKeeper) {
		t.Errorf("got %v", err)
	}
	assertGone(t, all...)
	if res, err := r.Run(t.Context(), script(t, `exit 4`)); err != nil || res.ExitCode != 4 {
		t.Errorf("the next one: %+v, %v", res, err)
	}
}

//nolint:paralleltest // all runners of a process share its keepers
func TestKeeperKilledWhileIdle(t *testing.T) {
	r := newRunner(t)
	cmd := script(t, `echo $PPID`)
	res, err := r.Run(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := strconv.Atoi(strings.TrimSpace(string(res.Stdout.Text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of all its threads", func() bool {
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", keeper))
		return !runs(keeper) && len(threads) <= 1
	})
	if res, err := r.Run(t.Context(), cmd); err != nil || res.ExitCode != 0 {
		t.Errorf("got %+v, %v", res, err)
	}
}

// TestKeeperIsUsedAgainAndIgnoresSignals: a keeper serves all runners of the process, and
// ends with the last of them.
//
//nolint:paralleltest // other tests would use the keeper, too
func TestKeeperIsUsedAgainAndIgnoresSignals(t *testing.T) {
	var keepers []string
	says := func(r *proc.Runner) {
		t.Helper()
		res, err := r.Run(t.Context(), script(t, `kill -INT $PPID; kill -TERM $PPID; kill -HUP $PPID; echo $PPID`))
		if err != nil {
			t.Fatal(err)
		}
		keepers = append(keepers, strings.TrimSpace(string(res.Stdout.Text)))
	}
	first, second := proc.NewRunner(time.Now), proc.NewRunner(time.Now)
	says(first)
	says(second)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	says(second)
	if slices.Sort(keepers); keepers[0] != keepers[2] {
		t.Errorf("keepers %q", keepers)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if keeper, err := strconv.Atoi(keepers[0]); err != nil || runs(keeper) {
		t.Errorf("keeper %s runs after the last runner was closed, %v", keepers[0], err)
	}
}

// A command's environment in the system does not depend on its caller.
func TestWhatACommandFinds(t *testing.T) {
	t.Parallel()
	// Open a file without close-on-exec, as it may be if make or a test runner starts
	// this program.
	if _, err := syscall.Dup(0); err != nil {
		t.Fatal(err)
	}
	cmd := script(t, `ls /proc/self/fd | tr '\n' ' '
ps -o sid= -p $$ | tr -d ' \n' | sed "s/^$$\$/leads/"; echo
grep -E 'Sig(Blk|Ign)' /proc/self/status
tty </dev/tty
flags=$(sed -n 's/^flags:.//p' /proc/self/fdinfo/0); echo nonblocking: $((flags & 04000))`)
	cmd.Stdin, cmd.StdinPipe = []byte("x"), true
	res := run(t, cmd)
	want := `0 1 2 3 leads
SigBlk:	0000000000000000
SigIgn:	0000000000000000
nonblocking: 0
`
	// Go cannot reset the signals from 32 on, which the C library reserves and a parent
	// may have left ignored.
	got := regexp.MustCompile(`(SigIgn:\t0{8})[08]0{7}\n`).ReplaceAllString(string(res.Stdout.Text), "${1}00000000\n")
	if got != want { // descriptor 3 is the directory that ls reads
		t.Errorf("got %q\nwant %q", got, want)
	}
	if !strings.Contains(string(res.Stderr.Text), "/dev/tty") {
		t.Errorf("stderr %q", res.Stderr.Text)
	}
}

// A command that stops its keeper is still held to its limits.
func TestStoppedKeeper(t *testing.T) {
	t.Parallel()
	cmd := script(t, `kill -STOP $PPID; setsid sleep 300 & sleep 300`)
	cmd.Timeout = 300 * time.Millisecond
	cmd.Grace = 300 * time.Millisecond
	if res := run(t, cmd); res.Stop != proc.StopTimeout {
		t.Errorf("got %+v", res)
	}
}

// TestRunnerOutput: a runner's Output works like [proc.Output], and also ends processes
// in other sessions.
func TestRunnerOutput(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	call := shell(t, `cat; setsid sleep 300 >/dev/null 2>&1 & echo $! >pids; echo noise >&2; until ps -o args= -p $! | grep -q '^sleep'; do sleep 0.01; done`)
	call.Stdin = []byte("in\n")
	out, left, err := r.Output(t.Context(), call)
	if err != nil || string(out) != "in\n" || len(left) != 1 || left[0].Command != "sleep 300" {
		t.Errorf("got %q, %v, %v", out, left, err)
	}
	if pid := pids(t, filepath.Join(call.Dir, "pids"))[0]; runs(pid) {
		t.Errorf("%d still runs", pid)
	}
}

// TestKept: exactly the processes that a runner runs or has run know that they are kept.
func TestKept(t *testing.T) {
	t.Parallel()
	if proc.UnderKeeper() {
		t.Skip("these tests run in a runner themselves")
	}
	for name, line := range map[string]string{
		"a child":      `%s`,
		"a grandchild": `sh -c '%s; true'`,
		"without environment, in another session, orphaned": `(env -i ` + part + `=kept setsid sh -c 'sleep 0.05; %s >out' &) ; until test -s out; do sleep 0.01; done; cat out`,
	} {
		cmd := script(t, strings.ReplaceAll(line, "%s", self(t)))
		cmd.Env = append(cmd.Env, part+"=kept", "GORACE=atexit_sleep_ms=0")
		if res := run(t, cmd); string(res.Stdout.Text) != "true\n" {
			t.Errorf("%s: %q %q", name, res.Stdout.Text, res.Stderr.Text)
		}
	}
}
