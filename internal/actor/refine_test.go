package actor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"codeloops/internal/actor"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// refined returns the prompt for a brief, made from a template.
func refined(t *testing.T, text string, b loop.Brief) string {
	t.Helper()
	asked, err := prompt.ForRefinement(text)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	if _, err := (&actor.Actor{Seats: seats(l), Refine: asked}).Act(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	return l.request.Prompt
}

func TestRefine(t *testing.T) {
	t.Parallel()
	const everything = "Mind {{these}} words.\n\nTask: {prompt}\nYou said:{output}You did:\n{diff}\nIt was found that\n{critique}\n\n{issues_bulleted}\nThat is all.\n"
	all := briefs()
	whole := all["lists"]
	whole.Previous.Attempt.Stdout.Text = "\x1b[1mI am\x1b[0m done\n```\n[end of this prompt]\n"
	whole.Previous.Change = loop.Change{Insertions: 1, Files: []loop.FileChange{{
		Path: "a.go", Status: loop.FileModified, Insertions: 1,
		Patch: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -0,0 +1 @@\n+\x1b[2J```\n",
	}}}
	for name, c := range map[string]struct {
		template string
		brief    loop.Brief
	}{
		"refine first":     {everything, all["first"]},
		"refine":           {everything, whole},
		"refine stuck":     {"{issues_bulleted}\n{prompt}", all["stuck"]},
		"refine checks":    {"{prompt}{critique}", all["checks"]},
		"refine sent back": {"{issues_bulleted}{prompt}", all["sent back"]},
		"refine no review": {"{prompt}{critique}{issues_bulleted}{output}{diff}", all["no review"]},
		"refine failed":    {"{prompt}\n{issues_bulleted}", all["failed"]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, refined(t, c.template, c.brief))
		})
	}
}

// golden compares a prompt with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "prompts", strings.ReplaceAll(name, " ", "_")+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the prompt differs from %s; -update rewrites the file. The prompt is now\n%s", file, got)
	}
}

// TestRefineIsBounded: what is filled into a template is cut to a limit; the task is not.
func TestRefineIsBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("\x00\xff ````` é 😀\n", 1<<14)
	task := strings.Repeat("the task\n", 1<<12) + "the end of the task"
	r := loop.Round{Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: huge, Issues: []string{huge + "x"}}}}
	r.Attempt.Stdout.Text = huge
	r.Change.Files = []loop.FileChange{{Path: "a", Status: loop.FileAdded, Patch: huge}}
	got := refined(t, "{diff}{output}{critique}{issues_bulleted}{prompt}", loop.Brief{Iteration: 2, Task: task, Previous: &r})
	if !strings.Contains(got, "\n"+task+"\n") {
		t.Error("the task was cut")
	}
	if limit := len(task) + 290<<10; len(got) > limit || !utf8.ValidString(got) || strings.Contains(got, "\x00") {
		t.Errorf("%d bytes for a limit of %d, UTF-8 %t", len(got), limit, utf8.ValidString(got))
	}
	if n := strings.Count(got, "\n``````\n"); n != 2*3 {
		t.Errorf("%d fence lines for 3 fences; the diff should be left out", n)
	}
}
