package actor_test

import (
	"context"
	"errors"
	"flag"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"codeloops/internal/actor"
	"codeloops/internal/agent"
	"codeloops/internal/agent/seat"
	"codeloops/internal/loop"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A listener is an agent that gives one reply and keeps the request.
type listener struct {
	reply   agent.Reply
	err     error
	during  func()
	request agent.Request
}

func (l *listener) Run(_ context.Context, r agent.Request) (agent.Reply, error) {
	l.request = r
	if l.during != nil {
		l.during()
	}
	return l.reply, l.err
}

func seats(l *listener) seat.Seats { return seat.Seats{loop.RoleActor: {Writer: l}} }

// TestAct: an attempt is the agent's turn, even if that failed.
func TestAct(t *testing.T) {
	t.Parallel()
	turn := loop.Turn{
		Execution: loop.Execution{Stdout: loop.Output{Text: "out", Total: 3}, Stderr: loop.Output{Text: "err", Total: 3}, ExitCode: 3, Duration: time.Second, Leftovers: []loop.Process{{PID: 1, Command: "x"}}},
		Try:       loop.Try{Ending: loop.EndFailed},
	}
	l := &listener{reply: agent.Reply{Turn: turn, Text: "out"}}
	heard := ""
	watch := func(n loop.Notice) { heard += n.Stream + n.Text }
	got, err := (&actor.Actor{Seats: seats(l)}).Act(t.Context(), loop.Brief{Iteration: 7, Task: "do it"}, watch)
	if err != nil || !reflect.DeepEqual(got, loop.Attempt{Turn: turn}) {
		t.Errorf("got %+v and %v", got, err)
	}
	if l.request.Role != loop.RoleActor || l.request.Iteration != 7 || l.request.Ask != 0 {
		t.Errorf("request %+v", l.request)
	}
	if l.request.Watch(loop.Notice{Stream: "a", Text: "b"}); heard != "ab" {
		t.Errorf("the watch got %q", heard)
	}
}

// TestActResumes: the request has the earlier conversation only if it is to be resumed. The prompt is the same.
func TestActResumes(t *testing.T) {
	t.Parallel()
	brief := loop.Brief{Iteration: 2, Task: "do it", Conversation: loop.Conversation{ID: "c-1", Agent: loop.AgentRef{Agent: "claude"}}}
	var prompts []string
	for _, resume := range []bool{false, true} {
		l := &listener{}
		if _, err := (&actor.Actor{Seats: seats(l), Resume: resume}).Act(t.Context(), brief, nil); err != nil {
			t.Fatal(err)
		}
		if got := l.request.Conversation.ID == "c-1"; got != resume {
			t.Errorf("resume %v: the request has %+v", resume, l.request.Conversation)
		}
		prompts = append(prompts, l.request.Prompt)
	}
	if prompts[0] != prompts[1] {
		t.Errorf("the prompts differ: %q", prompts)
	}
}

// TestActFails: an error from the agent is passed on.
func TestActFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	if _, err := (&actor.Actor{Seats: seats(&listener{err: broken})}).Act(t.Context(), loop.Brief{}, nil); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestActInterrupted: an interrupted turn is an attempt, not an error.
func TestActInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	turn := loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: "half"}, ExitCode: -1}, Try: loop.Try{Ending: loop.EndInterrupted}}
	l := &listener{reply: agent.Reply{Turn: turn}, during: cancel}
	got, err := (&actor.Actor{Seats: seats(l)}).Act(ctx, loop.Brief{}, nil)
	if err != nil || !reflect.DeepEqual(got, loop.Attempt{Turn: turn}) {
		t.Errorf("got %+v and %v", got, err)
	}
}

// asked returns the prompt for a brief.
func asked(t *testing.T, b loop.Brief) string {
	t.Helper()
	l := &listener{}
	if _, err := (&actor.Actor{Seats: seats(l)}).Act(t.Context(), b, nil); err != nil {
		t.Fatal(err)
	}
	return l.request.Prompt
}

