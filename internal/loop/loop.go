package loop

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// ErrMaxDuration is the cause with which a caller cancels a run's context when
// its time is used up. Any other cancellation is an interruption.
var ErrMaxDuration = errors.New("the time for this run is used up")

// A Loop holds what a run needs. Strategy, Sink and Clock must be set. Clock must be safe for
// concurrent use.
type Loop struct {
	Workplace
	Strategy Strategy
	Sink     Sink
	Clock    func() time.Time

	// Ask puts a question to the user. It returns [ErrNobody] if there is nobody to ask. Nil
	// means that there never is.
	Ask func(context.Context, string) (answer string, err error)

	// Steering carries what the user asks of the run while it goes on. May be nil.
	Steering *Steering

	// Checks says when the checks are run.
	Checks CheckRules

	// InPlace: the checks and the critic work in the user's own work tree, not in views.
	InPlace bool

	// Beside lists what was written to files that git ignores, which no diff, commit or restore has;
	// nil lists nothing.
	Beside func(context.Context) []string

	// Warnings are said before the first turn.
	Warnings []string

	// Jobs limits how many parts of a strategy play at the same time; 0: no limit.
	Jobs int

	// CriticRetries is how often the critic is asked again in one iteration after a reply that
	// could not be used.
	CriticRetries int
}

// CheckRules say when checks run in addition to once per iteration.
type CheckRules struct {
	Before   bool // also once before the first iteration
	FailFast bool // stop after the first check that does not pass
}

// A Strategy is a way of driving agents: ordinary code over the steps of a run. It must be
// deterministic: what it does next may depend only on the results of its steps, because a session
// is resumed by running the strategy again over the journal. When a step returns an error, the
// strategy returns that error unchanged; it ends the run.
type Strategy interface {
	Run(context.Context, *Steps) (Outcome, error)
}

// Run drives one session to its end. The outcome is valid on every path. The error is set only
// when something broke (an agent could not be started, git failed, an event could not be
// recorded); then Outcome.Result is Failed.
func (l *Loop) Run(ctx context.Context, s Session) (Outcome, error) {
	return l.Play(ctx, s, &Journal{})
}

// Play is Run with a journal that knows the results of some of the strategy's own steps.
func (l *Loop) Play(ctx context.Context, s Session, j *Journal) (Outcome, error) {
	return l.run(ctx, s, j, Started{Session: s})
}

// Resume continues a session that broke off, or that ended short of success, from where it
// stopped. The strategy runs over the journal, which the run takes over. A finished actor turn is
// not played again; a critic that has not answered yet is asked again. Work without a verdict is
// judged first, and so is work with a recorded DONE: no run succeeds only because its log says
// so. The error is a [*JournalError] if another strategy wrote the journal.
func (l *Loop) Resume(ctx context.Context, s Session, j *Journal) (Outcome, error) {
	return l.run(ctx, s, j, Resumed{Session: s, Iterations: len(j.Rounds()), Judge: j.Pending() != nil, Rejudge: j.rejudge()})
}

func (l *Loop) run(ctx context.Context, s Session, j *Journal, first Event) (Outcome, error) {
	steering := cmp.Or(l.Steering, &Steering{})
	steps := &Steps{&section{
		course: &course{
			loop: l, record: &record{sink: l.Sink, clock: l.Clock, seq: j.seq, heeds: steering.follow},
			steering: steering, session: s, began: l.Clock().Add(-j.Elapsed()),
		},
		journal: j, at: l.Workplace, errand: errand{prompt: s.Prompt},
	}}
	steps.freed.L = &steps.mu
	ctx, steps.abort = context.WithCancelCause(ctx)
	defer steps.abort(nil)
	var out Outcome
	err := steps.emit("", first)
	for _, text := range l.Warnings {
		err = cmp.Or(err, steps.warn("", text))
	}
	deaf := steps.listen(j.words)
	if err == nil {
		_, fresh := first.(Started)
		err = steps.checkBaseline(ctx, fresh)
	}
	if err == nil {
		out, err = l.Strategy.Run(ctx, steps)
	}
	if err == nil {
		err = j.rest()
	}
	if err == nil && l.Beside != nil {
		if paths := l.Beside(ctx); len(paths) > 0 {
			err = steps.warn("", "git ignores what was written to "+listed(paths)+": it is in no diff and no commit")
		}
	}
	out, err = steps.ended(ctx, out, err)
	err = errors.Join(err, steps.machine.To(Ended))
	steering.close(true)
	deaf()
	err = cmp.Or(err, steps.hear())
	// Whatever broke before, the end is offered to the sink once.
	if e := steps.emit("", Finished{Outcome: out}); e != nil && err == nil {
		err = e
	}
	if err != nil {
		out.Result, out.Reason = Failed, StopInternal
	}
	return out, err
}

// ended returns the outcome of a run; the error says what broke, if anything did.
func (s *section) ended(ctx context.Context, out Outcome, err error) (Outcome, error) {
	if e := s.goLive(ctx); err == nil { // a session that only lacked its end has played nothing
		err = e
	}
	if err != nil {
		out, err = s.outcomeOf(ctx, err)
	}
	out.Result, out.Iterations = out.Reason.Result(), s.progress.Iterations
	out.Duration = s.loop.Clock().Sub(s.began)
	out.ActorError = s.complaint
	if last := s.previous; out.Reason == StopDone && last != nil {
		out.Unmentioned = len(last.Review.Unmentioned)
		out.NothingChanged = last.Change.Empty() && len(last.Change.Unshown) == 0 && len(last.Checks) == 0
	}
	return out, err
}

// outcomeOf returns the outcome of a run that ends with an error.
func (r *record) outcomeOf(ctx context.Context, err error) (Outcome, error) {
	stop, ok := errors.AsType[*stopError](err)
	if ctx.Err() != nil && r.unwritten() == nil {
		stop, ok = cancelled(ctx), true
	}
	if ok {
		return Outcome{Reason: stop.reason, Cause: stop.cause, Summary: stop.sentence}, nil
	}
	return Outcome{Reason: StopInternal, Summary: err.Error()}, err
}

// A stopError ends a run before its strategy does: the rules stop it, or an agent cannot work
// until a person does something.
type stopError struct {
	reason   StopReason
	sentence string
	cause    string // see [Outcome]
}

func (e *stopError) Error() string { return e.sentence }

// Stop returns the error with which a port or a strategy ends the run without anything being
// broken. The sentence tells a person why; cause is [Outcome.Cause].
func Stop(reason StopReason, cause, sentence string) error {
	return &stopError{reason: reason, cause: cause, sentence: sentence}
}

func cancelled(ctx context.Context) *stopError {
	if errors.Is(context.Cause(ctx), ErrMaxDuration) {
		return &stopError{reason: StopMaxDuration, sentence: ErrMaxDuration.Error()}
	}
	return &stopError{reason: StopInterrupted, sentence: "interrupted"}
}
