package loop

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrMaxDuration is the cause with which a caller cancels a run's context when
// its time is used up. Any other cancellation is an interruption.
var ErrMaxDuration = errors.New("the time for this run is used up")

// A Loop holds what a run needs. All fields but Checker must be set.
type Loop struct {
	Actor   Actor
	Tree    Tree
	Checker Checker // nil: the project has no checks, VERIFYING is left out
	Critic  Critic
	Gate    Gate
	Sink    Sink
	Clock   func() time.Time

	// CheckBefore: the checks are run once before the first iteration, too.
	CheckBefore bool
	// FailFast: no check is run after one that has not passed.
	FailFast bool

	// CriticRetries is how often the critic is asked again, within one
	// iteration, after a reply that could not be used.
	CriticRetries int
}

// Run drives one session to its end. The outcome holds on every path; the
// error is set only when something broke (an agent could not be started, git
// failed, an event could not be recorded), and then Outcome.Result is Failed.
func (l *Loop) Run(ctx context.Context, s Session) (Outcome, error) {
	return l.run(ctx, s, Started{Session: s}, Past{})
}

// Resume carries on a session that broke off, or that ended short of success,
// from where it had come to. The critic is asked again for what it had not yet
// said; an actor's turn that was finished is not played again.
// What the critic had given no verdict on is judged again first, and so is what a
// recorded DONE is about: no run ends with success on what a log says.
func (l *Loop) Resume(ctx context.Context, s Session, p Past) (Outcome, error) {
	p.Undecided = p.Undecided && p.Attempt == nil && len(p.Rounds) > 0
	return l.run(ctx, s, Resumed{Session: s, Iterations: len(p.Rounds), Judge: p.Attempt != nil, Rejudge: p.Undecided}, p)
}

func (l *Loop) run(ctx context.Context, s Session, first Event, p Past) (Outcome, error) {
	r := &run{Loop: l, began: l.Clock().Add(-p.Elapsed), seq: p.Seq, ended: p.Ended, pending: p.Attempt, baseline: p.Baseline, session: s.ID}
	r.conversation = p.Conversation
	if p.Attempt != nil {
		r.complaint = p.Attempt.Complaint()
	}
	ctx, r.abort = context.WithCancelCause(ctx)
	defer r.abort(nil)
	for _, round := range p.Rounds {
		r.remember(round)
	}
	if r.previous != nil && p.Attempt == nil {
		r.complaint = r.previous.Attempt.Complaint()
	}
	if p.Undecided {
		r.undecided = r.previous.Attempt.again()
	}
	r.progress.Spent = p.Spent
	r.progress.ConsecutiveErrors, r.progress.LastFailure, r.progress.LastProblem = 0, StopNone, "" // whoever resumes wants another try
	stop := r.drive(ctx, s, first)
	out := Outcome{
		Result:     stop.reason.Result(),
		Reason:     stop.reason,
		Iterations: r.progress.Iterations,
		Summary:    stop.summary,
		Confidence: stop.confidence,
		Duration:   l.Clock().Sub(r.began),
		ActorError: r.complaint,
	}
	if last := r.previous; out.Reason == StopDone && last != nil {
		out.Unmentioned = len(last.Review.Unmentioned)
		out.NothingChanged = last.Change.Empty() && len(last.Checks) == 0
	}
	err := errors.Join(stop.err, r.machine.To(Ended))
	// Whatever broke before, the end is offered to the sink once.
	if e := r.emit(Finished{Outcome: out}); e != nil && stop.err == nil {
		err = errors.Join(err, e)
	}
	if err != nil {
		out.Result, out.Reason = Failed, StopInternal
	}
	return out, err
}

// run is the state of one session. Everything but emit belongs to the
// goroutine that called Run.
type run struct {
	*Loop
	began     time.Time
	machine   Machine
	progress  Progress
	history   []Round // without their texts
	previous  *Round  // the last one, whole
	baseline  []CheckResult
	pending   *Attempt // of the first iteration of a resumed run, to be judged
	undecided *Attempt // of the iteration before a resumed run, to be judged again
	ended     bool     // once, before it was taken up again
	session   string   // its name
	complaint string   // of the actor's last turn
	trace     []Phase  // of the iteration under way
	entered   time.Time
	told      map[string]bool // warnings of a look after a turn
	position  Position        // at the last look

	conversation Conversation // of the actor's last turn

	abort func(error) // ends the turn under way

	mu     sync.Mutex // guards what follows, and the sink: agents report while their turn lasts
	seq    int
	broken error
	waited time.Duration // in the phase under way
}

