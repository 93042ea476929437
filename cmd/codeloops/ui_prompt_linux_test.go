package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// interviewScenario is an agent that asks once and then writes a prompt, which the actor gets.
const interviewScenario = `
[[role.interviewer]]
expect = ["count <b>up</b>"]
step = [{ write = "touched", content = "x" }]
say = "I read <script>document.title='evil'</script>.\n\nQUESTION: How <i>far</i>?"
[[role.interviewer]]
expect = ["How <i>far</i>?", "to three"]
say = "PROMPT: Count to three\n\n## Goal\n\none to three\n\n## Constraints\n\nnone\n\n## Bounds\n\nnothing else\n\n## Done when\n\n` + "`cat a.txt` shows <script>document.title='evil'</script>" + `\n\n## Where to look\n\nnowhere"
[[actor]]
step = [{ write = "a.txt", content = "one\n" }]
say = "done"
[[actor]]
step = [{ write = "a.txt", content = "three\n" }]
say = "done"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`

// TestPagePrompt: a prompt is written in the form, shown as the actor will read it, kept, replaced with a copy and run; and one
// that an agent has written after an interview is run as well. Markup in it is text.
func TestPagePrompt(t *testing.T) {
	t.Parallel()
	ctx := browser(t, 1280, 900)
	home, work := scriptedHome(t, interviewScenario)
	run := exec.Command(os.Args[0], "--yes", "-q", "begin here with a file")
	run.Dir, run.Env = work, environOf(home)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address, _ := page(t, home, work)
	base, _, _ := strings.Cut(address, "#")
	const form = `fieldset:not([disabled]) `
	do(t, ctx, chromedp.Navigate(address), reads("begin here"), presses(`a[href="/prompt"]`), reads("What the actor will read"), reads("not said yet: Problem"),
		chromedp.SetValue(`[name=name]`, "count"), chromedp.SendKeys(form+`[name=lead]`, "Count <script>document.title='evil'</script>"),
		chromedp.SendKeys(form+`[name="part Problem"]`, "nobody counts"), turns(`document.querySelector("#preview pre")?.textContent.includes("## Problem\n\nnobody counts")`),
		presses("#keep"), reads("written: .codeloops/prompts/count.md"),
		chromedp.SendKeys(form+`[name="part Problem"]`, " well"), presses("#keep"), reads("Replace it? A copy is kept."), presses("#replace"), reads("what was there before is kept in"),
		chromedp.Navigate(base+"prompt?q=nobody"), reads("count"), clicks("a.row"), turns(`document.querySelector("fieldset:not([disabled]) [name=lead]")?.value.startsWith("Count <script>")`))
	kept, err := os.ReadFile(filepath.Join(work, ".codeloops", "prompts", "count.md"))
	if want := "---\nkind: feature\n---\n\nCount <script>document.title='evil'</script>\n\n## Problem\n\nnobody counts well\n"; err != nil || string(kept) != want {
		t.Errorf("%v: it is kept as %q", err, kept)
	}
	do(t, ctx, presses("#remove"), reads("Yes, delete count"), presses("#remove"), turns(`location.search !== "" && !document.querySelector("#remove") && !document.querySelector("a.row")`))
	if _, err := os.Stat(filepath.Join(work, ".codeloops", "prompts", "count.md")); err == nil {
		t.Error("it is still there")
	}
	do(t, ctx, chromedp.Navigate(base+"prompt"), turns(`document.querySelector("select[name=kind]") !== null`),
		chromedp.Evaluate(`{ const k = document.getElementById("draft").kind; k.value = "free"; k.dispatchEvent(new Event("input", { bubbles: true })); }`, nil),
		chromedp.SendKeys(`#interview textarea`, "count <b>up</b>"), presses(`#interview button[type=submit]`), reads("How <i>far</i>?"), reads("I read <script>"),
		chromedp.SendKeys(`#interview textarea`, "to three"), presses(`#interview button[type=submit]`), reads("The form is filled in"),
		turns(`document.querySelector("#preview pre")?.textContent.includes("## Done when\n\n`+"`cat a.txt`"+` shows <script>")`),
		presses(`#draft button[type=submit]`), reads("the work was approved"))
	logs, _ := filepath.Glob(filepath.Join(home, ".local", "share", "codeloops", "prompts", "interview-*.md"))
	if len(logs) != 1 || !strings.Contains(text(t, logs[0]), "## you\n\nto three\n\n## the agent\n\nPROMPT: Count to three") {
		t.Errorf("the interview is kept in %q", logs)
	}
	var title string
	do(t, ctx, chromedp.Title(&title))
	if strings.Contains(title, "evil") {
		t.Errorf("the title is %q", title)
	}
	if _, err := os.Stat(filepath.Join(work, "touched")); err == nil {
		t.Error("the interview has written to the repository")
	}
}
