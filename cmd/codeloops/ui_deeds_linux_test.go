package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// deedScenario is a run that uses up its iteration, the same carried on with what was said about a line, and a task of the
// queue.
const deedScenario = `
[[actor]]
step = [{ write = "a.txt", content = "one\n" }]
[[actor]]
expect = ["a.txt:1, ` + "`one`" + `: say two"]
step = [{ write = "a.txt", content = "two\n" }]
[[actor]]
step = [{ write = "b.txt", content = "task\n" }]
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: the parser drops weeks\nSEAL: {seal}"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`

// TestPageDeeds: what can be done with a session that has ended is done from the page, after a look at what it would change.
// What was said about its lines is told to the actor when it is carried on. Its feedback is found by the search, its findings
// stand in the statistics, and its project is in the list with how it has gone.
func TestPageDeeds(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900)
	home, work := scriptedHome(t, deedScenario)
	address, _ := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	played(t, home, work, 1, "--yes", "-q", "-n", "1", "count in a file")
	content := func() string {
		text, _ := os.ReadFile(filepath.Join(work, "a.txt"))
		return string(text)
	}
	const restore, undo = `form[data-do]:has([value=restore])`, `form[data-do]:has([value=undo])`
	do(t, ctx, chromedp.Navigate(address), reads("count in a file"), clicks("a.row"), reads("Iterations in all"), turns(`document.getElementById("link").textContent === ""`),
		presses(undo+" button"), reads("1 file of session"), reads("a.txt"), reads("Yes, do it"))
	if content() != "one\n" {
		t.Errorf("a look has changed the file: %q", content())
	}
	do(t, ctx, presses(undo+" button"), reads("took back 1 file"))
	if content() != "" {
		t.Errorf("after undo: %q", content())
	}
	do(t, ctx, chromedp.SendKeys(restore+" [name=text]", "1"), presses(restore+" button"), reads("bring back a.txt"), presses(restore+" button"), reads("the files of"))
	if content() != "one\n" {
		t.Errorf("after restore: %q", content())
	}
	do(t, ctx, presses(`header a.button`), reads("one"), presses(`button[data-n="1"]`), chromedp.SendKeys(`.comment textarea`, "say two"),
		presses(`.comment button[type=submit]`), reads("kept for when you carry it on"), presses(`header a.title`), reads("Iterations in all"),
		turns(`document.querySelector(".after textarea").value.includes("say two")`), chromedp.SendKeys(`.after [name=iterations]`, "2"), presses(`.after button`),
		reads("Iteration 2"), reads("the work was approved"))
	if content() != "two\n" {
		t.Errorf("after it was carried on: %q", content())
	}
	do(t, ctx, chromedp.Navigate(base+"?q=drops+weeks"), reads("count in a file"),
		chromedp.Navigate(base+"stats"), reads("the parser drops weeks"),
		chromedp.Navigate(base+"projects"), reads(filepath.Base(work)), reads("100 %"), presses(`.sums td:last-child a`), reads("What should be true at the end"))
	do(t, ctx, chromedp.SendKeys(`[name=prompt]`, "another"), presses("summary"), chromedp.SendKeys(`[name=checks]`, "touch checked"), presses(`.after button[type=submit]`),
		reads("type the name of the project"))
	if _, err := os.Stat(filepath.Join(work, "checked")); err == nil {
		t.Error("a check ran that was not confirmed")
	}
}

// TestPageTasks: the tasks of the queue stand in the list, with what they wait for, and results are accepted and taken from the
// page.
func TestPageTasks(t *testing.T) {
	t.Parallel()
	home, work := scriptedHome(t, `
[[actor]]
step = [{ write = "b.txt", content = "task\n" }]
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`)
	commit := exec.Command("git", "-C", work, "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "first")
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	played(t, home, work, 0, "queue", "add", "--merge=ask", "write b")
	var tasks struct {
		Tasks []struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal(played(t, home, work, 0, "queue", "list", "--json"), &tasks); err != nil || len(tasks.Tasks) != 1 {
		t.Fatalf("%v: %+v", err, tasks)
	}
	id := tasks.Tasks[0].Task.ID
	played(t, home, work, 0, "queue", "add", "--after="+id, "write c")
	ctx := browser(t, 1280, 900)
	address, _ := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	do(t, ctx, chromedp.Navigate(address), reads("write b"), reads("Waiting"), reads("after "+id))
	workers := func() { // until nothing is left to do without its user
		run := exec.Command(os.Args[0], "queue", "run", "--jobs=1")
		run.Dir, run.Env = work, environOf(home)
		_ = run.Run() // one task has no agent's turn to play
	}
	workers()
	do(t, ctx, reads("to be accepted"), clicks(`a[href="/task/`+id+`"]`), reads("Course"), presses(`form:has([value=diff]) button`), reads("+task"),
		presses(`form:has([value=accept]) button`), turns(`document.querySelector("form:has([value=accept]) .told").textContent.includes("`+id+`")`))
	workers()
	do(t, ctx, chromedp.Navigate(base+"task/"+id), reads("to be taken"), presses(`form:has([value=take]) button`), reads("is at"))
	if text, err := os.ReadFile(filepath.Join(work, "b.txt")); err != nil || string(text) != "task\n" {
		t.Errorf("taken: %q, %v", text, err)
	}
}

// played runs codeloops to its end, and returns what it prints.
func played(t *testing.T, home, work string, code int, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Env = work, environOf(home)
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}
