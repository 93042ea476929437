package redact

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
)

const secret = "s3cr3t-v4lue"

// record collects events.
type record []loop.Event

func (r *record) Handle(_ loop.Stamp, e loop.Event) error {
	*r = append(*r, e)
	return nil
}

// fill sets every string in v to text; slices get one element.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, text)
		}
	case reflect.Pointer:
		if v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	}
}

// leaks returns the paths of the strings in v that contain the secret.
func leaks(v reflect.Value, path string) []string {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), secret) {
			return []string{path}
		}
	case reflect.Struct:
		var all []string
		for field, is := range v.Fields() {
			all = append(all, leaks(is, path+"."+field.Name)...)
		}
		return all
	case reflect.Pointer:
		if !v.IsNil() {
			return leaks(v.Elem(), path)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			return leaks(v.Index(0), path)
		}
	}
	return nil
}

// closed reports whether the text at path is from a closed vocabulary or made up by codeloops.
func closed(path string) bool {
	for _, end := range []string{
		".Session.ID", ".Base.BaseCommit", ".Session.Version", ".Session.View", ".Strategy.Name", ".Parameters.Key", ".Change.State", ".Own.State", ".Turn.ID", ".Concerns.Rule", ".Concerns.Kind", ".Audit.Before", ".Audit.After",
		".Templates.Key", ".Templates.SHA256", ".Deciders.Role", ".Deciders.SHA256", ".Ruling.Rule", ".Review.Seal", ".Review.Boundary", ".Review.Sealed", ".Ruling.Stop", ".Findings.ID", ".Findings.State", ".Answers.State",
		"Activity.Role", "TurnStarted.Role", "TurnFinished.Role", "TurnFinished.State", ".Votes.Role", "Noted.Name", "WaitStarted.Role", "WaitFinished.Role", ".Wait.Cause", ".Wait.End", "Activity.Notice.Stream", "Activity.Notice.Kind", ".Checkpoint", ".Ending", ".Status", ".Unshown.Why", ".Decision", ".Failure", ".Result", ".Outcome.Reason",
	} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// No text of any event shows a secret, and the original event is not modified.
func TestSinkRedactsEveryText(t *testing.T) {
	t.Parallel()
	for _, blank := range []loop.Event{
		loop.Started{},
		loop.Resumed{},
		loop.IterationStarted{},
		loop.PhaseEntered{},
		loop.TurnStarted{},
		loop.TurnFinished{},
		loop.Noted{},
		loop.Activity{},
		loop.WaitStarted{},
		loop.WaitFinished{},
		loop.ActorFinished{},
		loop.DiffCaptured{},
		loop.Inspected{},
		loop.BaselineChecked{},
		loop.ChecksFinished{},
		loop.ReviewRejected{},
		loop.CriticFinished{},
		loop.IterationFinished{},
		loop.Warned{},
		loop.Finished{},
	} {
		kind := reflect.TypeOf(blank)
		t.Run(kind.Name(), func(t *testing.T) {
			t.Parallel()
			in, same := reflect.New(kind).Elem(), reflect.New(kind).Elem()
			fill(in, "a "+secret+" b")
			fill(same, "a "+secret+" b")
			var got record
			if err := New([]string{"X_SECRET=" + secret}).Sink(&got).Handle(loop.Stamp{}, in.Interface().(loop.Event)); err != nil {
				t.Fatal(err)
			}
			for _, path := range leaks(reflect.ValueOf(got[0]), kind.Name()) {
				if !closed(path) {
					t.Errorf("%s contains the secret", path)
				}
			}
			if !reflect.DeepEqual(in.Interface(), same.Interface()) {
				t.Error("the original event was modified")
			}
		})
	}
}

func TestSinkKeepsWhatIsNotSecret(t *testing.T) {
	t.Parallel()
	round := reflect.New(reflect.TypeFor[loop.IterationFinished]()).Elem()
	fill(round, "harmless")
	var got record
	e := round.Interface().(loop.IterationFinished)
	half := 0.5
	e.Round.Verdict.Score = &half
	if err := New([]string{"X_SECRET=" + secret}).Sink(&got).Handle(loop.Stamp{}, e); err != nil {
		t.Fatal(err)
	}
	if want := (record{e}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// IDs that codeloops makes up are not redacted: logs are found by them.
func TestSinkKeepsIDs(t *testing.T) {
	t.Parallel()
	e := loop.Started{Session: loop.Session{ID: secret, Version: secret, Base: loop.Base{BaseCommit: secret, Checkpoint: secret}}}
	var got record
	if err := New([]string{"X_SECRET=" + secret}).Sink(&got).Handle(loop.Stamp{}, e); err != nil {
		t.Fatal(err)
	}
	if want := (record{e}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestSinkWithoutSecretsIsTheNext(t *testing.T) {
	t.Parallel()
	var next record
	if New(nil).Sink(&next) != loop.Sink(&next) {
		t.Error("without secrets there is still a sink in between")
	}
}

// A notice that is not a piece of output is complete: it is redacted at once, and no held-back output is mixed
// into it.
func TestSinkRedactsNotices(t *testing.T) {
	t.Parallel()
	var got record
	s := New([]string{"X_SECRET=" + secret}).Sink(&got)
	output := loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{
		Kind: loop.NoticeOutput, Stream: "stdout", Text: secret[:4],
	}}
	tool := loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{
		Kind: loop.NoticeCommand, Text: "echo " + secret + " " + secret[:4],
	}}
	for _, e := range []loop.Event{output, tool, loop.ActorFinished{Iteration: 1}} {
		if err := s.Handle(loop.Stamp{}, e); err != nil {
			t.Fatal(err)
		}
	}
	tool.Text = "echo " + Mark + " " + secret[:4]
	if want := (record{tool, output, loop.ActorFinished{Iteration: 1}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// A secret is found in output that arrives in pieces.
func TestSinkRedactsActivityInPieces(t *testing.T) {
	t.Parallel()
	var got record
	s := New([]string{"X_SECRET=" + secret}).Sink(&got)
	say := func(stream, text string) loop.Event {
		return loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{Stream: stream, Text: text}}
	}
	at := loop.Stamp{Time: time.Unix(0, 0)}
	for _, e := range []loop.Event{
		say("stdout", "one s3cr"), say("stderr", "two\n"),
		loop.Warned{Text: "aside"},
		say("stdout", "3t-v4lue three"), say("stdout", "\nfour s3"),
		loop.ActorFinished{Iteration: 1},
		say("stdout", "cr3t-v4lue"),
	} {
		if err := s.Handle(at, e); err != nil {
			t.Fatal(err)
		}
	}
	want := record{
		say("stdout", "one "), say("stderr", "two\n"),
		loop.Warned{Text: "aside"},
		say("stdout", Mark+" three"), say("stdout", "\nfour "), say("stdout", "s3"),
		loop.ActorFinished{Iteration: 1},
		say("stdout", "cr3t-v4lue"),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Concurrent turns do not mix: the end of a turn flushes only its own output, and a secret in pieces is found in
// each.
func TestSinkTellsTurnsApart(t *testing.T) {
	t.Parallel()
	var got record
	s := New([]string{"X_SECRET=" + secret}).Sink(&got)
	say := func(text string) loop.Event {
		return loop.Activity{Role: "debater", Notice: loop.Notice{Stream: "stdout", Text: text}}
	}
	for _, told := range []struct {
		step loop.Step
		e    loop.Event
	}{
		{"a", say("one s3cr")},
		{"b", say("two s3cr3t")},
		{"a", say("3t-v4lue")},
		{"c", say("three s3")},
		{"c", loop.TurnFinished{Role: "debater"}},
		{"b", say("-v4lue")},
		{"", loop.Finished{}},
	} {
		if err := s.Handle(loop.Stamp{Step: told.step}, told.e); err != nil {
			t.Fatal(err)
		}
	}
	want := record{
		say("one "), say("two "), say(Mark), say("three "), say("s3"), loop.TurnFinished{Role: "debater"}, say(Mark), loop.Finished{},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestSinkKeepsTheOrder: holding back output does not break the order of events.
func TestSinkKeepsTheOrder(t *testing.T) {
	t.Parallel()
	say := loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{Stream: "stdout", Text: "ends in s3cr"}}
	done := loop.Verdict{Decision: loop.Done, Summary: secret}
	events := []loop.Event{
		loop.Started{},
		loop.IterationStarted{Iteration: 1},
		loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting},
		say,
		loop.WaitStarted{Iteration: 1, Role: loop.RoleActor},
		say,
		loop.WaitFinished{Iteration: 1, Role: loop.RoleActor},
		loop.ActorFinished{Iteration: 1},
		loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff},
		loop.DiffCaptured{Iteration: 1},
		loop.PhaseEntered{Iteration: 1, State: loop.CriticEvaluating},
		loop.ReviewRejected{Iteration: 1},
		say,
		loop.CriticFinished{Iteration: 1, Review: loop.Review{Verdict: done}},
		loop.IterationFinished{Round: loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: done}}},
		say,
		loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 1}},
	}
	var got record
	s := New([]string{"X_SECRET=" + secret}).Sink(&got)
	for i, e := range events {
		if err := s.Handle(loop.Stamp{Seq: i + 1}, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(looptest.Whole(events), looptest.Whole(got)); err != nil {
		t.Error(err)
	}
	if pieces := 4; len(got) != len(events)+pieces { // each output comes in two pieces
		t.Errorf("%d events of %d: %+v", len(got), len(events), got)
	}
}

// The output files that events name are redacted as well; a missing file is not an error.
func TestSinkRedactsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	output := func(name string) loop.Output {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("a "+secret+" b"), 0o600); err != nil {
			t.Fatal(err)
		}
		return loop.Output{File: path}
	}
	turn := func(name string) loop.Turn {
		return loop.Turn{Execution: loop.Execution{Stdout: output(name + ".out"), Stderr: output(name + ".err")}}
	}
	var got record
	s := New([]string{"X_SECRET=" + secret}).Recording(&got)
	for _, e := range []loop.Event{
		loop.ActorFinished{Attempt: loop.Attempt{Turn: turn("actor")}},
		loop.ChecksFinished{Checks: []loop.CheckResult{{Output: output("check")}}},
		loop.ReviewRejected{Review: loop.Review{Turn: turn("rejected")}},
		loop.CriticFinished{Review: loop.Review{Turn: turn("critic")}},
		loop.ActorFinished{Attempt: loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{File: filepath.Join(dir, "gone")}}}}},
	} {
		if err := s.Handle(loop.Stamp{}, e); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 7 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil || string(text) != "a "+Mark+" b" {
			t.Errorf("%s holds %q, %v", entry.Name(), text, err)
		}
	}
	if err := s.Handle(loop.Stamp{}, loop.ActorFinished{Attempt: loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{File: dir}}}}}); err == nil {
		t.Error("no error for a file that cannot be redacted")
	}
}
