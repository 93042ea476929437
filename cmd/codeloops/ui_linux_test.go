package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"codeloops/internal/loop"
)

// uiScenario is a run that waits for the test twice, is told something in between, and whose actor writes what a browser must not
// run.
const uiScenario = `
[[actor]]
step = [
  { run = "until [ -e $HOME/go1 ]; do sleep 0.02; done" },
  { write = "evil.html", content = "<script>document.title='evil'</script><img src=x onerror=\"document.title='evil'\">\n" },
]
say = "<script>document.title='evil'</script> one </pre><h1>"
[[actor]]
expect = ["has added this to the task", "use <b>B</b>"]
step = [{ run = "until [ -e $HOME/go2 ]; do sleep 0.02; done" }, { write = "b.txt", content = "b\n" }]
say = "two"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: more <script>document.title='evil'</script>\nSEAL: {seal}"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: still more\nSEAL: {seal}"
`

// browser starts Chromium with a fresh profile, or skips the test where there is none.
func browser(t *testing.T, width, height int, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	profile, err := os.MkdirTemp("", "codeloops-browser-") //nolint:usetesting // the browser may still write when the test is over
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(width, height),
		chromedp.UserDataDir(profile))
	options = append(options, more...)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	// Cancel below ends it: with its own cancel, both would wait for each other forever.
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // it has to end before its files are removed
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func environOf(home string) []string {
	return append(os.Environ(), playCodeloops+"=1", "HOME="+home, "CODELOOPS_SESSION_DIR="+filepath.Join(home, "sessions"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
}

// page starts the page of a home, and returns its address.
func page(t *testing.T, home, work string, args ...string) (address string, stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"ui"}, args...)...)
	cmd.Dir, cmd.Env = work, environOf(home)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(stop)
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address), stop
}

// do runs actions in a browser.
func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) { //nolint:revive // as in testing
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, liveness)
	defer cancel()
	if err := chromedp.Run(limited, actions...); err != nil {
		var html string
		shown, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_ = chromedp.Run(shown, chromedp.OuterHTML("html", &html))
		t.Fatalf("%v\n%.4000s", err, html)
	}
}

// reads waits until the page holds a text.
func reads(text string) chromedp.Action {
	return turns(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// turns waits until an expression is true, also across pages.
func turns(expression string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for ; ; time.Sleep(50 * time.Millisecond) {
			var is bool
			err := chromedp.Evaluate(expression, &is).Do(ctx)
			switch {
			case is:
				return nil
			case ctx.Err() != nil:
				return fmt.Errorf("never true: %s (%w)", expression, errors.Join(err, context.Cause(ctx)))
			}
		}
	})
}

// presses clicks on what can be clicked, wherever the page has moved it meanwhile, once its script runs.
func presses(selector string) chromedp.Action {
	return turns(fmt.Sprintf(`((e) => Boolean(document.readyState === "complete" && e?.checkVisibility() && !e.disabled && (e.click(), true)))(document.querySelector(%q))`, selector))
}

// clicks clicks on what may be replaced at any time, because the list is live.
func clicks(selector string) chromedp.Action {
	return turns(fmt.Sprintf("(document.querySelector(%q)?.click(), !document.querySelector(%[1]q))", selector))
}

