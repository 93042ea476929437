package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/e2e/model"
	"codeloops/internal/loop"
)

// members are the members of strategies that choose one.
const members = `
[strategy.roles.writer]
about = "writes greetings"

[strategy.roles.tester]
about = "tests greetings"
`

// TestStrategies runs every strategy with a real agent in all roles: the agent must understand each
// prompt, and its replies must be readable.
func TestStrategies(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]string{
		"react":            "",
		"self-refine":      "",
		"reflexion":        "max_attempts = 2\n",
		"tree-of-thoughts": "branch_factor = 2\nmax_depth = 1\n",
		"debate":           "debaters = 2\nrounds = 2\nconvergence_check = false\n",
		"rewoo":            "",
		"plan-and-execute": "",
		"router":           members,
		"supervisor":       members,
		"swarm":            "entry_agent = \"writer\"\n" + members,
		"blackboard":       members,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, c cli) {
				var work string
				s := newStage(t, c, asked([]string{repository, "greet the world"}, func(q turn) model.Answer {
					half := name == "reflexion" && !strings.Contains(q.prompt, lesson)
					return playsPart(q, filepath.Join(work, greeting), half)
				}))
				work = s.work
				s.conf = fmt.Sprintf("[strategy]\nname = %q\n%s", name, set)
				r := s.start("greet the world")
				e := r.wait()
				if e.code != 0 || e.result.Reason != loop.StopDone {
					t.Fatalf("exit code %d, %+v\n%s", e.code, e.result, r.events.text())
				}
				if text, err := os.ReadFile(filepath.Join(s.work, greeting)); err != nil || string(text) != "hello, world\n" {
					t.Errorf("the greeting is %q, %v", text, err)
				}
				for _, turn := range e.turns {
					if turn.Ending != loop.EndCompleted {
						t.Errorf("turn %s ended %s (%s)", turn.ID, turn.Ending, turn.Reason)
					}
				}
				table.notef(c.name, "strategies: "+name, "%d turns, %.1f s", len(e.actor)+len(e.critic)+len(e.turns), e.took.Seconds())
			})
		})
	}
}

// repository is in every prompt of codeloops.
const repository = "git repository that is your working directory"

// lesson is learned from an attempt without a greeting.
const lesson = "Greet the world by its name."

// A part is what a role says after it has read or written files.
type part struct {
	mark string // a text of its prompt
	does string // "look", "write", or "" for nothing
	says func(q turn) string
}

func speak(text string) func(turn) string { return func(turn) string { return text } }

// parts are those of all strategies. The first one whose mark is in the prompt is played.
var parts = []part{
	{"You are the critic in a loop.", "look", seen(done, goOn)},
	{"You have worked on the task below", "look", speak("no issues")},
	{"You score the work", "look", seen("score: 1.0\nIt greets the world.", "score: 0.2\nIt does not greet the world.")},
	{"fell short. It will try once more.", "look", speak(lesson)},
	{"Name the evidence", "look", speak(`{"steps": [{"id": "E1", "tool": "ask", "args": "which files are there?"}]}`)},
	{"You plan the work", "look", speak("PLAN:\n1. write the greeting")},
	{"Answer this question about", "look", speak("There is a README.md.")},
	{"one of several who argue", "look", speak("Write the greeting with printf, and test it with cat.")},
	{"Decide how it is to be done", "", speak("Write the greeting with printf.")},
	{"Several specialists can do", "", speak("route: writer\nconfidence: 0.9\nIt writes greetings.")},
	{"You coordinate several workers", "look", seen("FINISH", "DELEGATE: writer\nwrite the greeting")},
	{"say who shall work next", "look", seen("NEXT: decider", "NEXT: writer")},
	{"Decide whether the task is done", "look", speak("FINISHED")},
	{"Your name among them is writer", "write", func(q turn) string {
		if strings.Contains(q.prompt, "HANDOFF: <name>") {
			return "I wrote the greeting.\n\nHANDOFF: tester\n{\"file\": \"" + greeting + "\"}"
		}
		return "I wrote the greeting."
	}},
	{"Your name among them is tester", "look", speak("It greets the world.")},
	{"", "write", speak("I wrote the greeting.\n\nDECISION: DONE\nSUMMARY: it greets the world")},
}

// seen chooses what to say by whether a tool has shown the greeting.
func seen(good, bad string) func(turn) string {
	return func(q turn) string {
		if strings.Contains(strings.Join(q.results, "\n"), "hello, world") {
			return good
		}
		return bad
	}
}

// playsPart returns a model's answer in any role. With half, the work is written only partly.
func playsPart(q turn, path string, half bool) model.Answer {
	var p part
	for _, p = range parts {
		if strings.Contains(q.prompt, p.mark) {
			break
		}
	}
	switch {
	case len(q.results) > 0 || p.does == "":
		return model.Answer{Text: p.says(q)}
	case p.does == "look":
		return use(q.Run("cat " + greeting + " README.md 2>&1 || true"))
	}
	if half {
		return use(q.Run("printf 'hello\\n' > " + quoted(path)))
	}
	return use(q.Run("printf 'hello, world\\n' > " + quoted(path)))
}
