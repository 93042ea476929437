package standing_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session/standing"
)

// TestBoard: before the first event a board shows what is known about the run; then the current
// turn, its agent and the cost.
func TestBoard(t *testing.T) {
	t.Parallel()
	b := &standing.Board{State: &progress.State{}, Known: standing.Standing{Session: "id", PID: 7, Prompt: "task", Limits: standing.Limits{CostUSD: 2}}}
	if s := b.Standing(); s.Session != "id" || s.PID != 7 || s.Now.Turns == nil || s.Now.Role() != "" {
		t.Errorf("at first %+v", s)
	}
	tell := func(second int64, step loop.Step, e loop.Event) {
		t.Helper()
		if err := b.Handle(loop.Stamp{Seq: int(second) + 1, Time: time.Unix(second, 0), Step: step}, e); err != nil {
			t.Fatal(err)
		}
	}
	does := func(kind loop.NoticeKind, text, want string) {
		t.Helper()
		tell(3, "1.actor", loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{Kind: kind, Text: text}})
		if s := b.Standing(); len(s.Now.Turns) != 1 || s.Now.Turns[0].What != want {
			t.Errorf("after %q the turns are %+v", text, s.Now.Turns)
		}
	}
	cast := loop.Cast{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "codex"}}
	tell(0, "", loop.Started{Session: loop.Session{ID: "id", Prompt: "\n the task\nmore", Cast: cast, Terms: loop.Terms{MaxIterations: 5}}})
	tell(1, "1", loop.IterationStarted{Iteration: 1})
	tell(2, "1.actor", loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting})
	does(loop.NoticeOutput, "a\nlast\n\n", "last")
	does(loop.NoticeCommand, "go test ./...\nmore", "go test ./...")
	does(loop.NoticeOutput, "a line", "go test ./...")
	does(loop.NoticeMessage, " \n", "go test ./...")
	does(loop.NoticeMessage, strings.Repeat("é", 1000), strings.Repeat("é", 150)+"…")
	s := b.Standing()
	if s.Prompt != "the task" || s.Limits != (standing.Limits{Iterations: 5, CostUSD: 2}) || s.Now.Phase != "ACTOR_EXECUTING" || s.Now.Role() != "actor" {
		t.Errorf("during the actor's turn %+v", s)
	}
	turn := loop.Turn{Try: loop.Try{Usage: loop.Usage{CostUSD: new(0.5), Tokens: &loop.Tokens{Input: 10}}}}
	tell(4, "1.actor", loop.ActorFinished{Iteration: 1, Attempt: loop.Attempt{Turn: turn}})
	tell(5, "1.capture", loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff})
	s = b.Standing()
	if len(s.Now.Turns) != 0 || s.Spent != (standing.Spent{Tokens: 10, CostUSD: 0.5}) || s.Now.Since != time.Unix(5, 0) {
		t.Errorf("after the actor's turn %+v", s)
	}
}

// TestRecent: the latest of what agents did is kept, in order.
func TestRecent(t *testing.T) {
	t.Parallel()
	b := &standing.Board{State: &progress.State{}}
	const many = 20_000
	for n := range many {
		var e loop.Event = loop.Activity{Iteration: 1, Notice: loop.Notice{Kind: loop.NoticeOutput, Text: strings.Repeat("é", 1+n%4000)}}
		if n == 0 {
			e = loop.IterationStarted{Iteration: 1}
		}
		if err := b.Handle(loop.Stamp{Seq: n + 1}, e); err != nil {
			t.Fatal(err)
		}
	}
	all, bytes := b.Recent(0), 0
	for i, one := range all {
		if bytes += len(one.Does.Text); one.After != 1 || one.At.Seq != many-len(all)+i+1 || !utf8.ValidString(one.Does.Text) {
			t.Fatalf("%d of %d is %+v", i, len(all), one.At)
		}
	}
	if len(all) < 100 || bytes > 1<<20 {
		t.Errorf("%d are kept, with %d bytes", len(all), bytes)
	}
	if rest := b.Recent(many - 2); len(rest) != 2 || rest[1].At.Seq != many {
		t.Errorf("of the last ones %+v", rest)
	}
}

// TestTogether: a board can be read while events arrive (with the race detector).
func TestTogether(t *testing.T) {
	t.Parallel()
	b := &standing.Board{State: &progress.State{}}
	var asked sync.WaitGroup
	for range 4 {
		asked.Go(func() {
			for range 100 {
				_ = b.Standing()
			}
		})
	}
	for n := range 100 {
		_ = b.Handle(loop.Stamp{Seq: n + 1, Step: "1.actor"}, loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting})
		_ = b.Handle(loop.Stamp{Seq: n + 1, Step: "1.actor"}, loop.Activity{Iteration: 1, Notice: loop.Notice{Kind: loop.NoticeEdit, Text: "a.go"}})
	}
	asked.Wait()
}

// TestTitle: a title is the first line of a prompt, and never ends within a character.
func TestTitle(t *testing.T) {
	t.Parallel()
	if got := standing.Title("  one\ntwo"); got != "one" {
		t.Errorf("%q", got)
	}
	if got := standing.Title("x" + strings.Repeat("漢", 500)); !utf8.ValidString(got) || len(got) > 310 {
		t.Errorf("%q", got)
	}
}