// TestPage: a run that starts anywhere appears in a browser, is followed as it goes, told something and stopped, and what its
// agents wrote is text. The page comes back after it was killed.
func TestPage(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900)
	home, work := scriptedHome(t, uiScenario)
	address, stop := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	do(t, ctx, chromedp.Navigate(base), reads("You are not signed in"))
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(base+"#0000"), reads("This is not the token"))
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address), reads("No session yet"))

	run := exec.Command(os.Args[0], "--yes", "greet <b>the</b> world")
	run.Dir, run.Env = work, environOf(home)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill() })
	goOn := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do(t, ctx, reads("greet <b>the</b> world"), reads("running"), clicks("a.row"), reads("iteration 1 of 10"), reads("waits"))
	do(t, ctx, chromedp.SendKeys(`#steer input[name=text]`, "use <b>B</b>\r"), reads("asked"))
	goOn("go1")
	do(t, ctx, reads("Iteration 1"), reads("<script>document.title='evil'</script> one </pre><h1>"), reads("evil.html"), reads("+<script>"),
		reads("more <script>"), reads("iteration 2 of 10"))
	stop()
	do(t, ctx, reads("disconnected"))
	port := strings.TrimSuffix(base[strings.LastIndexByte(base, ':')+1:], "/")
	page(t, home, work, "--port", port)
	do(t, ctx, turns(`document.getElementById("link").textContent === "live"`))
	do(t, ctx, presses(`button[data-kind=stop]`), reads("asked"))
	goOn("go2")
	do(t, ctx, reads("Iteration 2"), reads("still more"), reads("stopped"), reads("codeloops resume"))
	var title string
	var ones int
	do(t, ctx, chromedp.Title(&title), chromedp.Evaluate(`[...document.querySelectorAll("h2")].filter((h) => h.textContent === "Iteration 1").length`, &ones))
	if strings.Contains(title, "evil") || ones != 1 {
		t.Errorf("the title is %q, iteration 1 is there %d times", title, ones)
	}
	_ = run.Wait()
	asked := steers(t, home)
	if len(asked) < 2 || asked[0].Kind != loop.SteerSay || asked[0].Text != "use <b>B</b>" {
		t.Errorf("asked: %+v", asked)
	}
	do(t, ctx, chromedp.Navigate(base), reads("Needs you"))
	do(t, ctx, chromedp.SendKeys("#search", "nothing like that\r"), chromedp.WaitNotPresent("a.row"))
}

// TestPageNarrow: on a phone nothing is wider than the screen.
func TestPageNarrow(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 390, 844)
	home, work := scriptedHome(t, "[[actor]]\nstep = [{ write = \"a\", content = \"a\\n\" }]\nsay = \"done\"\n[[critic]]\nsay = \"DECISION: DONE\\nSEAL: {seal}\"\n")
	run := exec.Command(os.Args[0], "--yes", "-q", "a long prompt "+strings.Repeat("with-one-very-long-word", 20))
	run.Dir, run.Env = work, environOf(home)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address, _ := page(t, home, work)
	var wide bool
	const overflow = "document.documentElement.scrollWidth > innerWidth"
	do(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(address), reads("Done"), chromedp.Evaluate(overflow, &wide))
	if wide {
		t.Error("the list is wider than a phone")
	}
	do(t, ctx, clicks("a.row"), reads("the work was approved"), chromedp.Evaluate(overflow, &wide))
	if wide {
		t.Error("a run is wider than a phone")
	}
}

