package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/screen/term/termtest"
)

// The benchmarks time whole processes of the program that CODELOOPS names, in a repository of ten
// files, as `make bench` does. Besides ns/op they report the peak memory of the largest process, or of
// this one if that is larger: Linux counts the memory of the parent, too, until a child has called exec.

func program(b *testing.B) string {
	b.Helper()
	path := os.Getenv("CODELOOPS_BIN")
	if path == "" {
		b.Skip("CODELOOPS_BIN names no program: use make bench")
	}
	return path
}

// A bench is a repository with agents that take about five milliseconds.
type bench struct {
	b    *testing.B
	work string
	env  []string
	peak int64 // kilobytes
}

func newBench(b *testing.B) *bench {
	b.Helper()
	return newBenchOf(b, 10)
}

// newBenchOf creates a repository with the given number of files, a hundred per directory. They have
// git's own permissions, because checkpoints record any others file by file.
func newBenchOf(b *testing.B, files int) *bench {
	b.Helper()
	dir := b.TempDir()
	m := &bench{b: b, work: filepath.Join(dir, "work")}
	m.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
	}
	must(b, os.Mkdir(m.work, 0o700))
	for i := range files {
		in := m.work
		if i >= 10 {
			in = filepath.Join(m.work, fmt.Sprintf("dir%d", i/100))
		}
		must(b, os.MkdirAll(in, 0o700))
		must(b, os.WriteFile(filepath.Join(in, fmt.Sprintf("file%d", i)), []byte(strings.Repeat("some text\n", 200)), 0o644))
	}
	must(b, os.MkdirAll(filepath.Join(dir, ".config", "codeloops"), 0o700))
	must(b, os.WriteFile(filepath.Join(dir, ".config", "codeloops", "config.toml"), []byte(`
agent = "quick"
[convergence] # the same words, round after round
warn_after = 0
stop_after = 0
[agents.quick]
command = ["/bin/sh", "-c", "echo x >>file0; sleep 0.003"]
critic_command = ["/bin/sh", "-c", "sleep 0.003; echo DECISION: CONTINUE; echo FEEDBACK: more"]
[agents.slow]
command = ["/bin/sh", "-c", "sleep 10; for i in 1 2 3 4 5; do echo x >>file$i; done; echo score: 0.5"]
critic_command = ["/bin/sh", "-c", "case $CODELOOPS_ROLE in critic) grep -o 'SEAL: .*' | tail -1; echo DECISION: DONE;; *) echo score: 0.5;; esac"]
[agents.silent]
command = ["/bin/sh", "-c", "sleep $BENCH_SECONDS"]
critic_command = ["/bin/sh", "-c", "echo DECISION: DONE"]
[agents.talker]
command = ["/bin/sh", "-c", "for i in $(seq $((BENCH_SECONDS * 10))); do cat ../talk; sleep 0.1; done"]
critic_command = ["/bin/sh", "-c", "echo DECISION: DONE"]
[agents.flood]
command = ["/bin/sh", "-c", "head -c 60000000 /dev/zero | tr '\\000' x"]
critic_command = ["/bin/sh", "-c", "echo DECISION: DONE"]
`), 0o600))
	must(b, os.WriteFile(filepath.Join(dir, "talk"), []byte(strings.Repeat("what an agent says, line by line, all the time\n", 1_000_000/47)), 0o600))
	m.git("init", "-q")
	m.git("add", "-A")
	m.git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "start")
	return m
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (m *bench) git(args ...string) {
	m.b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = m.work, m.env
	if out, err := cmd.CombinedOutput(); err != nil {
		m.b.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// run times one process and checks its exit code.
func (m *bench) run(code int, argv ...string) time.Duration {
	m.b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = m.work, m.env
	var errs strings.Builder
	cmd.Stderr = &errs
	began := time.Now()
	_ = cmd.Run() // the exit code is checked below
	took := time.Since(began)
	if got := cmd.ProcessState.ExitCode(); got != code {
		m.b.Fatalf("%v: exit code %d\n%s", argv, got, errs.String())
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.peak = max(m.peak, usage.Maxrss)
	}
	return took
}

func (m *bench) report() { m.b.ReportMetric(float64(m.peak)/1024, "peak-MB") }

// BenchmarkVersion measures the start-up.
func BenchmarkVersion(b *testing.B) {
	path, m := program(b), newBench(b)
	for b.Loop() {
		m.run(0, path, "version")
	}
	m.report()
}

// BenchmarkAgent measures the two agents of a round without codeloops.
func BenchmarkAgent(b *testing.B) {
	program(b)
	m := newBench(b)
	for b.Loop() {
		m.agents()
	}
	m.report()
}

// BenchmarkRound measures one round of actor and critic, without the cost of its agents.
func BenchmarkRound(b *testing.B) {
	path, m := program(b), newBench(b)
	var own time.Duration
	n := 0
	for b.Loop() {
		own += m.rounds(path)
		n += rounds
	}
	b.ReportMetric(float64(own.Microseconds())/1000/float64(n), "own-ms/round")
	m.report()
}

const rounds = 20

// rounds measures the rounds of a run, without its start and end and without its agents.
func (m *bench) rounds(path string) time.Duration {
	own := m.run(1, path, "-n", strconv.Itoa(rounds+1), "--", "task") - m.run(1, path, "-n", "1", "--", "task")
	for range rounds {
		own -= m.agents()
	}
	return own
}

// agents measures the two agents of a round alone.
func (m *bench) agents() time.Duration {
	return m.run(0, "/bin/sh", "-c", "echo x >>file0; sleep 0.003") +
		m.run(0, "/bin/sh", "-c", "sleep 0.003; echo DECISION: CONTINUE; echo FEEDBACK: more")
}

// BenchmarkOneIteration measures a whole run of one iteration, with start and end.
func BenchmarkOneIteration(b *testing.B) {
	path, m := program(b), newBench(b)
	for b.Loop() {
		m.run(1, path, "-n", "1", "--", "task")
	}
	m.report()
}

// BenchmarkLargeRound measures a round in a repository of 10,000 files, without its agents.
func BenchmarkLargeRound(b *testing.B) {
	path, m := program(b), newBenchOf(b, 10_000)
	const steps = 3 // actor, capture, critic
	var own time.Duration
	n := 0
	for b.Loop() {
		own += m.rounds(path)
		n += rounds * steps
	}
	b.ReportMetric(float64(own.Microseconds())/1000/float64(n), "own-ms/step")
	m.report()
}

// BenchmarkCandidates measures how much longer four concurrent candidates of ten seconds take than one
// actor turn, in a repository of 10,000 files. It is slow: each count runs both.
func BenchmarkCandidates(b *testing.B) {
	path, m := program(b), newBenchOf(b, 10_000)
	one := m.run(0, path, "-a", "slow", "--", "task")
	m.git("checkout", "-q", ".")
	four := m.run(0, path, "-a", "slow", "--best-of", "4", "--jobs", "4", "--", "task")
	b.ReportMetric(four.Seconds()/one.Seconds(), "four-to-one")
	b.ReportMetric(float64((four - one).Milliseconds()), "more-ms")
	b.ReportMetric(0, "ns/op")
	m.report()
}

// BenchmarkLive measures the processor time that codeloops adds to an agent on a terminal, in percent:
// to a silent one, and to one that prints 10 MB a second. It is slow: each count runs both.
func BenchmarkLive(b *testing.B) {
	const most, least = 11, 1 // seconds
	benchLive(b, newBench(b), most, least)
}

// BenchmarkLiveLarge is BenchmarkLive in a repository of 10,000 files. It runs for a minute, because
// the work tree is scanned only from time to time.
func BenchmarkLiveLarge(b *testing.B) {
	const most, least = 61, 1
	benchLive(b, newBenchOf(b, 10_000), most, least)
}

func benchLive(b *testing.B, m *bench, most, least int) {
	b.Helper()
	path := program(b)
	for agent, script := range map[string]string{
		"silent": "sleep $BENCH_SECONDS", "talker": "for i in $(seq $((BENCH_SECONDS * 10))); do cat ../talk; sleep 0.1; done",
	} {
		b.Run(agent, func(b *testing.B) {
			m.b = b
			own := m.onTerminal(most, path, "--yes", "-a", agent, "--", "task") - m.onTerminal(least, path, "--yes", "-a", agent, "--", "task")
			own -= m.onTerminal(most, "/bin/sh", "-c", script) - m.onTerminal(least, "/bin/sh", "-c", script)
			b.ReportMetric(100*own.Seconds()/float64(most-least), "%-of-a-core")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// onTerminal returns the processor time of a program and its children, on a terminal whose output
// is read.
func (m *bench) onTerminal(seconds int, argv ...string) time.Duration {
	m.b.Helper()
	reader, name := termtest.Open(m.b)
	screen, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	must(m.b, err)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = m.work, append(slices.Clip(m.env), "TERM=xterm", "BENCH_SECONDS="+strconv.Itoa(seconds))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(m.b, errors.Join(cmd.Start(), screen.Close()))
	_, _ = io.Copy(io.Discard, reader) // ends with EIO when the last process closes the other side
	must(m.b, cmd.Wait())
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// BenchmarkFlood measures a run whose actor prints one line of 60 MB.
func BenchmarkFlood(b *testing.B) {
	path, m := program(b), newBench(b)
	for b.Loop() {
		m.run(0, path, "--actor-agent", "flood", "--critic-agent", "flood", "--", "task")
	}
	m.report()
}
