package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// busyScenario is a run of many short iterations.
const busyScenario = `
[[actor]]
step = [{ run = "date +%N >>a.txt; sleep 0.05" }]
say = "more"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: more\nSEAL: {seal}"
`

// TestPageFigures prints how soon a line of a log is on the screen, what 50 pages cost a run, and what many sessions cost the start,
// with `make bench-page`.
func TestPageFigures(t *testing.T) { //nolint:paralleltest // it measures
	measures(t)
	home, work := scriptedHome(t, busyScenario)
	config, err := os.OpenFile(filepath.Join(home, ".config", "codeloops", "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = config.WriteString("[convergence]\nstop_after = 0\n") // the critic repeats itself
	}
	if err = errors.Join(err, config.Close()); err != nil {
		t.Fatal(err)
	}
	address, _ := page(t, home, work)
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(address), reads("No session yet"))
	alone := busyRun(t, home, work).took(t)

	run := busyRun(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	do(t, ctx, chromedp.Navigate(base+"run/"+run.id(t, home)), chromedp.Evaluate(`window.seen = {}; new MutationObserver(() => {
		for (const h of document.querySelectorAll("#log h2")) window.seen[h.textContent] ??= Date.now();
	}).observe(document.getElementById("log"), { childList: true }); null`, nil), reads("Iteration "+busyRounds))
	run.took(t)
	var seen map[string]float64
	do(t, ctx, chromedp.Evaluate("window.seen", &seen))
	late := run.late(t, home, seen)
	t.Logf("from a line of the log to its place on the screen: median %v, p95 %v", late[len(late)/2], late[len(late)*95/100])

	watched := busyRun(t, home, work)
	var pages []io.Closer
	for range 50 {
		pages = append(pages, watched.page(t, home, address))
	}
	with := watched.took(t)
	for _, p := range pages {
		_ = p.Close()
	}
	t.Logf("a run: %v, with 50 pages on it %v", alone, with)

	many := t.TempDir()
	(&gallery{}).past(t, filepath.Join(many, "sessions"), 0, 10_000, []string{"/src/dates", "/src/shop", "/src/report"})
	t.Logf("to the address that is printed: %v, with 10,000 sessions %v", started(t, t.TempDir()), started(t, many))
}

// measures skips a test that measures, as other tests beside it would be measured, too.
func measures(t *testing.T) {
	t.Helper()
	if os.Getenv("PAGE_FIGURES") == "" {
		t.Skip("it measures: use make bench-page")
	}
}

// busyRounds is how many iterations a busy run has.
const busyRounds = "40"

// A busy run is one that is measured.
type busy struct {
	cmd   *exec.Cmd
	began time.Time
}

func busyRun(t *testing.T, home, work string) *busy {
	t.Helper()
	b := &busy{cmd: exec.Command(os.Args[0], "--yes", "-q", "-n", busyRounds, "count"), began: time.Now()}
	b.cmd.Dir, b.cmd.Env, b.cmd.Stderr = work, environOf(home), &strings.Builder{}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	return b
}

// took waits for its end.
func (b *busy) took(t *testing.T) time.Duration {
	t.Helper()
	err := b.cmd.Wait() // it uses up its iterations
	if code := b.cmd.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("%v: %s", err, b.cmd.Stderr)
	}
	return time.Since(b.began)
}

// log is the newest log of a home.
func (b *busy) log(t *testing.T, home string) string {
	t.Helper()
	for end := time.Now().Add(liveness); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		logs, _ := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
		if len(logs) == 0 {
			continue
		}
		newest := slices.MaxFunc(logs, func(x, y string) int { return stampOf(x).Compare(stampOf(y)) })
		if !stampOf(newest).Before(b.began.Add(-time.Millisecond)) {
			return newest
		}
	}
	t.Fatal("the run has no log")
	return ""
}

func (b *busy) id(t *testing.T, home string) string {
	t.Helper()
	return strings.TrimSuffix(filepath.Base(b.log(t, home)), ".jsonl")
}

func stampOf(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// late returns how late iterations were seen, the latest last. Those that were over when the browser came do not count.
func (b *busy) late(t *testing.T, home string, seen map[string]float64) (all []time.Duration) {
	t.Helper()
	for entry, err := range session.Read(b.log(t, home)) {
		if err != nil {
			t.Fatal(err)
		}
		over, is := entry.Event.(loop.IterationFinished)
		if at := seen["Iteration "+strconv.Itoa(over.Round.Iteration)]; is && over.Round.Iteration > 3 && at > 0 {
			all = append(all, time.UnixMilli(int64(at)).Sub(entry.At.Time))
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %d iterations were seen as they came", len(all))
	}
	slices.Sort(all)
	return all
}

// page reads the events of the run as a browser does.
func (b *busy) page(t *testing.T, home, address string) io.Closer {
	t.Helper()
	base, token, _ := strings.Cut(address, "#")
	id := b.id(t, home)
	ask := func(method, path, body string, cookies []*http.Cookie) *http.Response {
		q, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			q.AddCookie(c)
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	in := ask("POST", "session", "token="+token, nil)
	_ = in.Body.Close()
	events := ask("GET", "run/"+id+"/events", "", in.Cookies())
	go func() { _, _ = io.Copy(io.Discard, events.Body) }()
	return events.Body
}

// started is how long the page takes to print its address: the shortest of some times.
func started(t *testing.T, home string) time.Duration {
	t.Helper()
	best := time.Hour
	for range 5 {
		began := time.Now()
		_, stop := page(t, home, home)
		best = min(best, time.Since(began))
		stop()
	}
	return best
}

// TestPageLarge prints how soon a log of 1 GB is on the screen, and what the page's memory was, with `make bench-page`.
func TestPageLarge(t *testing.T) { //nolint:paralleltest // it measures
	measures(t)
	home := t.TempDir()
	const id = "2026-01-01T00-00-00Z_00000a"
	g := &logMaker{t: t, dir: filepath.Join(home, "sessions"), text: benchText()}
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	g.large(id, 500)
	ctx := browser(t, 1280, 900)
	cmd := exec.Command(os.Getenv("CODELOOPS_BIN"), "ui")
	cmd.Dir, cmd.Env = home, environOf(home)
	out, err := cmd.StdoutPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	do(t, ctx, chromedp.Navigate(address), reads("a large one"))
	began := time.Now()
	for _, step := range []struct{ what, shown string }{{"the first iterations", "Iteration 3"}, {"the end", "the iterations are used up"}} {
		do(t, ctx, chromedp.ActionFunc(func(ctx context.Context) error {
			if step.shown != "Iteration 3" {
				return nil
			}
			return chromedp.Evaluate("document.querySelector('a.row').click()", nil).Do(ctx)
		}), reads(step.shown))
		status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "status"))
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		peak, _, _ = strings.Cut(peak, "\n")
		t.Logf("1 GB: %s after %v, peak memory %s", step.what, time.Since(began), strings.TrimSpace(peak))
	}
}
