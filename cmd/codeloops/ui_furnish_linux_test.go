package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/loop"
)

// A gallery is a home with sessions of all kinds, which pages show.
type gallery struct {
	home, shop, weeks string // the home, and two of its repositories
	live              *exec.Cmd
	task              string
	address, base     string
	close             func() // of the page
	empty, many       string // addresses of pages with no session, and with very many
}

const weeksPrompt = "Make the date parser accept ISO weeks such as 2026-W48, with tests"

// furnish has agents work in three repositories and a queue.
func furnish(t *testing.T) *gallery {
	t.Helper()
	g := &gallery{home: t.TempDir()}
	t.Cleanup(func() { awaitEnd(g.home) })
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := func(name string) string {
		agent := fmt.Sprintf("exec %s %s --script $HOME/%s.toml --format claude-stream-json", exe, scripted.Command, name)
		return fmt.Sprintf("agent = \"claude\"\n[critic]\nagent = \"codex\"\n[agents.claude]\ncommand = [\"sh\", \"-c\", %q]\noutput = \"claude-stream-json\"\n"+
			"[agents.codex]\ncommand = [\"sh\", \"-c\", %[1]q]\noutput = \"claude-stream-json\"\n", agent)
	}
	config := filepath.Join(g.home, ".config", "codeloops", "config.toml")
	err = errors.Join(os.CopyFS(g.home, os.DirFS("testdata/page")), os.MkdirAll(filepath.Dir(config), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	with := func(name string) {
		if err := os.WriteFile(config, []byte(script(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g.weeks, g.shop = g.repository(t, "dates"), g.repository(t, "shop")
	report := g.repository(t, "report")
	g.past(t, filepath.Join(g.home, "sessions"), 60, 40, []string{g.weeks, g.shop, report})

	with("site")
	played(t, g.home, g.shop, 0, "queue", "add", "--merge=ask", "Say in the manual what an ISO week is")
	var tasks struct {
		Tasks []struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal(played(t, g.home, g.shop, 0, "queue", "list", "--json"), &tasks); err != nil || len(tasks.Tasks) != 1 {
		t.Fatalf("%v: %+v", err, tasks)
	}
	g.task = tasks.Tasks[0].Task.ID
	played(t, g.home, g.shop, 0, "queue", "add", "--after="+g.task, "Translate the manual")
	queue := exec.Command(exe, "queue", "run", "--jobs=1")
	queue.Dir, queue.Env = g.shop, environOf(g.home)
	_ = queue.Run() // one task waits for a word, the other for the first

	asks := g.begin(t, g.shop, "Show the shop in German and French", "--strategy=plan-and-execute", "--approve-plan", "--wait-for-answers")
	g.await(t, asks, "asks")
	with("weeks")
	played(t, g.home, g.weeks, 1, "--yes", "-q", "-n", "2", "--check", "sh test.sh", weeksPrompt)
	with("report")
	g.live = g.begin(t, report, "Print ISO weeks in the report, with a sum at the end")
	g.await(t, g.live, "iteration 2")

	g.open(t)
	return g
}

// repository makes a repository of a Go package.
func (g *gallery) repository(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(g.home, name)
	for file, text := range map[string]string{
		"parse.go":                          "package dates\n\nimport \"time\"\n\n// Parse reads a date in UTC.\nfunc Parse(text string) (time.Time, error) {\n\treturn time.Parse(\"2006-01-02\", text)\n}\n",
		"parse_test.go":                     "package dates\n\nimport \"testing\"\n\nfunc TestParse(t *testing.T) {\n\tif _, err := Parse(\"2026-11-30\"); err != nil {\n\t\tt.Error(err)\n\t}\n}\n",
		"test.sh":                           "echo 'ok  example.org/dates  2 tests'\n",
		".codeloops/prompts/house-style.md": "---\nkind: free\n---\n\nNo new dependencies. Each change has a test.\n",
		".codeloops/prompts/iso-weeks.md": "---\nkind: feature\nparents: house-style\n---\n\n" + weeksPrompt + "\n\n## Problem\n\nReports are by week, and people type 2026-W48.\n\n" +
			"## Acceptance\n\n`go test ./...` passes, and 2026-W53 is a week but 2025-W53 is none.\n",
		".claude/skills/release/SKILL.md": "---\nname: release\ndescription: How a version is brought out\n---\n\nTag it.\n",
	} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "-m", "first"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

// begin starts a run that goes on until the test ends.
func (g *gallery) begin(t *testing.T, dir, prompt string, args ...string) *exec.Cmd {
	t.Helper()
	run := exec.Command(os.Args[0], append(args, "--yes", "-q", prompt)...)
	run.Dir, run.Env = dir, environOf(g.home)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	return run
}

// open opens the pages.
func (g *gallery) open(t *testing.T) {
	t.Helper()
	g.address, g.close = page(t, g.home, g.weeks)
	g.base, _, _ = strings.Cut(g.address, "#")
	nothing := t.TempDir()
	g.empty, _ = page(t, nothing, nothing)
	many := t.TempDir()
	g.past(t, filepath.Join(many, "sessions"), 0, 10_000, []string{"/src/dates", "/src/shop", "/src/report"})
	g.many, _ = page(t, many, many)
}

// past writes the logs of sessions that ended on days before today, every few hours.
func (g *gallery) past(t *testing.T, dir string, days, sessions int, places []string) {
	t.Helper()
	prompts := []string{
		"Sort the report by week instead of by day", "Reject dates before 1900 with an error that names the field", "Replace the hand-written cache by sync.Map and measure it",
		"The importer drops the last line of files without a line break at the end", "Say in the manual which time zones are known", "Make the nightly job take up where it was killed",
		"Remove the old exporter and everything that only it needs",
	}
	agents := []loop.Cast{
		{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "codex"}},
		{Actor: loop.AgentRef{Agent: "codex"}, Critic: loop.AgentRef{Agent: "claude", Model: "haiku"}},
		{Actor: loop.AgentRef{Agent: "opencode"}, Critic: loop.AgentRef{Agent: "codex"}},
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(24 * time.Hour)
	for i := range sessions {
		at := now.Add(-time.Duration(i+1) * time.Duration(max(days, 1)) * 24 * time.Hour / time.Duration(sessions))
		if days > 0 {
			at = now.AddDate(0, 0, -1-i*i%days).Add(time.Duration(i) * time.Minute)
		}
		id := fmt.Sprintf("%s_%06x", at.Format("2006-01-02T15-04-05Z"), i)
		w := &logWriter{maker: &logMaker{t: t}, at: at, totals: true}
		f, err := os.Create(filepath.Join(dir, id+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		w.line(f, loop.Started{Session: loop.Session{
			ID: id, Prompt: prompts[i%len(prompts)], WorkingDir: places[i%len(places)], Cast: agents[i*i%len(agents)], Terms: loop.Terms{MaxIterations: 10}, Version: "1.0",
		}})
		out := loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 1 + i%3, Duration: time.Duration(2+i%9) * time.Minute, Summary: "It is done."}
		for n := 1; n <= out.Iterations; n++ {
			w.shortly(f, n, n == out.Iterations)
		}
		if i%5 == 4 {
			out.Result, out.Reason = loop.MaxIterations, loop.StopMaxIterations
		}
		w.line(f, loop.Finished{Outcome: out})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// shortly writes a short iteration.
func (w *logWriter) shortly(f *os.File, n int, done bool) {
	usage := loop.Usage{Tokens: &loop.Tokens{Input: 12_000, Output: 2000, CacheRead: 30_000}, CostUSD: new(0.12)}
	verdict := loop.Verdict{Decision: loop.Continue, Feedback: "A test is missing for the case that the file is empty."}
	if done {
		verdict = loop.Verdict{Decision: loop.Done, Summary: "It is done."}
	}
	turn := loop.Turn{Execution: loop.Execution{Duration: 50 * time.Second}, Try: loop.Try{Ending: loop.EndCompleted, Usage: usage}}
	change := loop.Change{Files: []loop.FileChange{{Path: "parse.go", Status: loop.FileModified, Insertions: 14 * n, Deletions: 3}}, Insertions: 14 * n, Deletions: 3, State: "tree:1"}
	w.line(f, loop.IterationFinished{Round: loop.Round{
		Iteration: n, Attempt: loop.Attempt{Turn: turn}, Change: change, Review: loop.Review{Turn: turn, Verdict: verdict}, Ruling: loop.Ruling{Verdict: verdict}, Duration: 2 * time.Minute,
	}})
}

// await waits until a session says something of itself.
func (g *gallery) await(t *testing.T, run *exec.Cmd, word string) {
	t.Helper()
	for end := time.Now().Add(liveness); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		status := exec.Command(os.Args[0], "status")
		status.Dir, status.Env = run.Dir, environOf(g.home)
		if out, _ := status.Output(); strings.Contains(string(out), word) {
			return
		}
	}
	t.Fatalf("the run in %s never says %q", run.Dir, word)
}

// scenes are the states of the page that are drawn.
func (g *gallery) scenes(t *testing.T) []sight {
	t.Helper()
	leave := chromedp.Navigate("about:blank")
	at := func(path string) chromedp.Action { return chromedp.Navigate(g.base + path) }
	return []sight{
		{"door", []chromedp.Action{chromedp.Navigate(g.base), reads("You are not signed in")}},
		{"empty", []chromedp.Action{chromedp.Navigate(g.empty), reads("No session yet")}},
		{"home", []chromedp.Action{leave, chromedp.Navigate(g.address), reads("to be accepted"), reads("asks")}},
		{"none", []chromedp.Action{at("?q=nothing+like+it"), reads("Nothing")}},
		{"live", []chromedp.Action{at("?q=Print+ISO+weeks"), clicks("a.row .live"), reads("iteration 2 of 10")}},
		{"asks", []chromedp.Action{at("?q=German"), clicks("a.row .warn"), reads("Approve")}},
		{"ended", []chromedp.Action{at("?q=date+parser"), clicks("a.row .warn"), reads("Carry on"), turns("document.getElementById('link').textContent === ''")}},
		{"changes", []chromedp.Action{clicks("header a.button[href$=changes]"), reads("monday"), turns("location.pathname.endsWith('changes')")}},
		{"split", []chromedp.Action{turns("(location.search || location.replace('?iteration=2&view=split'), !!document.querySelector('table.split mark'))"), reads("monday")}},
		{"new", []chromedp.Action{at("new"), reads("Strategy"), presses("summary")}},
		{"prompt", []chromedp.Action{
			at("prompt?name=iso-weeks&dir=" + g.weeks), reads("not said yet"), chromedp.SendKeys("#interview textarea", "Weeks in dates"),
			presses("#interview button[type=submit]"), reads("Which day is meant"),
		}},
		{"projects", []chromedp.Action{at("projects"), reads("at the first try")}},
		{"stats", []chromedp.Action{at("stats"), reads("The last 60 days")}},
		{"task", []chromedp.Action{at("task/" + g.task), reads("Course")}},
		{"missing", []chromedp.Action{at("run/2026-01-01T00-00-00Z_000000"), reads("There is no such session")}},
		{"keys", []chromedp.Action{at("?q=parser"), reads("parser"), chromedp.KeyEvent("?"), reads("next and previous")}},
		{"many", []chromedp.Action{chromedp.Navigate(g.many), reads("more"), turns("!document.body.innerText.includes('reading')")}},
		{"gone", []chromedp.Action{at("?q=date"), reads("live"), chromedp.ActionFunc(func(context.Context) error { g.close(); return nil }), reads("disconnected")}},
	}
}