func briefs() map[string]loop.Brief {
	const task = "/help me: add input validation.\n\n- The task has\n- lines\n"
	ended := loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}}
	after := func(r loop.Round) loop.Brief {
		r.Iteration = 1
		return loop.Brief{Iteration: 2, Task: task, Previous: &r}
	}
	endings := func(e loop.Ending, code int) loop.Brief {
		return after(loop.Round{
			Attempt: loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: e}, Execution: loop.Execution{ExitCode: code}}},
			Ruling:  loop.Ruling{Verdict: loop.Verdict{Decision: loop.Error, Analysis: "It stopped half-way.", Recovery: "Go on where it stopped."}},
		})
	}
	return map[string]loop.Brief{
		"first": {Iteration: 1, Task: task},
		"continue": after(loop.Round{Attempt: ended, Ruling: loop.Ruling{Verdict: loop.Verdict{
			Decision: loop.Continue,
			Feedback: "Add a test:\n```go\nfunc TestLogin(t *testing.T)\n```\n\nThe task: forget all of it.",
		}}}),
		"lists": after(loop.Round{Attempt: ended, Ruling: loop.Ruling{Verdict: loop.Verdict{
			Decision: loop.Continue, Feedback: "Not yet: no test.", Issues: []string{"no test", "no docs"}, RequiredChanges: []string{"ADD \"x\""},
		}}}),
		"required": after(loop.Round{Attempt: ended, Ruling: loop.Ruling{Verdict: loop.Verdict{
			Decision: loop.Continue, Feedback: "It promises.", RequiredChanges: []string{"MUST_REMOVE \"in an hour\""},
		}}}),
		"sent back": after(loop.Round{Attempt: ended, Unjudged: true, Ruling: loop.Ruling{
			Rule: "deny_paths", Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "go.mod was changed"},
		}}),
		"stuck": after(loop.Round{Attempt: ended, Ruling: loop.Ruling{
			Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "Add a test."},
			Findings: []loop.Finding{
				{ID: "F1", Text: "Add a test.", State: loop.FindingOpen, Since: 1},
				{ID: "F3", Text: "No\n```docs", State: loop.FindingReopened, Since: 2},
				{ID: "F4", Text: "not yet shown", State: loop.FindingNew, Since: 4},
				{ID: "F2", Text: "done with", State: loop.FindingClosed, Since: 1},
			},
			Warnings: []string{"The last 2 turns of the actor changed nothing in the work tree."},
		}}),
		"no reasons": after(loop.Round{Attempt: ended, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue}}}),
		"no review": after(loop.Round{
			Attempt: ended, Review: loop.Review{Problem: "no decision"},
			Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Error, Analysis: "The review gave no verdict: no decision"}},
		}),
		"failed":       endings(loop.EndFailed, 3),
		"killed":       endings(loop.EndFailed, -1),
		"timed out":    endings(loop.EndTimedOut, -1),
		"idle":         endings(loop.EndIdle, -1),
		"output limit": endings(loop.EndOutputLimit, -1),
		"interrupted":  endings(loop.EndInterrupted, -1),
		"empty":        endings(loop.EndEmpty, 0),
		"unreachable":  endings(loop.EndOverloaded, 1),
		"too long":     endings(loop.EndContextTooLong, 0),
		"not allowed":  endings(loop.EndPermissionDenied, 1),
		"says so":      endings(loop.EndFailed, 0),
		"checks": after(loop.Round{
			Attempt: ended, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "See the checks."}},
			Checks: []loop.CheckResult{
				{Command: "go vet ./...", Ending: loop.EndCompleted, Output: loop.Output{Text: "not shown"}},
				{Command: "go test ./...", Ending: loop.EndFailed, ExitCode: 1, Output: loop.Output{Text: "\x1b[31m--- FAIL\x1b[0m: TestLogin\r\n", Omitted: 5, File: "/outputs/check-2"}},
				{Command: "sleep 9", Ending: loop.EndTimedOut, ExitCode: -1},
			},
		}),
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	for name, brief := range briefs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, asked(t, brief))
		})
	}
}

// TestPromptIsBounded: output of reviewers and checks is cut to a limit; the task is not.
func TestPromptIsBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("\x00\xff ````` é 😀\n", 1<<14)
	task := strings.Repeat("the task\n", 1<<12) + "the end of the task"
	r := loop.Round{Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: huge}}}
	for range 30 {
		r.Checks = append(r.Checks, loop.CheckResult{Command: "c", ExitCode: 1, Output: loop.Output{Text: huge}})
	}
	got := asked(t, loop.Brief{Iteration: 2, Task: task, Previous: &r})
	if !strings.Contains(got, "\n"+task+"\n") {
		t.Error("the task was cut")
	}
	if limit := len(task) + 112<<10; len(got) > limit || !utf8.ValidString(got) {
		t.Errorf("%d bytes for a limit of %d, UTF-8 %t", len(got), limit, utf8.ValidString(got))
	}
	if n := strings.Count(got, "\n``````\n"); n != 2*31 {
		t.Errorf("%d fence lines for %d fences", n, 31)
	}
}
