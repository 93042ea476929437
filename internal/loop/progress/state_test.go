package progress_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
)

// said stands for any text of an agent.
const said = "what an agent wrote"

var (
	claude = loop.AgentRef{Agent: "claude"}
	codex  = loop.AgentRef{Agent: "codex"}
	gemini = loop.AgentRef{Agent: "gemini"}
)

func stamp(i int) loop.Stamp { return loop.Stamp{Seq: i + 1, Time: time.Unix(int64(i), 0).UTC()} }

func fold(t *testing.T, s *progress.State, events []loop.Event) {
	t.Helper()
	for i, e := range events {
		if err := s.Handle(stamp(i), e); err != nil {
			t.Fatal(err)
		}
	}
}

func aWait() loop.Wait {
	return loop.Wait{Agent: claude, Cause: loop.EndRateLimited, Reason: said, Until: time.Unix(60, 0).UTC()}
}

// first is an iteration with a wait, another agent as the actor, and a critic that is asked again.
func first() []loop.Event {
	over := aWait()
	over.Duration, over.End = time.Minute, loop.WaitOver
	turn := loop.Turn{Try: loop.Try{Agent: gemini, Reason: said}, Execution: loop.Execution{Stdout: loop.Output{Text: said}, Stderr: loop.Output{Text: said}}, Misses: []loop.Try{{Reason: said}}}
	change := loop.Change{Files: []loop.FileChange{{Path: "a", Status: loop.FileAdded, Patch: said}}, Insertions: 3, Warnings: []string{said}}
	checks := []loop.CheckResult{{Command: "true", Output: loop.Output{Text: said}}}
	verdict := loop.Verdict{Decision: loop.Error, Feedback: said, Summary: said}
	review := loop.Review{Turn: loop.Turn{Try: loop.Try{Agent: codex}, Execution: loop.Execution{Stdout: loop.Output{Text: said}}}, Reply: said, Problem: said, Stale: []string{"a"}, Verdict: verdict}
	return []loop.Event{
		loop.Started{Session: loop.Session{Prompt: "task", Cast: loop.Cast{Actor: claude, Critic: codex}}},
		loop.IterationStarted{Iteration: 1},
		loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting},
		loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{Text: said}},
		loop.WaitStarted{Iteration: 1, Role: loop.RoleActor, Wait: aWait()},
		loop.WaitFinished{Iteration: 1, Role: loop.RoleActor, Wait: over},
		loop.ActorFinished{Iteration: 1, Attempt: loop.Attempt{Turn: turn}},
		loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff},
		loop.DiffCaptured{Iteration: 1, Change: change},
		loop.PhaseEntered{Iteration: 1, State: loop.Verifying},
		loop.ChecksFinished{Iteration: 1, Checks: checks},
		loop.PhaseEntered{Iteration: 1, State: loop.CriticEvaluating},
		loop.ReviewRejected{Iteration: 1, Review: review},
		loop.CriticFinished{Iteration: 1, Review: review},
		loop.Warned{Iteration: 1, Text: said},
		loop.IterationFinished{Round: loop.Round{
			Iteration: 1, Attempt: loop.Attempt{Turn: turn}, Change: change, Checks: checks, Review: review, Ruling: loop.Ruling{Verdict: verdict, Why: said},
		}},
	}
}

func end(iterations int) loop.Event {
	return loop.Finished{Outcome: loop.Outcome{Result: loop.MaxIterations, Reason: loop.StopMaxIterations, Iterations: iterations, Summary: said}}
}

// underWay is the part of a state that describes what is going on.
type underWay struct {
	iteration int
	phase     loop.State
	since     int64 // seconds
	role      loop.Role
	agent     string
	waits     int // of the turn
	waiting   bool
	seen      bool // the change is known
	rejudge   bool
	closed    int
}

func now(s *progress.State) underWay {
	u := underWay{
		iteration: s.Open.Number, phase: s.Open.Phase, role: s.Turn().Role, agent: s.Turn().Agent.Agent,
		waits: len(s.Turn().Waits), waiting: s.Turn().Waiting != nil, seen: s.Change != nil, rejudge: s.Rejudge, closed: s.Last(),
	}
	if s.Open.Number > 0 {
		u.since = s.Open.Since.Unix()
	}
	return u
}

