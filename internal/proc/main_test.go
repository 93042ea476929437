//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/proc"
)

// The test binary also plays the commands; this variable selects the part.
const part = "PROC_TEST_PART"

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	// The race detector delays the exit of processes.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	if play := parts[os.Getenv(part)]; play != nil {
		os.Exit(play(os.Args[1:]))
	}
	code := m.Run()
	if left := children(); left != "" {
		fmt.Fprintln(os.Stderr, "the tests leave processes:", left)
		code = 1
	}
	os.Exit(code)
}

// children names the running processes that this process has adopted as orphans. It works
// only on Linux.
func children() string {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	var all []string
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for pid := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(pid); err == nil && runs(n) {
				line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				all = append(all, fmt.Sprintf("%s %q", pid, line))
			}
		}
	}
	return strings.Join(all, ", ")
}

// parts are the functions that play the parts; they return exit codes.
var parts = map[string]func(args []string) int{
	"echo":     echo,
	"longline": longLine,
	"flood":    flood,
	"burst":    burst,
	"heir":     heir,
	"server":   server,
	"stubborn": stubborn,
	"trap":     trap,
	"comet":    comet,
	"runner":   playRunner,
	"kept":     kept,
}

// kept prints whether a runner runs this process.
func kept([]string) int {
	fmt.Println(proc.UnderKeeper())
	return 0
}

// echo copies its input to stdout, all at once.
func echo([]string) int {
	var b bytes.Buffer
	if _, err := b.ReadFrom(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = os.Stdout.Write(b.Bytes())
	return 0
}

// longLine writes one line of that many bytes in small pieces. The cost of reading them
// must not depend on how many arrive at once.
func longLine(args []string) int {
	n, _ := strconv.Atoi(args[0])
	block := bytes.Repeat([]byte("é"), 256)
	for n > 0 {
		k, _ := os.Stdout.Write(block[:min(n, len(block))])
		n -= k
	}
	return 0
}

// flood writes to the named stream until a write fails.
func flood(args []string) int {
	block := bytes.Repeat([]byte("flood\n"), 2<<10)
	out := os.Stdout
	if args[0] == "stderr" {
		out = os.Stderr
	}
	for {
		if _, err := out.Write(block); err != nil {
			return 1
		}
	}
}

// burst writes a number of bytes with non-blocking writes, and exits.
func burst(args []string) int {
	n, _ := strconv.Atoi(args[0])
	if err := syscall.SetNonblock(1, true); err != nil {
		return 1
	}
	if k, err := syscall.Write(1, bytes.Repeat([]byte("x"), n)); k != n || err != nil {
		return 2
	}
	return 0
}

// server runs until it gets SIGTERM, and then writes a text to a descriptor.
func server(args []string) int {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	if err := os.WriteFile("up", nil, 0o600); err != nil {
		return 1
	}
	<-c
	fd, _ := strconv.Atoi(args[0])
	_, _ = syscall.Write(fd, []byte(args[1]))
	return 0
}

// heir waits until its parent has ended, and prints. Then it stays or exits.
func heir(args []string) int {
	parent := os.Getppid()
	if err := os.WriteFile("up", nil, 0o600); err != nil {
		return 1
	}
	for os.Getppid() == parent {
	}
	_, _ = syscall.Write(1, []byte("I inherit\n"))
	if args[0] == "stays" {
		time.Sleep(5 * time.Minute)
	}
	return 0
}

// stubborn ignores SIGTERM, and says when it does.
func stubborn([]string) int {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("ready")
	time.Sleep(5 * time.Minute)
	return 0
}

// trap exits on SIGTERM.
func trap([]string) int {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGTERM)
	fmt.Println("ready")
	<-c
	fmt.Println("bye")
	time.Sleep(300 * time.Millisecond) // time for a second signal to arrive
	fmt.Println(len(c))
	return 7
}

// comet starts the next comet in a new session, and exits. Its argument limits the number
// of comets, in case a test fails.
func comet(args []string) int {
	n, _ := strconv.Atoi(args[0])
	if n == 0 {
		return 0
	}
	self, _ := os.Executable()
	_, err := syscall.ForkExec(self, []string{self, strconv.Itoa(n - 1)}, &syscall.ProcAttr{
		Env: os.Environ(),
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 1
	}
	return 0
}

// playRunner runs a script in a Runner, without a time limit.
func playRunner(args []string) int {
	r := proc.NewRunner(time.Now)
	res, err := r.Run(context.Background(), proc.Command{
		Invocation: proc.Invocation{Argv: []string{"/bin/sh", "-c", args[0]}, Dir: args[1], Env: []string{"PATH=/usr/bin:/bin"}},
	})
	fmt.Println(res, err)
	return 1
}

func self(tb testing.TB) string {
	tb.Helper()
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// playing returns a command in which the test binary plays a part.
func playing(tb testing.TB, name string, args ...string) proc.Command {
	tb.Helper()
	return command(tb, append([]string{self(tb)}, args...), part+"="+name, "GORACE=atexit_sleep_ms=0")
}

// script returns a command that runs a shell script; its directory is $PWD.
func script(tb testing.TB, text string) proc.Command {
	tb.Helper()
	return command(tb, []string{"/bin/sh", "-c", text})
}

func command(tb testing.TB, argv []string, env ...string) proc.Command {
	tb.Helper()
	dir := tb.TempDir()
	return proc.Command{
		Invocation: proc.Invocation{
			Argv: argv,
			Dir:  dir,
			Env:  append([]string{"PATH=/usr/bin:/bin"}, env...),
		},
		Records: proc.Records{
			Stdout: filepath.Join(dir, "stdout"),
			Stderr: filepath.Join(dir, "stderr"),
		},
		Limits: proc.Limits{
			Keep:    1 << 20,
			Timeout: within,
		}, // no test may hang
	}
}

func newRunner(tb testing.TB) *proc.Runner {
	tb.Helper()
	r := proc.NewRunner(time.Now)
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// run runs a command that must start.
func run(tb testing.TB, cmd proc.Command) proc.Result {
	tb.Helper()
	res, err := newRunner(tb).Run(tb.Context(), cmd)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// within is the time limit for something that should happen at once. It is generous,
// because a busy machine may pause.
const within = 2 * time.Minute

// await waits until ok returns true.
func await(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("still waiting for %s after %v", what, within)
		}
	}
}

// awaitText waits until a file contains some text.
func awaitText(tb testing.TB, path, text string) {
	tb.Helper()
	await(tb, fmt.Sprintf("%q in %s", text, path), func() bool {
		b, _ := os.ReadFile(path)
		return strings.Contains(string(b), text)
	})
}

// pids reads the process IDs that a script has written, one per line.
func pids(tb testing.TB, path string) []int {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var all []int
	for line := range strings.Lines(string(b)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// assertGone reports each process that still runs.
func assertGone(tb testing.TB, pids ...int) {
	tb.Helper()
	if len(pids) == 0 {
		tb.Error("no processes to look for")
	}
	for _, pid := range pids {
		if runs(pid) {
			tb.Errorf("process %d still runs", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// runs reports whether a process exists and is no zombie.
func runs(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}
