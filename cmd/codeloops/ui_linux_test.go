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

	"github.com/chromedp/cdproto/emulation"
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
func browser(t *testing.T, width, height int) context.Context {
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
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // it has to end before its files are removed
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	return limited
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
	if err := chromedp.Run(ctx, actions...); err != nil {
		var html string
		_ = chromedp.Run(ctx, chromedp.OuterHTML("html", &html))
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
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			var is bool
			err := chromedp.Evaluate(expression, &is).Do(ctx)
			switch {
			case is:
				return nil
			case ctx.Err() != nil || time.Now().After(end):
				return fmt.Errorf("never true: %s (%w)", expression, errors.Join(err, context.Cause(ctx)))
			}
		}
	})
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
	do(t, ctx, chromedp.Click(`button[data-kind=stop]`), reads("asked"))
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

// TestPictures writes pictures of the page into the directory that PICTURES names, for people to look at.
func TestPictures(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		t.Skip("PICTURES names no directory")
	}
	home, work := scriptedHome(t, uiScenario)
	for _, name := range []string{"go1", "go2"} {
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ended := exec.Command(os.Args[0], "--yes", "-q", "-n", "1", "make the date parser accept ISO weeks, with tests")
	ended.Dir, ended.Env = work, environOf(home)
	_ = ended.Run() // it is not done
	_ = os.Remove(filepath.Join(home, "go1"))
	run := exec.Command(os.Args[0], "--yes", "print ISO weeks in the report")
	run.Dir, run.Env = work, environOf(home)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	address, _ := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(base), reads("not signed in"))
	for _, width := range []int64{390, 1280, 2560} {
		for _, scheme := range []string{"light", "dark"} {
			var picture []byte
			shot := func(name string) chromedp.Action {
				return chromedp.ActionFunc(func(ctx context.Context) error {
					if err := chromedp.FullScreenshot(&picture, 100).Do(ctx); err != nil {
						return err
					}
					return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o600)
				})
			}
			media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
			do(t, ctx, media, chromedp.EmulateViewport(width, 900), chromedp.Navigate("about:blank"), chromedp.Navigate(address), reads("running"), shot("list"),
				clicks("a.row .live"), reads("iteration 1 of 10"), shot("running"),
				chromedp.Navigate(base), reads("Done"), clicks("a.row .warn"), reads("End"), shot("ended"))
		}
	}
}
