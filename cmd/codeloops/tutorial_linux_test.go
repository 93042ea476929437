package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestPagesRun runs the `sh` blocks of the README and the tutorial unchanged. Commands that install
// something are in `bash` blocks.
func TestPagesRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, page := range map[string]struct{ file, in, before, after string }{
		"readme": {
			file: "../../README.md", in: "work", before: "repo work\n",
			after: "stdout 'Done after 2 iterations'\nstdout 'success'\nexists $WORK/work/report.html $WORK/work/result.json\ngrep '\"outcome\":\"success\"' $WORK/work/result.json\n",
		},
		"tutorial": {
			file: "../../docs/tutorial.md", in: ".",
			after: "stdout 'check +.* sh test.sh  failed, exit 1'\nstdout '^Done after 2 iterations'\nstdout '^ended with 1$'\nstdout '^checks = \\[\"sh test.sh\"\\]'\n" +
				"grep 'Hello, .1!' $WORK/greeter/greet.sh\nlog $WORK/log\ngrep 'mind the exclamation mark' $WORK/log\n",
		},
	} {
		blocks := regexp.MustCompile("(?s)\n```sh\n(.*?)```").FindAllStringSubmatch(text(t, page.file), -1)
		if len(blocks) < 5 {
			t.Fatalf("%s has %d blocks of commands", page.file, len(blocks))
		}
		var all strings.Builder
		all.WriteString("set -e\n")
		for _, b := range blocks {
			all.WriteString(b[1])
		}
		script := page.before + "cd " + page.in + "\nenv GIT_PAGER=cat\nexec sh $WORK/page.sh\n" + page.after +
			"-- page.sh --\n" + all.String() + "-- work/test.sh --\n-- work/task.md --\nMake the date parser accept ISO weeks.\n" +
			"-- scenario.toml --\n[[actor]]\nstep = [{ write = \"parser\", content = \"weeks\" }]\n[[critic]]\nsay = \"DECISION: DONE\\nSUMMARY: it accepts ISO weeks\"\n"
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	params := scripts()
	params.Dir = dir
	testscript.Run(t, params)
}

// TestPagesAreThere: links between pages lead to existing files, and ends.md lists the stop
// reasons in troubleshooting.md.
func TestPagesAreThere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "docs/tutorial.md", "docs/troubleshooting.md", "docs/prompts.md", "docs/comparison.md"} {
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(text(t, "../../"+name), -1) {
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(name), link[1])); err != nil {
				t.Errorf("%s leads to %s, which is not there", name, link[1])
			}
		}
	}
	policy := text(t, "../../docs/policy.md") + text(t, "../../docs/ends.md")
	for _, m := range regexp.MustCompile("`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(text(t, "../../docs/troubleshooting.md"), -1) {
		if !strings.Contains(policy, "`"+m[1]+"`") {
			t.Errorf("docs/troubleshooting.md names %s, and docs/ends.md does not", m[1])
		}
	}
}
