package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/command"
	"codeloops/internal/loop"
)

// leftAt is a stage whose session has reached its limit, and whose work tree has been changed
// since.
func leftAt(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, `
[[actor]]
step = [{ append = "done.txt", content = "first\n" }]
[[actor]]
step = [{ append = "done.txt", content = "second\n" }]
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: go on"
[[critic]]
expect = ["+mine", "+second"]
say = "DECISION: DONE"
`)
	begin := s.codeloops("-n", "1", "task")
	if out, _ := begin.CombinedOutput(); begin.ProcessState.ExitCode() != command.ExitLimit {
		t.Fatalf("exit code %d\n%s", begin.ProcessState.ExitCode(), out)
	}
	s.write("work/done.txt", "first\nmine\n")
	s.write("work/stranger.txt", "x\n")
	return s
}

// state returns the content of the log and of the files in the work tree.
func (s *stage) state() string {
	s.t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"sessions/*.jsonl", "work/*.txt"} {
		names, err := filepath.Glob(filepath.Join(s.dir, pattern))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s: %s\n", filepath.Base(name), text)
		}
	}
	return all.String()
}

// answer resumes the session on a terminal and answers its question.
func (s *stage) answer(answer string) (shown string, code int) {
	s.t.Helper()
	cmd := s.codeloops()
	cmd.Args = append(cmd.Args[:1], "resume", "-n", "3", "--agent", "scripted", "--script", "../scenario.toml")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	d := onTerminal(s.t, cmd)
	d.sees("carry on with it as it is? [y/N] ")
	if shown := d.text(); !strings.Contains(shown, "the work tree is not as session ") ||
		!strings.Contains(shown, " left it: done.txt modified, stranger.txt added\n") {
		s.t.Errorf("asked: %q", shown)
	}
	d.types(answer)
	return d.end()
}

// TestResumeAsks: if the work tree has changed since the session, the differences are shown; "no"
// changes nothing, "yes" continues with the tree as it is.
func TestResumeAsks(t *testing.T) {
	t.Parallel()
	s := leftAt(t)
	before := s.state()
	for _, no := range []string{"n\n", "\n", "\x04"} {
		if shown, code := s.answer(no); code != command.ExitError || strings.Contains(shown, "Iteration") {
			t.Errorf("%q: exit code %d: %q", no, code, shown)
		}
		if now := s.state(); now != before {
			t.Fatalf("%q: something was changed:\n%s", no, now)
		}
	}
	if shown, code := s.answer("y\n"); code != command.ExitDone || !strings.Contains(ansi.Strip(shown), "Done after 2 iterations") {
		t.Errorf("yes: exit code %d: %q", code, shown)
	}
	if now := s.state(); !strings.Contains(now, "done.txt: first\nmine\nsecond\n\n") {
		t.Errorf("the result is\n%s", now)
	}
	events := s.events()
	if end, ok := events[len(events)-1].(loop.Finished); !ok || end.Outcome.Result != loop.Success {
		t.Errorf("it ends with %+v", events[len(events)-1])
	}
}

// TestResumeOffers: only sessions that can be resumed are offered.
func TestResumeOffers(t *testing.T) {
	t.Parallel()
	s := newStage(t, `
[[actor]]
say = "not yet"
[[critic]]
say = "DECISION: CONTINUE\nFEEDBACK: go on"
`)
	for _, args := range [][]string{{"-n", "1", "met the limit first"}, {"--strategy", "react", "met its bound"}, {"-n", "1", "met the limit again"}} {
		begin := s.codeloops(args...)
		begin.Env = append(begin.Env, "CODELOOPS_STRATEGY_MAX_TURNS=1")
		if out, _ := begin.CombinedOutput(); begin.ProcessState.ExitCode() != command.ExitLimit {
			t.Fatalf("exit code %d\n%s", begin.ProcessState.ExitCode(), out)
		}
	}
	cmd := s.codeloops()
	cmd.Args = append(cmd.Args[:1], "resume")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	d := onTerminal(t, cmd)
	d.sees("met the limit first") // the last one in the list
	if shown := d.text(); strings.Contains(shown, "met its bound") {
		t.Errorf("offered: %q", shown)
	}
	d.types("\x03")
	d.end()
}
