package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/command"
)

// TestWelcomeOnATerminal: without a prompt, a terminal shows what has run here and what to do next. A prompt.md is a
// prompt there, too.
func TestWelcomeOnATerminal(t *testing.T) {
	t.Parallel()
	home, work := scriptedHome(t, `
[[actor]]
step = [{ write = "a", content = "x\n" }]
say = "done"
[[critic]]
say = "DECISION: DONE\nSEAL: {seal}"
`)
	const next = "  codeloops \"what to do\"  begins a run\n  codeloops demo          "
	if shown, code := onDesk(t, home, work).end(); code != command.ExitDone || !strings.Contains(shown, "nothing has run yet") || !strings.Contains(shown, next) {
		t.Errorf("at first: exit code %d: %q", code, shown)
	}
	if shown, code := onDesk(t, home, work, "-y", "write a file into this directory").end(); code != command.ExitDone {
		t.Fatalf("exit code %d: %q", code, shown)
	}
	if shown, code := onDesk(t, home, work).end(); code != command.ExitDone || !strings.Contains(shown, "the last session (") || !strings.Contains(shown, ": write a file into") || !strings.Contains(shown, next) {
		t.Errorf("after a run: exit code %d: %q", code, shown)
	}
	if err := os.WriteFile(filepath.Join(work, "prompt.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if shown, code := onDesk(t, home, work).end(); code != command.ExitError || !strings.Contains(shown, "prompt.md is empty") {
		t.Errorf("with an empty prompt.md: exit code %d: %q", code, shown)
	}
}