// A stop is why drive came back.
type stop struct {
	reason     StopReason
	summary    string
	confidence *float64
	err        error
}

func failed(err error) stop {
	return stop{reason: StopInternal, summary: err.Error(), err: err}
}

func (r *run) drive(ctx context.Context, s Session, first Event) stop {
	if err := r.emit(first); err != nil {
		return failed(err)
	}
	if _, fresh := first.(Started); fresh && r.CheckBefore && r.Checker != nil {
		if err := r.checkBefore(ctx); err != nil {
			return r.broke(ctx, err)
		}
	}
	if end, over := r.ruledOut(); over {
		return end
	}
	for {
		if end, over := r.mayNotOpen(ctx); over {
			return end
		}
		round, end, over := r.iterate(ctx, s.Prompt)
		if over {
			return end
		}
		r.remember(round)
		if end, over := decided(round); over {
			return end
		}
	}
}

// ruledOut says whether all that is left to do of a session that broke off is to
// write its end. That is never a DONE.
func (r *run) ruledOut() (end stop, over bool) {
	if r.pending != nil || r.undecided != nil || r.previous == nil || r.ended {
		return stop{}, false
	}
	end, over = decided(*r.previous)
	return end, over && end.reason != StopDone
}

// mayNotOpen asks whether the run ends before the next iteration. What was begun
// before the session broke off is finished in any case.
func (r *run) mayNotOpen(ctx context.Context) (stop, bool) {
	switch {
	case r.pending != nil:
		return stop{}, false
	case r.undecided != nil:
		return r.mayNot(ctx, RoleCritic)
	}
	return r.mayNot(ctx, RoleActor)
}

// mayNot asks the context and the gate whether the run ends before the next
// turn.
func (r *run) mayNot(ctx context.Context, next Role) (stop, bool) {
	if ctx.Err() != nil {
		return cancelled(ctx), true
	}
	r.progress.Elapsed = r.Clock().Sub(r.began)
	r.progress.Next = next
	reason, why := r.Gate.Stop(r.progress)
	return stop{reason: reason, summary: why}, reason != StopNone
}

func cancelled(ctx context.Context) stop {
	if errors.Is(context.Cause(ctx), ErrMaxDuration) {
		return stop{reason: StopMaxDuration, summary: ErrMaxDuration.Error()}
	}
	return stop{reason: StopInterrupted, summary: "interrupted"}
}

func decided(round Round) (stop, bool) {
	v := round.Verdict
	switch {
	case round.Stop != StopNone:
		return stop{reason: round.Stop, summary: round.Why}, true
	case v.Escalation != "":
		return stop{reason: StopPolicyEscalation, summary: v.Escalation}, true
	case v.Decision == Done:
		return stop{reason: StopDone, summary: v.Summary, confidence: v.Confidence}, true
	}
	return stop{}, false
}

// remember keeps the last round whole and the others without their texts, so
// that a long session does not grow with what its agents print.
func (r *run) remember(round Round) {
	r.progress.Iterations++
	r.progress.LastFailure, r.progress.LastProblem = round.Failure, trouble(round)
	if round.Failure == StopNone {
		r.progress.ConsecutiveErrors = 0
	} else {
		r.progress.ConsecutiveErrors++
	}
	r.previous = &round
	// A new array each time: the critic may still hold the old one.
	r.history = append(slices.Clip(r.history), round.Outline())
}

// emit stamps an event and hands it to the sink. After the first failure only
// the end is offered.
func (r *run) emit(e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, end := e.(Finished); r.broken != nil && !end {
		return r.broken
	}
	if err := r.Sink.Handle(Stamp{Seq: r.seq + 1, Time: r.Clock()}, e); err != nil {
		r.broken = err
		return err
	}
	r.seq++
	return nil
}

// unwritten is the sink's first error.
func (r *run) unwritten() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}
