package debuglog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/screen/debuglog"
)

func TestLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	sink := debuglog.New(&out)
	attempt := loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: "a long text", Total: 11}, ExitCode: 1, Duration: time.Second}, Try: loop.Try{Ending: loop.EndFailed}}}
	events := []loop.Event{
		loop.Started{Session: loop.Session{ID: "id", WorkingDir: "/w", Cast: loop.Cast{Actor: loop.AgentRef{Agent: "a"}, Critic: loop.AgentRef{Agent: "c"}}}},
		loop.IterationStarted{Iteration: 1},
		loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting},
		loop.Activity{Iteration: 1},
		loop.WaitStarted{Iteration: 1, Role: loop.RoleActor},
		loop.WaitFinished{Iteration: 1, Role: loop.RoleActor},
		loop.ActorFinished{Iteration: 1, Attempt: attempt},
		loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff},
		loop.DiffCaptured{Iteration: 1, Change: loop.Change{Files: []loop.FileChange{{}}, Insertions: 2}},
		loop.PhaseEntered{Iteration: 1, State: loop.Verifying},
		loop.ChecksFinished{Iteration: 1, Checks: []loop.CheckResult{{Command: "time", ExitCode: 2}}},
		loop.PhaseEntered{Iteration: 1, State: loop.CriticEvaluating},
		loop.ReviewRejected{Iteration: 1, Review: loop.Review{Problem: "unclear"}},
		loop.CriticFinished{Iteration: 1, Review: loop.Review{Verdict: loop.Verdict{Decision: loop.Done}}},
		loop.Warned{Iteration: 1, Text: "careful"},
		loop.IterationFinished{Round: loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Done}}}},
		loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 1}},
	}
	if err := looptest.Whole(events); err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if err := sink.Handle(loop.Stamp{Seq: i + 1, Time: time.Unix(0, 0).UTC()}, e); err != nil {
			t.Fatal(err)
		}
	}
	var messages []string
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		messages = append(messages, fields["message"].(string))
	}
	want := "started, iteration, phase, wait, wait finished, actor finished, phase, diff captured, phase, checks finished, phase, critic asked again, critic finished, warning, iteration finished, finished"
	if got := strings.Join(messages, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if strings.Contains(out.String(), "a long text") {
		t.Error("the log contains the agent's output")
	}
}

// TestRetypedIsOne: a file that became a symbolic link counts as one file, as in git.
func TestRetypedIsOne(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	change := loop.Change{Files: []loop.FileChange{
		{Path: "f", Status: loop.FileDeleted, OldMode: 0o100644}, {Path: "f", Status: loop.FileAdded, NewMode: 0o120000},
	}}
	if err := debuglog.New(&out).Handle(loop.Stamp{}, loop.DiffCaptured{Iteration: 1, Change: change}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"files":1,`) {
		t.Errorf("want one file: %s", out.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteErrorIsTold(t *testing.T) {
	t.Parallel()
	if err := debuglog.New(full{}).Handle(loop.Stamp{}, loop.Finished{}); err == nil {
		t.Error("no error")
	}
}
