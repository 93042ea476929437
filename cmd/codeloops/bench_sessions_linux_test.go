package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
)

// TestBenchSessions times whole processes of the program that CODELOOPS_BIN names, on many session
// logs and on a large one, as `make bench-sessions` does. The logs are created in the directory
// that CODELOOPS_BENCH_SESSIONS names, and kept for the next time.
func TestBenchSessions(t *testing.T) { //nolint:paralleltest // it measures
	dir := os.Getenv("CODELOOPS_BENCH_SESSIONS")
	bin := os.Getenv("CODELOOPS_BIN")
	if dir == "" || bin == "" {
		t.Skip("CODELOOPS_BENCH_SESSIONS names no directory: use make bench-sessions")
	}
	g := &logMaker{t: t, dir: dir, text: benchText()}
	many, old := g.many("many", true), g.many("old", false)
	least, small, large := g.large("100M", 50), g.large("250M", 125), g.large("1G", 500)
	m := &stopwatch{t: t, bin: bin}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load %s", load)

	sub := func(dir string, args ...string) []string {
		return append([]string{"--session-dir", dir}, args...)
	}
	m.time("version", 20, nil, []string{"version"})
	for i, args := range [][]string{{"list"}, {"stats"}, {"list", "--json"}, {"show", "--no-pager", "latest"}, {"show", "--no-pager", "latest~1"}, {"show", "--brief", "2025-01-01T01-00-00Z"}} {
		argv := append([]string{"sessions"}, sub(many, args...)...)
		name := strings.Join(args, " ")
		m.time(name+", warm", 20, nil, argv)
		if i < 2 && dropCaches() == nil {
			m.time(name+", nothing in memory", 3, func() { _ = dropCaches() }, argv)
		}
	}
	m.time("search, all logs", 5, nil, append([]string{"sessions"}, sub(many, "list", "--search", "more of it")...))
	m.time("search, logs of a week", 10, nil, append([]string{"sessions"}, sub(many, "list", "--search", "more of it", "--after", "2026-02-15")...))
	m.time("list, ends without totals", 5, nil, append([]string{"sessions"}, sub(old, "list")...))
	m.time("stats, ends without totals", 3, nil, append([]string{"sessions"}, sub(old, "stats")...))
	m.time("100 MB: show", 5, nil, []string{"sessions", "show", "--no-pager", least})
	m.time("1 GB: show", 3, nil, []string{"sessions", "show", "--no-pager", large})
	m.time("1 GB: show --json", 3, nil, []string{"sessions", "show", "--json", large})
	for _, format := range []string{"html", "markdown", "json"} {
		m.time("1 GB: export "+format, 2, nil, []string{"sessions", "export", "--format", format, large})
	}
	m.time("250 MB: show --brief", 10, nil, []string{"sessions", "show", "--brief", small})
	m.time("1 GB: show --brief", 10, nil, []string{"sessions", "show", "--brief", large})
	m.time("250 MB: replay --verify", 3, nil, []string{"replay", "--verify", small})
	m.time("1 GB: replay --verify", 3, nil, []string{"replay", "--verify", large})
	m.time("1 GB: sessions diff", 3, nil, []string{"sessions", "diff", large})
}

// dropCaches drops the kernel's page cache, which only root may do.
func dropCaches() error {
	syscall.Sync()
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0)
}

// A stopwatch times processes.
type stopwatch struct {
	t   *testing.T
	bin string
}

// time runs a command several times. It prints the shortest and the median time, the shortest
// processor time, which depends less on other processes, and the peak memory (at least that of this
// process when it started the command).
func (m *stopwatch) time(name string, rounds int, before func(), args []string) {
	m.t.Helper()
	var took, cpu []time.Duration
	var peak int64
	for range rounds {
		if before != nil {
			before()
		}
		cmd := exec.Command(m.bin, args...)
		cmd.Env = []string{"HOME=" + m.t.TempDir(), "PATH=" + os.Getenv("PATH")}
		cmd.Dir = "/"
		var errs strings.Builder
		cmd.Stderr = &errs
		began := time.Now()
		err := cmd.Run()
		took = append(took, time.Since(began))
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		if err != nil {
			m.t.Fatalf("%v: %v\n%s", args, err, errs.String())
		}
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			peak = max(peak, usage.Maxrss)
		}
	}
	slices.Sort(took)
	slices.Sort(cpu)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	m.t.Logf("%-52s min %8.1f ms  median %8.1f ms  processors %8.1f ms  peak %4d MB",
		name, ms(took[0]), ms(took[len(took)/2]), ms(cpu[0]), peak>>10)
}

// A logMaker creates logs like those of real runs.
type logMaker struct {
	t    *testing.T
	dir  string
	text string
}

