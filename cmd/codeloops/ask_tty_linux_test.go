package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/command"
)

// TestQuestionsEnd: Ctrl+C and the end of the input end a question before anything has happened.
func TestQuestionsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sees, types, says string
		code                    int
		args                    []string
	}{
		{"interrupted", "[y/N] ", "\x03", "received the signal", command.ExitInterrupted, []string{"sessions", "rm", "latest"}},
		{"ended", "[y/N] ", "\x04", "no answer", command.ExitError, []string{"sessions", "rm", "latest"}},
		{"denied", "[y/N] ", "n\n", "nothing was changed", command.ExitError, []string{"sessions", "rm", "latest"}},
		{"init interrupted", "agent that does the work", "\n\x03", "received the signal", command.ExitInterrupted, []string{"init"}},
		{"init ended", "agent that does the work", "\n\x04", "no answer", command.ExitError, []string{"init"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := shelf(t)
			d := talk(t, dir, nil, c.args...)
			d.sees(c.sees)
			d.types(c.types)
			if text, code := d.end(); code != c.code || !strings.Contains(text, c.says) {
				t.Errorf("exit code %d, it shows %q", code, text)
			}
			if logs, err := filepath.Glob(filepath.Join(dir, "*.jsonl")); err != nil || len(logs) != 1 {
				t.Errorf("the logs are %q, %v", logs, err)
			}
			if _, err := os.Stat(filepath.Join(d.cmd.Dir, "codeloops.toml")); err == nil {
				t.Error("a configuration was written")
			}
		})
	}
}

// TestPromptIsNotAwaited: Ctrl+C ends the wait for an incomplete prompt.
func TestPromptIsNotAwaited(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	d := talk(t, t.TempDir(), nil, "--prompt-file", pipe)
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d.types("\x03")
	if text, code := d.end(); code != command.ExitInterrupted || !strings.Contains(text, "received the signal") {
		t.Errorf("exit code %d, it shows %q", code, text)
	}
}

// TestDebugLogIsNotAwaited: Ctrl+C ends the wait for a reader of the debug log's pipe.
func TestDebugLogIsNotAwaited(t *testing.T) {
	t.Parallel()
	s := newStage(t, "[[actor]]\n[[critic]]\nsay = \"DECISION: DONE\"\n")
	pipe := filepath.Join(s.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	d := onTerminal(t, s.codeloops("--log-file", pipe, "a task"))
	d.sees("run it? [y/N] ")
	d.types("y")
	time.Sleep(100 * time.Millisecond) // it is blocked at the pipe, or will find the signal there
	d.types("\x03")
	if text, code := d.end(); code != command.ExitInterrupted || !strings.Contains(text, "received the signal") {
		t.Errorf("exit code %d, it shows %q", code, text)
	}
}

// TestInitAsks: accepting every proposal configures installed agents, and the checks
// found in the project's own files.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for _, name := range []string{"codex", "gemini"} {
		if err := writeApart(filepath.Join(bin, name), "#!/bin/sh\necho 1.0\n", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := talkIn(t, work, []string{"PATH=" + bin + ":/usr/bin:/bin", "GEMINI_API_KEY=made-up"}, "init")
	d.sees("agent that does the work [")
	d.types("geminy\n")
	d.sees("did you mean")
	d.types("\n")
	d.sees("agent that judges it [")
	d.types("\n")
	d.sees("maximum number of iterations")
	d.types("many\n")
	d.sees("is not a number of iterations")
	d.types("\n")
	d.sees("must pass before the work is done")
	d.types("\n")
	if text, code := d.end(); code != command.ExitDone {
		t.Errorf("exit code %d, it shows %q", code, text)
	}
	text, err := os.ReadFile(filepath.Join(work, "codeloops.toml"))
	if err != nil || !strings.Contains(string(text), `checks = ["go test ./..."]`) || !strings.Contains(string(text), `agent = "gemini"`) {
		t.Errorf("%v: %s", err, text)
	}
}
