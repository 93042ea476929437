package session

import (
	"reflect"
	"sync"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// SchemaVersion is the version of the log format that this package writes. It is increased
// when a field or a type of line is added.
const SchemaVersion = 2

// typeSessionEnd is the type of the last line.
const typeSessionEnd = "session_end"

// lineKinds returns all kinds of lines. session_start, iteration and session_end are those that every
// reader knows.
var lineKinds = sync.OnceValue(func() []kind { //nolint:gochecknoglobals // a table that never changes
	return []kind{
		as[loop.PhaseEntered]("phase"),
		as[loop.Activity]("activity"),
		kindOf("actor_turn", actedOf, acted.event),
		kindOf("critic_turn", judgedOf, judged.event),
		kindOf("iteration", iterationOf, iteration.event),
		as[loop.IterationStarted]("iteration_start"),
		kindOf("diff", capturedOf, captured.event),
		as[loop.Inspected]("inspection"),
		as[loop.ChecksFinished]("checks"),
		as[loop.Warned]("warning"),
		kindOf("session_start", startedOf, started.event),
		kindOf(typeSessionEnd, endedOf, ended.event),
		kindOf("session_resume", resumedOf, resumed.event),
		as[loop.BaselineChecked]("baseline"),
		kindOf("review_rejected", rejectionOf, rejection.event),
		kindOf("turn_start", playsOf, plays.event),
		kindOf("turn", playedOf, played.event),
		kindOf("note", notedOf, noted.event),
		as[loop.Steered]("steer"),
		as[loop.WaitStarted]("wait_start"),
		kindOf("wait_end", waitEndOf, waitEnd.event),
	}
})

// orNull returns what is written as null if it is zero.
func orNull[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// orZero returns what may be null.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// each applies turn to a list; the result is nil for an empty one.
func each[T, U any](list []T, turn func(T) U) (all []U) {
	for _, x := range list {
		all = append(all, turn(x))
	}
	return all
}

// A setting is what a session starts with, except the prompt.
type setting struct {
	WorkingDir    string  `json:"working_dir"`
	ActorAgent    string  `json:"actor_agent"`
	CriticAgent   string  `json:"critic_agent"`
	ActorModel    *string `json:"actor_model"`
	CriticModel   *string `json:"critic_model"`
	MaxIterations *int    `json:"max_iterations"`
	Schema        int     `json:"schema_version"`
	ID            string  `json:"id,omitzero"`
	Version       string  `json:"version,omitzero"`
	loop.Base
	View           string           `json:"view,omitzero"`
	Task           string           `json:"task,omitzero"`
	Imported       bool             `json:"imported,omitzero"`
	Strategy       string           `json:"strategy,omitzero"`
	Parameters     []loop.Parameter `json:"strategy_parameters,omitempty"`
	ActorFallback  []loop.AgentRef  `json:"actor_fallback,omitempty"`
	CriticFallback []loop.AgentRef  `json:"critic_fallback,omitempty"`
	loop.Terms
}

func settingOf(s loop.Session) setting {
	return setting{
		WorkingDir: s.WorkingDir, ActorAgent: s.Actor.Agent, CriticAgent: s.Critic.Agent,
		ActorModel: orNull(s.Actor.Model), CriticModel: orNull(s.Critic.Model), MaxIterations: orNull(s.MaxIterations),
		Schema: SchemaVersion, ID: s.ID, Version: s.Version, Base: s.Base, View: s.View, Task: s.Task, Imported: s.Imported,
		Strategy: s.Strategy.Name, Parameters: s.Strategy.Parameters,
		ActorFallback: s.ActorFallback, CriticFallback: s.CriticFallback, Terms: s.Terms,
	}
}

func (s setting) session() loop.Session {
	s.Terms.MaxIterations = orZero(s.MaxIterations)
	if p := s.Policy.Panel; p != nil && len(p.Members) == 0 {
		p.Members = nil
	}
	return loop.Session{
		ID: s.ID, WorkingDir: s.WorkingDir, Version: s.Version, View: s.View, Task: s.Task, Imported: s.Imported,
		Strategy: loop.StrategyRef{Name: s.Strategy, Parameters: s.Parameters},
		Cast: loop.Cast{
			Actor:         loop.AgentRef{Agent: s.ActorAgent, Model: orZero(s.ActorModel)},
			Critic:        loop.AgentRef{Agent: s.CriticAgent, Model: orZero(s.CriticModel)},
			ActorFallback: s.ActorFallback, CriticFallback: s.CriticFallback,
		},
		Base: s.Base, Terms: s.Terms,
	}
}

type started struct {
	Prompt string `json:"prompt"`
	setting
}

func startedOf(e loop.Started) started { return started{e.Session.Prompt, settingOf(e.Session)} }

func (s started) event() loop.Started {
	e := loop.Started{Session: s.session()}
	e.Session.Prompt = s.Prompt
	return e
}

type resumed struct {
	setting
	Iterations int  `json:"iterations"`
	Judge      bool `json:"judge"`
	Rejudge    bool `json:"rejudge,omitzero"`
}

func resumedOf(e loop.Resumed) resumed {
	return resumed{settingOf(e.Session), e.Iterations, e.Judge, e.Rejudge}
}

func (r resumed) event() loop.Resumed {
	return loop.Resumed{Session: r.session(), Iterations: r.Iterations, Judge: r.Judge, Rejudge: r.Rejudge}
}

type waitEnd struct {
	loop.WaitStarted
	Duration time.Duration `json:"duration_secs"`
	End      loop.WaitEnd  `json:"ended"`
}

func waitEndOf(e loop.WaitFinished) waitEnd {
	return waitEnd{loop.WaitStarted(e), e.Wait.Duration, e.Wait.End}
}

func (w waitEnd) event() loop.WaitFinished {
	w.Wait.Duration, w.Wait.End = w.Duration, w.End
	return loop.WaitFinished(w.WaitStarted)
}

// An iteration is the line of a whole one.
type iteration struct {
	Iteration int    `json:"iteration_number"`
	Output    string `json:"actor_output"`
	Stderr    string `json:"actor_stderr"`
	Rejudged  bool   `json:"rejudged,omitzero"`
	actorTurn
	patches
	Own      *patches      `json:"own,omitzero"` // the part of the change that the iteration made
	Decision loop.Decision `json:"critic_decision"`
	Feedback *string       `json:"feedback"`
	loop.Verdict
	// Said is what the critic said, where that is not what counts: a rule of the run overruled it.
	Said *loop.Verdict `json:"critic_verdict,omitzero"`
	criticTexts
	criticTurn
	loop.Review
	Unjudged bool `json:"unjudged,omitzero"`
	loop.Inspection
	loop.Ruling
	Checks   []loop.CheckResult `json:"checks,omitempty"`
	Failure  loop.StopReason    `json:"failure,omitzero"`
	Duration time.Duration      `json:"duration_secs"`
	Trace    []loop.Phase       `json:"trace,omitempty"`
}

func iterationOf(e loop.IterationFinished) iteration {
	r := e.Round
	line := iteration{
		Iteration: r.Iteration, Output: r.Attempt.Stdout.Text, Stderr: r.Attempt.Stderr.Text, Rejudged: r.Attempt.Rejudged,
		actorTurn: actorTurn(turnOf(r.Attempt.Turn)), patches: patchesOf(r.Change),
		Decision: r.Verdict.Decision, Feedback: orNull(r.Verdict.Feedback), Verdict: r.Verdict,
		criticTexts: criticTextsOf(r.Review), criticTurn: criticTurn(turnOf(r.Review.Turn)), Review: r.Review,
		Unjudged: r.Unjudged, Inspection: r.Inspection, Ruling: r.Ruling, Checks: r.Checks,
		Failure: r.Failure, Duration: r.Duration, Trace: r.Trace,
	}
	if r.Own != nil {
		line.Own = new(patchesOf(*r.Own))
	}
	if !reflect.DeepEqual(r.Review.Verdict, r.Verdict) {
		line.Said = &r.Review.Verdict
	}
	return line
}

func (l iteration) event() loop.IterationFinished {
	l.Verdict.Decision, l.Verdict.Feedback = l.Decision, orZero(l.Feedback)
	r := loop.Round{
		Iteration: l.Iteration, Attempt: loop.Attempt{Turn: turn(l.actorTurn).loop(), Rejudged: l.Rejudged},
		Change: l.change(), Inspection: l.Inspection, Checks: l.Checks, Review: l.review(l.Review, turn(l.criticTurn)),
		Unjudged: l.Unjudged, Ruling: l.Ruling, Failure: l.Failure, Duration: l.Duration, Trace: l.Trace,
	}
	r.Attempt.Stdout.Text, r.Attempt.Stderr.Text = l.Output, l.Stderr
	if l.Own != nil {
		r.Own = new(l.Own.change())
	}
	r.Verdict, r.Review.Verdict = l.Verdict, l.Verdict
	if l.Said != nil {
		r.Review.Verdict = *l.Said
	}
	// The original's logs do not say how a turn ended.
	if l.actorTurn.Ending == nil {
		r.Attempt.Ending = ending(r.Attempt.ExitCode)
	}
	if l.criticTurn.Ending == nil {
		r.Review.Ending = ending(r.Review.ExitCode)
	}
	return loop.IterationFinished{Round: r}
}

func ending(exitCode int) loop.Ending {
	if exitCode == 0 {
		return loop.EndCompleted
	}
	return loop.EndFailed
}

type ended struct {
	Result         loop.Result     `json:"outcome"`
	Iterations     int             `json:"iterations"`
	Summary        *string         `json:"summary"`
	Confidence     *float64        `json:"confidence"`
	Duration       time.Duration   `json:"duration_secs"`
	Reason         loop.StopReason `json:"stop_reason,omitzero"`
	Cause          string          `json:"stop_cause,omitzero"`
	Unmentioned    int             `json:"findings_unmentioned,omitzero"`
	NothingChanged bool            `json:"nothing_changed,omitzero"`
	ActorError     string          `json:"actor_error,omitzero"`
}

func endedOf(e loop.Finished) ended {
	o := e.Outcome
	return ended{o.Result, o.Iterations, orNull(o.Summary), o.Confidence, o.Duration, o.Reason, o.Cause, o.Unmentioned, o.NothingChanged, o.ActorError}
}

func (l ended) event() loop.Finished {
	return loop.Finished{Outcome: loop.Outcome{
		Result: l.Result, Reason: l.Reason, Cause: l.Cause, Iterations: l.Iterations, Summary: orZero(l.Summary), Confidence: l.Confidence,
		Duration: l.Duration, ActorError: l.ActorError, Unmentioned: l.Unmentioned, NothingChanged: l.NothingChanged,
	}}
}

// totals add up the session from its first line on, so that the last line alone tells what
// the session came to. The number of whole iterations is in the outcome.
type totals struct {
	Errors      int            `json:"errors"`
	ActorTurns  int            `json:"actor_turns"`
	CriticTurns int            `json:"critic_turns"`
	Leftovers   int            `json:"leftovers"`
	ActorTime   time.Duration  `json:"actor_secs"`
	CriticTime  time.Duration  `json:"critic_secs"`
	CheckTime   time.Duration  `json:"check_secs"`
	Waits       int            `json:"waits"`
	ActorWait   time.Duration  `json:"actor_wait_secs"`
	CriticWait  time.Duration  `json:"critic_wait_secs"`
	ActorUsage  progress.Usage `json:"actor_usage"`
	CriticUsage progress.Usage `json:"critic_usage"`
	Spent       loop.Spending  `json:"spent"`
	progress.Raised
	progress.Diff
}

func totalsOf(t *progress.Tally) *totals {
	if t == nil {
		return nil
	}
	return &totals{
		t.Errors, t.Actor.Turns, t.Critic.Turns, t.Leftovers, t.Actor.Time, t.Critic.Time, t.CheckTime,
		t.Waits, t.Actor.Wait, t.Critic.Wait, t.Actor.Usage, t.Critic.Usage, t.Spent, t.Raised, t.Diff,
	}
}

func (t *totals) tally() *progress.Tally {
	if t == nil {
		return nil
	}
	return &progress.Tally{
		Errors: t.Errors, CheckTime: t.CheckTime, Leftovers: t.Leftovers, Waits: t.Waits, Raised: t.Raised, Spent: t.Spent, Diff: t.Diff,
		Actor:  progress.Part{Turns: t.ActorTurns, Time: t.ActorTime, Wait: t.ActorWait, Usage: t.ActorUsage},
		Critic: progress.Part{Turns: t.CriticTurns, Time: t.CriticTime, Wait: t.CriticWait, Usage: t.CriticUsage},
	}
}