// TestStateOfEachMoment: after each event, the state says what is under way and since when.
func TestStateOfEachMoment(t *testing.T) {
	t.Parallel()
	if err := looptest.Whole(append(first(), end(1))); err != nil {
		t.Fatal(err)
	}
	acts := underWay{iteration: 1, phase: loop.ActorExecuting, since: 2, role: loop.RoleActor, agent: "claude"}
	waiting, waited := acts, acts
	waiting.waiting, waited.waits = true, 1
	captures := underWay{iteration: 1, phase: loop.CapturingDiff, since: 7}
	checks := underWay{iteration: 1, phase: loop.Verifying, since: 9, seen: true}
	judges := underWay{iteration: 1, phase: loop.CriticEvaluating, since: 11, role: loop.RoleCritic, agent: "codex", seen: true}
	judged := judges
	judged.role, judged.agent = "", ""
	whole := underWay{seen: true, rejudge: true, closed: 1}
	want := []underWay{
		{},
		{iteration: 1, since: 1},
		acts, acts, waiting, waited,
		{iteration: 1, phase: loop.ActorExecuting, since: 2},
		captures,
		{iteration: 1, phase: loop.CapturingDiff, since: 7, seen: true},
		checks, checks,
		judges, judges, judged, judged,
		whole, whole,
	}
	var s progress.State
	for i, e := range append(first(), end(1)) {
		_ = s.Handle(stamp(i), e)
		if got := now(&s); got != want[i] {
			t.Errorf("after %T\n got %+v\nwant %+v", e, got, want[i])
		}
	}
	if s.Playing[loop.RoleActor] != gemini || s.Playing[loop.RoleCritic] != codex {
		t.Errorf("playing: %v", s.Playing)
	}
	if got := s.Closed[0]; got.Decision != loop.Error || got.Change.Files != 1 || got.Change.Insertions != 3 || len(got.Waits) != 1 {
		t.Errorf("the whole iteration is %+v", got)
	}
	if s.Began != stamp(0).Time || s.At.Seq != len(want) || s.Outcome == nil || s.Iterations != 1 || s.Critic.Turns != 2 {
		t.Errorf("at the end %+v", s)
	}
}

// TestStateOfSteps: an iteration's steps have the names from the log, or the default names if the
// log is older than step names.
func TestStateOfSteps(t *testing.T) {
	t.Parallel()
	names := []loop.Step{
		"", "1", "1.actor", "1.actor", "1.actor", "1.actor", "1.actor", "1.capture", "1.capture", "1.checks", "1.checks",
		"1.critic", "1.critic", "1.critic.2", "1", "1",
	}
	over := func(path loop.Step, from int, role loop.Role, agent loop.AgentRef) progress.Step {
		return progress.Step{Path: path, Began: stamp(from).Time, Over: true, Role: role, Agent: agent}
	}
	actor := over("1.actor", 2, loop.RoleActor, gemini)
	want := []progress.Step{
		actor, over("1.capture", 7, "", loop.AgentRef{}), over("1.checks", 9, "", loop.AgentRef{}),
		over("1.critic", 11, loop.RoleCritic, codex), over("1.critic.2", 12, loop.RoleCritic, codex),
	}
	for _, named := range []bool{true, false} {
		var s progress.State
		var got []progress.Step
		for i, e := range first() {
			at := stamp(i)
			if named {
				at.Step = names[i]
			}
			if _, whole := e.(loop.IterationFinished); whole {
				got = slices.DeleteFunc(slices.Clone(s.Steps), func(x progress.Step) bool { return !x.Over })
			}
			_ = s.Handle(at, e)
		}
		if len(got) == 0 || len(got[0].Waits) != 1 {
			t.Fatalf("named %t: %+v", named, got)
		}
		got[0].Waits = nil
		if !reflect.DeepEqual(got, want) || len(s.Steps) > 0 {
			t.Errorf("named %t:\n got %+v\nwant %+v", named, got, want)
		}
	}
}

// TestStateOfTurnsAtTheSameTime: each turn has its own waits.
func TestStateOfTurnsAtTheSameTime(t *testing.T) {
	t.Parallel()
	var s progress.State
	_ = s.Handle(stamp(0), loop.Started{})
	for i, name := range []string{"debater_1", "debater_2", "debater_1"} {
		at := stamp(1 + i)
		at.Step = loop.Step("3").Sub(name)
		e := loop.Event(loop.WaitStarted{Iteration: 3, Role: loop.Role(name), Wait: aWait()})
		if i == 2 {
			e = loop.WaitFinished{Iteration: 3, Role: loop.Role(name), Wait: aWait()}
		}
		_ = s.Handle(at, e)
	}
	one, two := s.Steps[0], s.Steps[1]
	if len(s.Steps) != 2 || one.Path != "3.debater_1" || two.Path != "3.debater_2" ||
		len(one.Waits) != 1 || one.Waiting != nil || len(two.Waits) != 0 || two.Waiting == nil {
		t.Errorf("got %+v", s.Steps)
	}
}