// TestPageForeign: another page can neither post to this one, nor read it, nor show it in a frame, although the browser is
// signed in.
func TestPageForeign(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900)
	home, work := scriptedHome(t, uiScenario)
	address, _ := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	run := exec.Command(os.Args[0], "--yes", "do it here")
	run.Dir, run.Env = work, environOf(home)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	var href string
	do(t, ctx, chromedp.Navigate(address), reads("running"), chromedp.Evaluate(`document.querySelector("a.row").href`, &href))
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<title>foreign</title><iframe src=%q></iframe><form id=f method=post action="%s/steer"><input name=kind value=stop></form><script>
			fetch("%[2]s/steer", {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({kind: "stop"})}).catch(() => {});
			fetch("%[3]slist", {credentials: "include"}).then((r) => r.text()).then((t) => { document.title = "read " + t; }).catch(() => { document.title = "refused"; });
		</script>`, base, href, base)
	}))
	t.Cleanup(foreign.Close)
	var framed string
	do(t, ctx, network.Enable(), chromedp.Navigate(foreign.URL), turns(`document.title !== "foreign"`),
		chromedp.Evaluate(`document.title + " " + document.querySelector("iframe").contentWindow.length`, &framed))
	if !strings.HasPrefix(framed, "refused") {
		t.Errorf("the foreign page read: %s", framed)
	}
	do(t, ctx, chromedp.Submit("#f"), chromedp.Sleep(time.Second))
	if asked := steers(t, home); len(asked) > 0 {
		t.Errorf("the foreign page asked: %+v", asked)
	}
}

// commentScenario is a run whose actor gets, in its third turn, what was said about a line of its first one.
const commentScenario = `
[[actor]]
step = [{ write = "a.txt", content = "one\ntwo <b>old</b> three\n" }]
say = "first"
[[actor]]
step = [{ write = "a.txt", content = "one\ntwo <b>new</b> three\n" }, { run = "until [ -e $HOME/go ]; do sleep 0.02; done" }]
say = "second"
[[actor]]
expect = ["has added this to the task", "a.txt:2, ` + "`two <b>old</b> three`" + `: say <i>2</i> here"]
step = [{ write = "a.txt", content = "one\n2\n" }]
say = "third"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: more\nSEAL: {seal}"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: more\nSEAL: {seal}"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`

// TestPageHostile: under another name that leads here there is no page, a session's name leads nowhere else, no other site learns
// the token, and a log that changes or goes while it is read ends with a sentence.
func TestPageHostile(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900, chromedp.Flag("host-resolver-rules", "MAP rebound.example 127.0.0.1"))
	home, work := scriptedHome(t, uiScenario)
	address, _ := page(t, home, work)
	base, token, _ := strings.Cut(address, "#")
	run := exec.Command(os.Args[0], "--yes", "do it here")
	run.Dir, run.Env = work, environOf(home)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	asked := make(chan *http.Request, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/" {
			asked <- q
		}
	}))
	t.Cleanup(elsewhere.Close)

	var href, at string
	do(t, ctx, chromedp.Navigate(address), reads("running"), chromedp.Evaluate(`document.querySelector("a.row").href`, &href), chromedp.Location(&at))
	if strings.Contains(at, token) {
		t.Errorf("the token stays in the address: %s", at)
	}
	do(t, ctx, chromedp.Evaluate(fmt.Sprintf("void (location.href = %q)", elsewhere.URL), nil))
	if q := <-asked; q.Referer() != "" || strings.Contains(fmt.Sprint(q.Header), token) {
		t.Errorf("another site is told %v", q.Header)
	}
	do(t, ctx, turns(fmt.Sprintf("location.href.startsWith(%q) && document.readyState === 'complete'", elsewhere.URL)), // else its end ends the next one
		chromedp.Navigate(strings.Replace(base, "127.0.0.1", "rebound.example", 1)), reads("answers only under its own name"),
		chromedp.Navigate(base+"run/..%2f..%2fwork%2f.git%2fconfig"), reads("There is no such session"),
		chromedp.Navigate(base+"run/../../work/.git/config"), turns(`!document.body.innerText.includes("[core]")`))

	logs, err := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	do(t, ctx, chromedp.Navigate(href), reads("iteration 1 of"), chromedp.ActionFunc(func(context.Context) error { return os.Truncate(logs[0], 10) }),
		reads("somebody else has changed or removed it"), chromedp.ActionFunc(func(context.Context) error { return os.Remove(logs[0]) }),
		chromedp.Navigate(href), reads("There is no such session"), chromedp.Navigate(base), turns(`document.querySelector("#list h2") && !document.querySelector("a.row")`))
}

// TestPageChanges: the change of a session is shown by file, whole and of one iteration, in one column and in two, with the words
// marked that differ. What is said about a line of it reaches the actor in its next turn.
func TestPageChanges(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900)
	home, work := scriptedHome(t, commentScenario)
	address, _ := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	run := exec.Command(os.Args[0], "--yes", "-q", "count in a file")
	run.Dir, run.Env = work, environOf(home)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill() })
	do(t, ctx, chromedp.Navigate(address), reads("count in a file"), clicks("a.row"), reads("iteration 2 of 10"),
		presses(`header a.button`), reads("a.txt"), reads("two <b>old</b> three"),
		presses(`button[data-n="2"]`), chromedp.SendKeys(`.comment textarea`, "say <i>2</i> here"), presses(`.comment button[type=submit]`),
		reads("told: a.txt:2, `two <b>old</b> three`: say <i>2</i> here"))
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run.Wait(); err != nil {
		t.Fatalf("%v: the actor was not told: %+v", err, steers(t, home))
	}
	var href string
	var marks []string
	do(t, ctx, chromedp.Navigate(base), reads("Done"), chromedp.Evaluate(`document.querySelector("a.row").href`, &href))
	do(t, ctx, chromedp.Navigate(href+"/changes?iteration=2&view=split"), reads("new"),
		chromedp.Evaluate(`[...document.querySelectorAll("mark")].map((m) => m.textContent)`, &marks))
	if len(marks) != 2 || marks[0] != "old" || marks[1] != "new" {
		t.Errorf("marked: %q", marks)
	}
	do(t, ctx, chromedp.Navigate(href+"/changes"), reads("a.txt"), turns(`document.querySelectorAll("td.w.add").length === 2`))
	if again := steers(t, home); len(again) != 1 {
		t.Errorf("said: %+v", again)
	}
}

// TestPageManyFiles: of a change of 10,000 files, only those are loaded that come into sight.
func TestPageManyFiles(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900)
	home, work := scriptedHome(t, "[[actor]]\nstep = [{ run = \"mkdir d; cd d; seq 10000 | xargs touch; for i in *; do echo $i >$i; done\" }]\nsay = \"done\"\n[[critic]]\nsay = \"DECISION: DONE\\nSEAL: {seal}\"\n")
	run := exec.Command(os.Args[0], "--yes", "-q", "make 10,000 files")
	run.Dir, run.Env = work, environOf(home)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address, _ := page(t, home, work)
	var href string
	var loaded, files int
	do(t, ctx, chromedp.Navigate(address), reads("Done"), chromedp.Evaluate(`document.querySelector("a.row").href`, &href))
	do(t, ctx, chromedp.Navigate(href+"/changes"), turns(`document.querySelectorAll("table.code").length > 0`),
		turns(`(document.getElementById("file-9999").scrollIntoView(), document.querySelector("#file-9999 table.code") !== null)`),
		chromedp.Evaluate(`document.querySelectorAll("table.code").length`, &loaded), chromedp.Evaluate(`document.querySelectorAll(".file").length`, &files))
	if files != 10_000 || loaded > 500 {
		t.Errorf("%d of %d files are loaded", loaded, files)
	}
}

// startScenario is a run that is done in its second iteration, and one with a plan.
const startScenario = `
[[role.planner]]
say = "PLAN:\n1. write it"
[[actor]]
step = [{ write = "a.txt", content = "one\n" }]
say = "first"
[[actor]]
expect = ["take <b>two</b>"]
step = [{ write = "a.txt", content = "two\n" }]
say = "second"
[[critic]]
check = "grep -q two a.txt"
pass = "DECISION: DONE\nSEAL: {seal}"
fail = "DECISION: CONTINUE\nFEEDBACK: more\nSEAL: {seal}"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`

// TestPageStarts: a session that has used up its iterations goes on with more of them and a word for the actor, a new run is
// started in its project, and the plan of that one is approved. These runs go on when the page ends.
func TestPageStarts(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900)
	home, work := scriptedHome(t, startScenario)
	address, stop := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	run := exec.Command(os.Args[0], "--yes", "-q", "-n", "1", "count in a file")
	run.Dir, run.Env = work, environOf(home)
	_ = run.Run() // it is not done
	do(t, ctx, chromedp.Navigate(address), reads("count in a file"), clicks("a.row"), reads("Iterations in all"),
		chromedp.SendKeys(`.after [name=text]`, "take <b>two</b>"), chromedp.SendKeys(`.after [name=iterations]`, "3"), presses(`.after button`),
		reads("Iteration 2"), reads("the work was approved"))
	do(t, ctx, chromedp.Navigate(base), presses(`a[href="/stats"]`), reads("done at the first try"), turns(`document.querySelector(".days rect") !== null`),
		presses(`.sums a`), reads("count in a file"))
	do(t, ctx, chromedp.Navigate(base), presses(`a[href="/new"]`), reads("What should be true at the end"),
		chromedp.SendKeys(`[name=prompt]`, "count with a plan"), chromedp.SetValue(`[name=strategy]`, "plan-and-execute"), presses(`[name=approve]`),
		presses(`.after button`), reads("count with a plan"), reads("1. write it"))
	stop()
	port := strings.TrimSuffix(base[strings.LastIndexByte(base, ':')+1:], "/")
	page(t, home, work, "--port", port)
	do(t, ctx, chromedp.Navigate(base), reads("asks"), reads("Needs you"), clicks("a.row"), reads("1. write it"), presses(`[data-say=y]`), reads("the work was approved"))
}
