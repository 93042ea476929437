package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditorHasTheTerminal: the editor reads from the terminal and writes to it.
func TestEditorHasTheTerminal(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	editor := filepath.Join(work, "editor.sh")
	script := "test -t 0 && test -t 1 && test -t 2 && read typed && printf '%s, and four words more\\n' \"$typed\" > \"$1\"\n"
	scenario := filepath.Join(work, "scenario.toml")
	for name, text := range map[string]string{editor: script, scenario: "[[actor]]\n[[critic]]\nsay = \"DECISION: DONE\"\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shown, code := terminal(t, t.TempDir(), []string{"VISUAL=sh " + editor}, "typed by hand\n",
		"run", "-e", "--dry-run", "-d", work, "--agent", "scripted", "--script", scenario)
	if code != 0 || !strings.Contains(shown, "\ntyped by hand, and four words more\n") {
		t.Errorf("%d\n%s", code, shown)
	}
}