// benchText resembles the text of agents and diffs.
func benchText() string {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(`func err := range if nil return { } ( ) "a string" \\path + - the of test 'quoted' é value, string; int) // comment`)
	var b strings.Builder
	for b.Len() < 4<<20 {
		b.WriteByte("+- "[rnd.IntN(3)])
		for range 3 + rnd.IntN(9) {
			b.WriteByte(' ')
			b.WriteString(words[rnd.IntN(len(words))])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// some returns about n bytes of text.
func (g *logMaker) some(rnd *rand.Rand, n int) string {
	from := rnd.IntN(len(g.text) - n)
	return g.text[from : from+n]
}

const manyLogs = 10_000

// many creates a directory of 10,000 logs, 1 GB in total.
func (g *logMaker) many(name string, totals bool) string {
	dir := filepath.Join(g.dir, name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	draft := dir + ".new"
	if err := errors.Join(os.RemoveAll(draft), os.MkdirAll(draft, 0o700)); err != nil {
		g.t.Fatal(err)
	}
	var makers sync.WaitGroup
	for worker := range 4 {
		makers.Go(func() {
			for i := worker; i < manyLogs; i += 4 {
				rnd := rand.New(rand.NewPCG(uint64(i), 7))
				began := time.Date(2025, 1, 1, i, 0, 0, 0, time.UTC)
				id := fmt.Sprintf("%s_%06x", began.Format("2006-01-02T15-04-05Z"), rnd.IntN(1<<24))
				s := loop.Session{
					ID: id, Prompt: g.some(rnd, 40+rnd.IntN(1500)), WorkingDir: fmt.Sprintf("/home/user/project%d", rnd.IntN(20)),
					Cast: loop.Cast{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "codex"}}, Terms: loop.Terms{MaxIterations: 10}, Version: "1.0",
				}
				w := &logWriter{maker: g, rnd: rnd, at: began, totals: totals}
				if err := w.write(filepath.Join(draft, id+".jsonl"), s, 1+rnd.IntN(4), 15_000); err != nil {
					g.t.Error(err)
				}
			}
		})
	}
	makers.Wait()
	if err := os.Rename(draft, dir); err != nil || g.t.Failed() {
		g.t.Fatal(err)
	}
	return dir
}

// large creates one log with iterations of 2 MB each.
func (g *logMaker) large(name string, iterations int) string {
	path := filepath.Join(g.dir, name+".jsonl")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	w := &logWriter{maker: g, rnd: rand.New(rand.NewPCG(1, 1)), at: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), totals: true}
	s := loop.Session{ID: name, Prompt: "a large one", WorkingDir: "/p", Cast: loop.Cast{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "codex"}}, Terms: loop.Terms{MaxIterations: iterations}}
	if err := errors.Join(w.write(path+".new", s, iterations, 880_000), os.Rename(path+".new", path)); err != nil {
		g.t.Fatal(err)
	}
	return path
}

// A logWriter writes one log.
type logWriter struct {
	maker  *logMaker
	rnd    *rand.Rand
	at     time.Time
	seq    int
	tally  progress.Tally
	totals bool
}

// write writes a session whose actor output and diff have about size bytes per iteration; some
// sessions succeed, some reach the limit, some crash.
func (w *logWriter) write(path string, s loop.Session, iterations, size int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ending := w.rnd.IntN(20)
	if s.MaxIterations == iterations {
		ending = 1
	}
	w.line(f, loop.Started{Session: s})
	for n := 1; n <= iterations; n++ {
		w.iteration(f, n, size, n == iterations && ending > 1)
	}
	out := loop.Outcome{Iterations: iterations, Duration: w.at.Sub(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)) % time.Hour}
	switch ending {
	case 0: // crashed
		return f.Close()
	case 1:
		out.Result, out.Reason = loop.MaxIterations, loop.StopMaxIterations
	default:
		out.Result, out.Reason, out.Summary, out.Confidence = loop.Success, loop.StopDone, w.maker.some(w.rnd, 200), new(0.9)
	}
	w.line(f, loop.Finished{Outcome: out})
	return f.Close()
}

func (w *logWriter) iteration(f *os.File, n, size int, done bool) {
	usage := loop.Usage{Tokens: &loop.Tokens{Input: 1000, Output: 2000, CacheRead: 30_000}, CostUSD: new(0.12)}
	text := w.maker.some(w.rnd, size+w.rnd.IntN(size))
	patch := "diff --git a/file b/file\n" + w.maker.some(w.rnd, size)
	reply, verdict := "DECISION: CONTINUE\nFEEDBACK: more of it", loop.Verdict{Decision: loop.Continue, Feedback: "more of it"}
	if done {
		reply, verdict = "DECISION: DONE\nSUMMARY: done", loop.Verdict{Decision: loop.Done, Summary: "done"}
	}
	round := loop.Round{
		Iteration: n,
		Attempt:   loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: text, Total: int64(len(text))}, Duration: time.Minute}, Try: loop.Try{Ending: loop.EndCompleted, Usage: usage}}},
		Change:    loop.Change{Files: []loop.FileChange{{Path: "file", Status: loop.FileModified, Insertions: 100, Patch: patch}}, Insertions: 100, State: "tree:1"},
		Review:    loop.Review{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: reply}, Duration: time.Minute}, Try: loop.Try{Ending: loop.EndCompleted, Usage: usage}}, Reply: reply, Verdict: verdict},
		Ruling:    loop.Ruling{Verdict: verdict}, Duration: 2 * time.Minute,
	}
	for _, e := range []loop.Event{
		loop.IterationStarted{Iteration: n},
		loop.PhaseEntered{Iteration: n, State: loop.ActorExecuting},
		loop.ActorFinished{Iteration: n, Attempt: round.Attempt},
		loop.PhaseEntered{Iteration: n, State: loop.CapturingDiff},
		loop.DiffCaptured{Iteration: n, Change: round.Change},
		loop.PhaseEntered{Iteration: n, State: loop.CriticEvaluating},
		loop.CriticFinished{Iteration: n, Review: round.Review},
		loop.IterationFinished{Round: round},
	} {
		w.line(f, e)
	}
}

func (w *logWriter) line(f *os.File, e loop.Event) {
	w.seq++
	w.at = w.at.Add(7 * time.Second)
	entry := session.Entry{At: loop.Stamp{Seq: w.seq, Time: w.at}, Event: e}
	if _, end := e.(loop.Finished); end && w.totals {
		entry.Totals = &w.tally
	}
	_ = w.tally.Handle(entry.At, e)
	if _, err := f.Write(entry.Encode()); err != nil {
		w.maker.t.Error(err)
	}
}
