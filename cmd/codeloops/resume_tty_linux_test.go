package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestResumeAsks when the work tree is not as the session left it: what differs
// is shown, a no changes nothing, a yes goes on with what is there.
func TestResumeAsks(t *testing.T) {
	t.Parallel()
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
	if out, _ := begin.CombinedOutput(); begin.ProcessState.ExitCode() != exitLimit {
		t.Fatalf("exit code %d\n%s", begin.ProcessState.ExitCode(), out)
	}
	s.write("work/done.txt", "first\nmine\n")
	s.write("work/stranger.txt", "x\n")
	read := func(pattern string) string {
		names, err := filepath.Glob(filepath.Join(s.dir, pattern))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		text, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := read("sessions/*.jsonl")

	resume := func(answer string) (string, int) {
		cmd := s.codeloops()
		cmd.Args = append(cmd.Args[:1], "resume", "-n", "3", "--agent", "scripted", "--script", "../scenario.toml")
		cmd.Env = append(cmd.Env, "TERM=xterm")
		d := onTerminal(t, cmd)
		d.sees("left it: ")
		d.sees("carry on with it as it is? [y/N] ")
		if shown := d.text(); !strings.Contains(shown, "the work tree is not as session ") ||
			!strings.Contains(shown, "done.txt modified, stranger.txt added\n") {
			t.Errorf("asked: %q", shown)
		}
		d.types(answer)
		return d.end()
	}
	for _, no := range []string{"n\n", "\n", "\x04"} {
		if shown, code := resume(no); code != exitError || strings.Contains(shown, "Iteration") {
			t.Errorf("%q: exit code %d: %q", no, code, shown)
		}
		if read("sessions/*.jsonl") != before || read("work/done.txt") != "first\nmine\n" || read("work/stranger.txt") != "x\n" {
			t.Fatalf("%q: something was changed", no)
		}
	}
	if shown, code := resume("y\n"); code != exitDone || !strings.Contains(shown, "Done after 2 iterations") {
		t.Errorf("yes: exit code %d: %q", code, shown)
	}
	if got := read("work/done.txt"); got != "first\nmine\nsecond\n" {
		t.Errorf("the file holds %q", got)
	}
	events := s.events()
	if end, ok := events[len(events)-1].(loop.Finished); !ok || end.Outcome.Result != loop.Success {
		t.Errorf("it ends with %+v", events[len(events)-1])
	}
}
