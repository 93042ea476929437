package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/command"
)

const planned = `
[[role.planner]]
say = "PLAN:\n1. write one\n2. write two"
[[actor]]
expect = ["write uno"]
step = [{ write = "a", content = "uno\n" }]
say = "done"
[[critic]]
say = "DECISION: DONE\nSUMMARY: fine\nSEAL: {seal}"
`

// TestPlanIsApproved: the user sees the plan, can change it, and accepts or rejects it before
// anything has happened.
func TestPlanIsApproved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		talk []string // pairs of a text to wait for and the keys to answer with
		ends string
		code int
	}{
		"approved": {
			[]string{
				"1. write one\n2. write two", "what?\n", "could not be read", "2 write nothing\n", "2. write nothing", "-2\n",
				"The plan is now:", "1 write uno\n", "1. write uno", "y\n",
			}, "Done after 2 iterations", command.ExitDone,
		},
		"refused":     {[]string{"2. write two", "n\n"}, "Interrupted after 0 iterations", command.ExitInterrupted},
		"left":        {[]string{"2. write two", "\x04"}, "Interrupted after 0 iterations", command.ExitInterrupted},
		"interrupted": {[]string{"2. write two", "\x03"}, "Interrupted after 0 iterations", command.ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, planned)
			d := onTerminal(t, s.codeloops("--strategy", "plan-and-execute", "--approve-plan", "write one and two please"))
			for i := 0; i < len(c.talk); i += 2 {
				d.sees(c.talk[i])
				d.sees("takes step 2 out.\n> ")
				for _, once := range []string{"The plan:", "The plan is now:", "could not be read"} {
					if strings.Count(d.text(), once) > 1 || strings.Contains(d.text(), "answer:") {
						t.Errorf("the question or the input is repeated: %q", d.text())
					}
				}
				d.types(c.talk[i+1])
			}
			if text, code := d.end(); code != c.code || !strings.Contains(ansi.Strip(text), c.ends) {
				t.Errorf("exit code %d, it shows %q", code, text)
			}
			_, err := os.Stat(filepath.Join(s.dir, "work", "a"))
			if there := err == nil; there != (c.code == command.ExitDone) {
				t.Errorf("the work exists: %t", there)
			}
		})
	}
}
