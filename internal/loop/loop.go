package loop

import (
	"context"
	"errors"
	"time"
)

// ErrMaxDuration is the cause with which a caller cancels a run's context when
// its time is used up. Any other cancellation is an interruption.
var ErrMaxDuration = errors.New("the time for this run is used up")

// A Loop holds what a run needs. Strategy, Sink and Clock must be set. The Clock may be
// asked from several goroutines at once.
type Loop struct {
	Workplace
	Strategy Strategy
	Sink     Sink
	Clock    func() time.Time

	// Ask puts a question to the user. It returns [ErrNobody] when there is nobody to
	// ask; nil: there never is.
	Ask func(context.Context, string) (answer string, err error)

	// Steering is what the user asks for meanwhile; nil: nothing.
	Steering *Steering

	// Checks says when the checks are run.
	Checks CheckRules

	// InPlace: the checks and the critic work in the user's own work tree, not in views.
	InPlace bool

	// Jobs is how many parts of a strategy may play at the same time; 0: all.
	Jobs int

	// CriticRetries is how often the critic is asked again, within one
	// iteration, after a reply that could not be used.
	CriticRetries int
}

// CheckRules say when checks are run besides in each iteration.
type CheckRules struct {
	Before   bool // once before the first iteration, too
	FailFast bool // none after one that has not passed
}

// A Strategy is a way of driving agents: ordinary code over the steps of a run. It is
// deterministic: what it does next hangs on what its steps came to, and on nothing else,
// so that a session is carried on by running it again over the journal. An error of a
// step ends the run: the strategy returns it as it is.
type Strategy interface {
	Run(context.Context, *Steps) (Outcome, error)
}

// Run drives one session to its end. The outcome holds on every path; the
// error is set only when something broke (an agent could not be started, git
// failed, an event could not be recorded), and then Outcome.Result is Failed.
func (l *Loop) Run(ctx context.Context, s Session) (Outcome, error) {
	return l.Play(ctx, s, &Journal{})
}

// Play is Run where it is known what some of the strategy's own steps come to, by the
// journal.
func (l *Loop) Play(ctx context.Context, s Session, j *Journal) (Outcome, error) {
	return l.run(ctx, s, j, Started{Session: s})
}

// Resume carries on a session that broke off, or that ended short of success, from where
// it stopped: the strategy runs over the journal, which the run takes over. The critic is
// asked again for what it had not yet said; an actor's turn that was finished is not
// played again. What the critic had given no verdict on is judged again first, and so is
// what a recorded DONE is about: no run ends with success on what a log says. The error
// is a [*JournalError] where the journal is that of another strategy.
func (l *Loop) Resume(ctx context.Context, s Session, j *Journal) (Outcome, error) {
	return l.run(ctx, s, j, Resumed{Session: s, Iterations: len(j.Rounds()), Judge: j.Pending() != nil, Rejudge: j.rejudge()})
}

func (l *Loop) run(ctx context.Context, s Session, j *Journal, first Event) (Outcome, error) {
	steps := &Steps{&section{
		course: &course{
			loop: l, record: &record{sink: l.Sink, clock: l.Clock, seq: j.seq},
			session: s, began: l.Clock().Add(-j.Elapsed()),
		},
		journal: j, at: l.Workplace, errand: errand{prompt: s.Prompt},
	}}
	_, steps.fresh = first.(Started)
	ctx, steps.abort = context.WithCancelCause(ctx)
	defer steps.abort(nil)
	var out Outcome
	err := steps.emit("", first)
	if err == nil {
		out, err = l.Strategy.Run(ctx, steps)
	}
	if err == nil {
		err = j.rest()
	}
	out, err = steps.ended(ctx, out, err)
	err = errors.Join(err, steps.machine.To(Ended))
	// Whatever broke before, the end is offered to the sink once.
	if e := steps.emit("", Finished{Outcome: out}); e != nil && err == nil {
		err = e
	}
	if err != nil {
		out.Result, out.Reason = Failed, StopInternal
	}
	return out, err
}

// ended says how a run has ended; the error is what broke.
func (s *section) ended(ctx context.Context, out Outcome, err error) (Outcome, error) {
	if e := s.goLive(ctx); err == nil { // of a session that only lacked its end, nothing was played
		err = e
	}
	if err != nil {
		out, err = s.broke(ctx, err)
	}
	out.Result, out.Iterations = out.Reason.Result(), s.progress.Iterations
	out.Duration = s.loop.Clock().Sub(s.began)
	out.ActorError = s.complaint
	if last := s.previous; out.Reason == StopDone && last != nil {
		out.Unmentioned = len(last.Review.Unmentioned)
		out.NothingChanged = last.Change.Empty() && len(last.Checks) == 0
	}
	return out, err
}

// broke says how an error ends the run.
func (r *record) broke(ctx context.Context, err error) (Outcome, error) {
	stop, ok := errors.AsType[*stopError](err)
	if ctx.Err() != nil && r.unwritten() == nil {
		stop, ok = cancelled(ctx), true
	}
	if ok {
		return Outcome{Reason: stop.reason, Cause: stop.cause, Summary: stop.sentence}, nil
	}
	return Outcome{Reason: StopInternal, Summary: err.Error()}, err
}

// A stopError ends a run before its strategy has come to an end: the rules stop it, or
// an agent cannot work until a person does something about it.
type stopError struct {
	reason   StopReason
	sentence string
	cause    string // see [Outcome]
}

func (e *stopError) Error() string { return e.sentence }

// Stop is the error with which a port, or a strategy, ends the run for a reason of its own: nothing
// broke. The sentence tells a person why; the cause is that of the [Outcome].
func Stop(reason StopReason, cause, sentence string) error {
	return &stopError{reason: reason, cause: cause, sentence: sentence}
}

func cancelled(ctx context.Context) *stopError {
	if errors.Is(context.Cause(ctx), ErrMaxDuration) {
		return &stopError{reason: StopMaxDuration, sentence: ErrMaxDuration.Error()}
	}
	return &stopError{reason: StopInterrupted, sentence: "interrupted"}
}
