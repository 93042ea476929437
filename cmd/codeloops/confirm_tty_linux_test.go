package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/command"
)

// TestConfirm: a short prompt is shown and needs a key before any agent is started;
// a longer one, --yes and confirm = "never" do not wait.
func TestConfirm(t *testing.T) {
	t.Parallel()
	const question = "run it? [y/N] "
	for _, c := range []struct {
		name, prompt, types, says string
		args, env                 []string
		code                      int
		played                    bool
	}{
		{name: "yes", prompt: "fix it", types: "y", says: "actor scripted, critic scripted in a", played: true},
		{name: "no", prompt: "fix it", types: "n", says: "nothing was run", code: command.ExitError},
		{name: "enter", prompt: "fix it", types: "\r", says: "nothing was run", code: command.ExitError},
		{name: "interrupted", prompt: "fix it", types: "\x03", says: "received the signal", code: command.ExitInterrupted},
		{name: "long", prompt: "fix the failing test", played: true},
		{name: "flag", prompt: "fix it", args: []string{"--yes"}, played: true},
		{name: "key", prompt: "fix it", env: []string{"CODELOOPS_CONFIRM=never"}, played: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			work, script := filepath.Join(dir, "work"), filepath.Join(dir, "scenario.toml")
			if out, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			scenario := "[[actor]]\nstep = [{ write = \"played\" }]\n[[critic]]\nsay = \"DECISION: DONE\"\n"
			if err := os.WriteFile(script, []byte(scenario), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"-d", work, "--agent", "scripted", "--script", script}, c.args...)
			d := talk(t, filepath.Join(dir, "logs"), c.env, append(args, c.prompt)...)
			if c.types != "" {
				d.sees(question)
				d.types(c.types)
			}
			text, code := d.end()
			if code != c.code || !strings.Contains(text, c.says) || (c.types == "" && strings.Contains(text, question)) {
				t.Errorf("exit code %d, it shows %q", code, text)
			}
			if _, err := os.Stat(filepath.Join(work, "played")); (err == nil) != c.played {
				t.Errorf("an agent has played: %v", err == nil)
			}
		})
	}
}
