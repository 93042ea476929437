package loop_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
)

// A play is a run in which every step is written down beforehand.
type play struct {
	attempts []loop.Attempt
	reviews  []loop.Review  // one for each time the critic is asked
	meddles  map[int]string // by ask: the state that the critic leaves behind
	limits   limit

	state    string
	asked    int
	briefs   []loop.Brief
	cases    []loop.Case
	restored []string
	events   []loop.Event
	grammar  looptest.Grammar
}

func (p *play) Act(_ context.Context, b loop.Brief, _ loop.Watch) (loop.Attempt, error) {
	p.briefs = append(p.briefs, b)
	p.state = fmt.Sprintf("after actor %d", b.Iteration)
	return p.attempts[min(b.Iteration, len(p.attempts))-1], nil
}

func (p *play) Capture(context.Context) (loop.Change, error) {
	return loop.Change{State: p.state, Files: []loop.FileChange{{Path: "a.txt", Patch: p.state}}}, nil
}

func (p *play) Checkpoint(_ context.Context, iteration int, c loop.Change) (string, error) {
	return fmt.Sprint(iteration, " ", c.State), nil
}

func (p *play) Restore(_ context.Context, to loop.Change) (string, error) {
	p.restored = append(p.restored, p.state+" to "+to.State)
	p.state = to.State
	return "kept in x.patch", nil
}

func (p *play) Judge(_ context.Context, c loop.Case, _ loop.Watch) (loop.Review, error) {
	p.cases = append(p.cases, c)
	review := p.reviews[min(p.asked, len(p.reviews)-1)]
	if state, ok := p.meddles[p.asked]; ok {
		p.state = state
	}
	p.asked++
	return review, nil
}

func (p *play) Handle(at loop.Stamp, e loop.Event) error {
	p.events = append(p.events, e)
	return p.grammar.Handle(at, e)
}

func (p *play) run(t *testing.T) loop.Outcome {
	t.Helper()
	now := time.Unix(0, 0)
	l := loop.Loop{
		Actor: p, Tree: p, Critic: p, Gate: p.limits, Sink: p, CriticRetries: 1,
		Clock: func() time.Time { now = now.Add(time.Second); return now },
	}
	out, err := l.Run(t.Context(), loop.Session{Prompt: "do it"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.grammar.End(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (p *play) names() string {
	var names []string
	for _, e := range p.events {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", e), "loop."))
	}
	return strings.Join(names, " ")
}

func says(d loop.Decision, text string) loop.Review {
	v := loop.Verdict{Decision: d, Summary: text, Feedback: text, Recovery: text}
	return loop.Review{Turn: loop.Turn{Ending: loop.EndCompleted}, Verdict: v}
}

func TestFeedbackReachesTheActor(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Error, "another way"), says(loop.Done, "fine")},
	}
	out := p.run(t)
	if want := (loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 3, Summary: "fine", Duration: out.Duration}); out != want {
		t.Errorf("got %+v, want %+v", out, want)
	}
	var told []string
	for _, b := range p.briefs {
		if b.Task != "do it" {
			t.Errorf("iteration %d was asked %q", b.Iteration, b.Task)
		}
		if b.Previous != nil {
			told = append(told, b.Previous.Verdict.Guidance())
		}
	}
	if want := []string{"more", "another way"}; !reflect.DeepEqual(told, want) {
		t.Errorf("the actor was told %q, want %q", told, want)
	}
	if n := len(p.cases[2].History); n != 2 {
		t.Errorf("the third case has a history of %d", n)
	}
	if got, want := p.names(), "Started"+strings.Repeat(
		" IterationStarted PhaseEntered ActorFinished PhaseEntered DiffCaptured PhaseEntered CriticFinished IterationFinished", 3)+
		" Finished"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHistoryHoldsNoTexts(t *testing.T) {
	t.Parallel()
	big := loop.Output{Text: "much", Total: 4}
	p := &play{
		attempts: []loop.Attempt{{Turn: loop.Turn{Stdout: big, Stderr: big}}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
	}
	p.run(t)
	past := p.cases[1].History[0]
	if past.Attempt.Stdout.Text+past.Attempt.Stderr.Text+past.Change.Patch() != "" || past.Attempt.Stdout.Total != 4 {
		t.Errorf("the history holds %+v", past)
	}
	if p.briefs[1].Previous.Attempt.Stdout.Text != "much" {
		t.Error("the last round is not whole")
	}
}

func TestCriticIsAskedAgain(t *testing.T) {
	t.Parallel()
	unclear := loop.Review{Turn: loop.Turn{Ending: loop.EndCompleted}, Reply: "well", Problem: "no decision"}
	p := &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{unclear, says(loop.Done, "yes")}}
	if out := p.run(t); out.Reason != loop.StopDone || out.Iterations != 1 {
		t.Errorf("got %+v", out)
	}
	if want := (&loop.Objection{Problem: "no decision", Reply: "well"}); !reflect.DeepEqual(p.cases[1].Objection, want) {
		t.Errorf("the critic was shown %+v, want %+v", p.cases[1].Objection, want)
	}

	// Two retries are one too many here; a turn that was cut is not repeated.
	p = &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{unclear}}
	if out := p.run(t); out.Reason != loop.StopNoDecision || p.asked != 2*3 {
		t.Errorf("%q after asking %d times", out.Reason, p.asked)
	}
	cut := unclear
	cut.Ending = loop.EndTimedOut
	p = &play{attempts: []loop.Attempt{{}}, reviews: []loop.Review{cut}}
	if out := p.run(t); out.Reason != loop.StopCriticTimeout || p.asked != 3 {
		t.Errorf("%q after asking %d times", out.Reason, p.asked)
	}
}

func TestCutActorTurns(t *testing.T) {
	t.Parallel()
	for ending, want := range map[loop.Ending]loop.StopReason{
		loop.EndTimedOut:    loop.StopActorTimeout,
		loop.EndIdle:        loop.StopActorTimeout,
		loop.EndOutputLimit: loop.StopOutputLimit,
		loop.EndFailed:      loop.StopMaxIterations, // the critic says CONTINUE: no error
	} {
		p := &play{attempts: []loop.Attempt{{Turn: loop.Turn{Ending: ending}}}, reviews: []loop.Review{says(loop.Continue, "more")}}
		if out := p.run(t); out.Reason != want {
			t.Errorf("%s: got %q, want %q", ending, out.Reason, want)
		}
		p = &play{attempts: []loop.Attempt{{Turn: loop.Turn{Ending: ending}}}, reviews: []loop.Review{says(loop.Done, "")}}
		if out := p.run(t); out.Reason != loop.StopDone {
			t.Errorf("%s, but done: got %q", ending, out.Reason)
		}
	}
}

func TestMeddlingIsUndone(t *testing.T) {
	t.Parallel()
	p := &play{
		attempts: []loop.Attempt{{}},
		reviews:  []loop.Review{says(loop.Continue, "more"), says(loop.Done, "")},
		meddles:  map[int]string{1: "meddled"},
	}
	p.run(t)
	if want := []string{"meddled to after actor 2"}; !reflect.DeepEqual(p.restored, want) {
		t.Errorf("restored %q, want %q", p.restored, want)
	}
	var warnings []string
	for _, e := range p.events {
		if w, ok := e.(loop.Warned); ok {
			warnings = append(warnings, w.Text)
		}
	}
	if want := []string{"the critic changed the work tree (a.txt): undone, kept in x.patch"}; !reflect.DeepEqual(warnings, want) {
		t.Errorf("warned %q, want %q", warnings, want)
	}
}