// TestStateOfAResumedRun: an interrupted turn is no longer under way, and there is no actor while
// the last work is judged again.
func TestStateOfAResumedRun(t *testing.T) { //nolint:gocyclo // the steps belong together, and read top to bottom
	t.Parallel()
	resumed := func(e loop.Resumed) []loop.Event {
		e.Session = loop.Session{Cast: loop.Cast{Actor: gemini, Critic: codex}}
		return []loop.Event{e, loop.IterationStarted{Iteration: 2}, loop.PhaseEntered{Iteration: 2, State: loop.ActorExecuting}}
	}
	var s progress.State
	fold(t, &s, append(first(), resumed(loop.Resumed{Iterations: 1, Rejudge: true})...))
	if got := now(&s); got.role != "" || !got.rejudge || got.iteration != 2 || s.Session.Prompt != "task" {
		t.Errorf("judging again: %+v of %+v", got, s.Session)
	}
	began := s.Began
	_ = s.Handle(stamp(1000), loop.Resumed{})
	fresh := progress.State{}
	_ = fresh.Handle(stamp(1000), loop.Resumed{})
	if s.Began.Equal(began) || s.Began != fresh.Began || fresh.Began != stamp(1000).Time { // the run began, not the session
		t.Errorf("it began at %v, but at %v for a state without the start", s.Began, fresh.Began)
	}

	s = progress.State{}
	fold(t, &s, first()[:5])
	fold(t, &s, resumed(loop.Resumed{})[:1])
	if got := now(&s); got != (underWay{}) {
		t.Errorf("after a break: %+v", got)
	}
	s = progress.State{}
	fold(t, &s, first()[:8])
	fold(t, &s, []loop.Event{loop.Resumed{Judge: true}, loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff}})
	if len(s.Steps) != 2 || !s.Steps[0].Over || s.Steps[1].Over || s.Steps[1].Path != "1.capture" {
		t.Errorf("steps of an iteration resumed in the middle: %+v", s.Steps)
	}
	if got := now(&s); got.iteration != 1 || got.phase != loop.CapturingDiff {
		t.Errorf("resumed in the middle: %+v", got)
	}

	fold(t, &s, []loop.Event{end(0), loop.Resumed{}})
	if s.Outcome != nil {
		t.Error("it has ended although it was resumed")
	}
}

// TestStateIsTheSameFromALog: a run read back from its log has the same state as live.
func TestStateIsTheSameFromALog(t *testing.T) {
	t.Parallel()
	events := append(first(), end(1))
	for most := range len(events) + 1 {
		var live, stored progress.State
		var log bytes.Buffer
		for i, e := range events[:most] {
			_ = live.Handle(stamp(i), e)
			if _, passing := e.(loop.Activity); !passing {
				log.Write(session.Encode(stamp(i), e))
			}
		}
		for entry, err := range session.NewReader(&log, "log").Entries() {
			if err != nil {
				t.Fatal(err)
			}
			_ = stored.Handle(entry.At, entry.Event)
		}
		stored.At = live.At // the live event may have followed an activity
		if !reflect.DeepEqual(live, stored) {
			t.Fatalf("after %d events\n live %+v\nstored %+v", most, live, stored)
		}
	}
}

// TestStateHoldsNoTexts: the state keeps no texts, since agents may write megabytes in each turn.
func TestStateHoldsNoTexts(t *testing.T) {
	t.Parallel()
	events := append(first(), end(1))
	for most := range events {
		var s progress.State
		fold(t, &s, events[:most])
		texts(reflect.ValueOf(s), "State", func(path, text string) {
			if strings.Contains(text, said) {
				t.Errorf("after %d events %s holds a text", most, path)
			}
		})
	}
}

func texts(v reflect.Value, path string, tell func(path, text string)) {
	switch v.Kind() {
	case reflect.String:
		tell(path, v.String())
	case reflect.Struct:
		for field, is := range v.Fields() {
			texts(is, path+"."+field.Name, tell)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			texts(v.Index(i), path, tell)
		}
	case reflect.Map:
		for key, is := range v.Seq2() {
			texts(key, path, tell)
			texts(is, path, tell)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			texts(v.Elem(), path, tell)
		}
	}
}

// TestTurnsAtTheSameTime: a strategy's own turns can be under way at the same time, each with its
// own wait.
func TestTurnsAtTheSameTime(t *testing.T) {
	t.Parallel()
	var s progress.State
	tell := func(step loop.Step, e loop.Event) {
		t.Helper()
		if err := s.Handle(loop.Stamp{Step: step}, e); err != nil {
			t.Fatal(err)
		}
	}
	tell("", loop.Started{})
	for _, step := range []loop.Step{"a", "b"} {
		tell(step, loop.TurnStarted{Role: "debater"})
	}
	tell("a", loop.WaitStarted{Role: "debater", Wait: loop.Wait{Reason: "busy"}})
	tell("b", loop.TurnFinished{Role: "debater", Reply: loop.Reply{Turn: loop.Turn{Try: loop.Try{Usage: loop.Usage{CostUSD: new(2.0)}}}}})
	if len(s.Steps) != 2 || s.Steps[0].Over || s.Steps[0].Waiting == nil || !s.Steps[1].Over || s.Steps[1].Waiting != nil {
		t.Errorf("%+v", s.Steps)
	}
	if s.Turn().Path != "a" || s.Spent.Others.CostUSD != 2 {
		t.Errorf("under way is %+v, spent %+v", s.Turn(), s.Spent)
	}
}
