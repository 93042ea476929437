package loop

import (
	"fmt"
	"slices"
	"time"
)

// A Journal holds what the steps of a session have come to, as its events tell it. A run
// that carries the session on makes the same steps again, and is given from here what
// they came to; the first one that is not here is played. The zero value is that of a
// session that has not begun. It is not safe for concurrent use.
type Journal struct {
	entries
	known map[Step]Event // what steps of the strategy's own are known to come to

	// Differs, unless it is nil, is told where a run over the journal comes to another text than
	// stands there. It may be called from several goroutines at once.
	Differs func(step Step, then, now string)

	ledger       ledger
	conversation Conversation // of the actor's last turn, one that has to be played again included
	seq          int
	words        []string // what the user said for the turn of the actor that comes next
	ended        bool     // the session had come to an end, and shall go on all the same

	stopwatch
	untouched bool   // nobody has been at work since the last whole iteration
	rejudges  bool   // what comes next judges the last work again
	paid      [2]int // the iterations whose turns of the actor, of the critic are in the ledger
}

// entries are in the order in which their steps came to their ends.
type entries []entry

// An entry is a step that is over, with the event that says so.
type entry struct {
	step  Step
	event Event
}

// A stopwatch adds up how long the runs of a session took.
type stopwatch struct {
	elapsed     time.Duration
	began, last time.Time // of the run that the events belong to
}

func (w *stopwatch) starts(at time.Time) {
	w.elapsed += w.last.Sub(w.began)
	w.began, w.last = at, at
}

// Elapsed returns the time that the runs of the session took.
func (w *stopwatch) Elapsed() time.Duration { return w.elapsed + w.last.Sub(w.began) }

// baselineStep is the step of the checks before the first iteration.
const baselineStep Step = "baseline"

// Know takes what a turn of the strategy's own, or another of its steps, has come to,
// wherever it stands: a run over the journal does not make it again. It is for whoever
// plays a run back.
func (j *Journal) Know(at Stamp, e Event) {
	n, isNote := e.(Noted)
	_, isTurn := e.(TurnFinished)
	if !isTurn && !isNote || isNote && n.opens() {
		return
	}
	if j.known == nil {
		j.known = map[Step]Event{}
	}
	j.known[at.Step] = e
}

// Add takes the next event of the session.
func (j *Journal) Add(at Stamp, e Event) {
	j.seq = max(j.seq, at.Seq)
	switch e := e.(type) {
	case Started, Resumed:
		j.starts(at.Time)
		again, _ := e.(Resumed)
		j.ended, j.rejudges = false, again.Rejudge
	case BaselineChecked:
		j.close(baselineStep, e)
	case IterationStarted:
		j.drop(iterationStep(e.Iteration))
		j.untouched = j.untouched && j.rejudges
	case ActorFinished:
		j.worked(e)
	case ReviewRejected:
		j.ledger.add(RoleCritic, e.Review.Turn)
	case CriticFinished:
		j.paid[1] = e.Iteration
		j.ledger.add(RoleCritic, e.Review.Turn)
	case IterationFinished:
		j.round(e.Round)
	case Finished:
		j.finished(e.Outcome)
	case TurnFinished:
		j.turned(at.Step, e)
	case Noted:
		j.noted(at.Step, e)
	case Steered:
		j.steered(e)
	case PhaseEntered, TurnStarted, Activity, WaitStarted, WaitFinished, DiffCaptured, Inspected, ChecksFinished, Warned:
	}
	j.last = at.Time
}

// finished takes the end of a run. A turn for which it ended, as nothing came of it, is played again:
// so are all of a role that could not be read.
func (j *Journal) finished(o Outcome) {
	j.ended = true
	if o.Reason == StopActorFailed { // the last turn is not worth a review
		j.drop(iterationStep(len(j.Rounds()) + 1))
	}
	if o.Reason != StopNoDecision {
		return
	}
	done := len(j.entries)
	for _, e := range slices.Backward(j.entries) {
		if turn, ok := e.event.(TurnFinished); !ok || turn.Reply.Ending == EndCompleted && string(turn.Role) != o.Cause {
			break
		}
		done--
	}
	j.entries = j.entries[:done]
}

func (j *Journal) noted(step Step, e Noted) {
	j.untouched = false
	if !e.opens() {
		j.close(step, e)
	}
}

// worked takes a turn of the actor that is over. One that was interrupted, or in which
// the agent could not work, has to be played again.
func (j *Journal) worked(e ActorFinished) {
	j.drop(iterationStep(e.Iteration))
	j.untouched, j.rejudges = false, false
	if !e.Attempt.Rejudged {
		j.conversation = j.conversation.After(e.Attempt.Turn)
	}
	j.paid[0] = e.Iteration
	j.ledger.add(RoleActor, e.Attempt.Turn)
	if e.Attempt.Ending != EndInterrupted && !e.Attempt.Blocked() {
		j.close(actorStep(e.Iteration), e)
		j.words = nil
	}
}

func (j *Journal) steered(e Steered) {
	if e.Text != "" {
		j.words = append(j.words, e.Text)
	}
}

// takeWords returns what the user said for a turn of the actor that was not finished.
func (j *Journal) takeWords() []string {
	words := j.words
	j.words = nil
	return words
}

// turned takes a turn of the strategy's own that is over, likewise.
func (j *Journal) turned(step Step, e TurnFinished) {
	j.untouched = false
	j.ledger.add(e.Pays(), e.Reply.Turn)
	j.drop(step)
	if e.Reply.Ending != EndInterrupted && !e.Reply.Blocked() {
		j.close(step, e)
	}
}

func (j *Journal) round(r Round) {
	// Some logs have whole iterations only.
	if j.paid[0] != r.Iteration {
		j.ledger.add(RoleActor, r.Attempt.Turn)
	}
	if j.paid[1] != r.Iteration && !r.Unjudged {
		j.ledger.add(RoleCritic, r.Review.Turn)
	}
	j.drop(iterationStep(r.Iteration))
	if n := len(j.entries) - 1; n >= 0 { // the last one alone is kept whole
		if before, ok := j.entries[n].event.(IterationFinished); ok {
			j.entries[n].event = IterationFinished{Round: before.Round.Outline()}
		}
	}
	j.close(iterationStep(r.Iteration), IterationFinished{Round: r})
	j.untouched, j.rejudges, j.words = true, r.JudgedAgain(), nil
}

// close notes that a step is over.
func (l *entries) close(step Step, e Event) { *l = append(*l, entry{step, e}) }

// drop forgets what stands below a step: it is made anew.
func (l *entries) drop(whole Step) {
	*l = slices.DeleteFunc(*l, func(e entry) bool { return e.step.In(whole) })
}

// Clone returns a journal that goes its own way from here.
func (j *Journal) Clone() *Journal {
	other := *j
	other.entries, other.ledger = slices.Clone(j.entries), j.ledger.clone()
	return &other
}

// Rounds returns the whole iterations, oldest first. Only the last one has its texts.
func (l entries) Rounds() (all []Round) {
	for _, e := range l {
		if whole, ok := e.event.(IterationFinished); ok {
			all = append(all, whole.Round)
		}
	}
	return all
}

// Pending returns the turn of the actor that is over and not judged yet, nil where there
// is none. Events as a log keeps them lack its texts: the caller may complete it.
func (l entries) Pending() *Attempt {
	if n := l.acted(); n >= 0 {
		acted, _ := l[n].event.(ActorFinished)
		return &acted.Attempt
	}
	return nil
}

// acted is where the pending turn stands, behind which there may be turns of a panel's members;
// -1 where there is none.
func (l entries) acted() int {
	for n, e := range slices.Backward(l) {
		if _, ok := e.event.(ActorFinished); ok {
			return n
		}
		if turn, ok := e.event.(TurnFinished); !ok || turn.Review == nil {
			break
		}
	}
	return -1
}

// below takes out the turns of a panel's members that stand below a step, or are known.
func (j *Journal) below(whole Step) map[Step]TurnFinished {
	all := map[Step]TurnFinished{}
	take := func(step Step, e Event) bool {
		turn, ok := e.(TurnFinished)
		if ok = ok && turn.Review != nil && step.In(whole); ok {
			all[step] = turn
		}
		return ok
	}
	j.entries = slices.DeleteFunc(j.entries, func(e entry) bool { return take(e.step, e.event) })
	for step, e := range j.known {
		take(step, e)
	}
	return all
}

// Complete puts the texts of a pending turn in their place.
func (l entries) Complete(stdout, stderr string) {
	if a := l.Pending(); a != nil {
		a.Stdout.Text, a.Stderr.Text = stdout, stderr
		last := &l[l.acted()]
		last.event = ActorFinished{Iteration: last.step.Iteration(), Attempt: *a}
	}
}

// Undecided reports whether the last whole iteration has had no verdict that stands
// ([Round.Undecided]), and nobody has been at work since: it is judged again before
// anything else.
func (j *Journal) Undecided() bool {
	rounds := j.Rounds()
	return len(rounds) > 0 && j.untouched && j.Pending() == nil && rounds[len(rounds)-1].Undecided()
}

// rejudge reports whether the next iteration plays no turn of the actor.
func (j *Journal) rejudge() bool {
	if n := len(j.entries); n > 0 {
		if last, ok := j.entries[n-1].event.(Noted); ok {
			return last.Name == NoteRejudge
		}
	}
	return j.Undecided()
}

// Ended reports whether the session had come to an end.
func (j *Journal) Ended() bool { return j.ended }

// Moved forgets the conversation of the actor, which is on another machine.
func (j *Journal) Moved() { j.conversation = Conversation{} }

// next returns the step that stands next.
func (l entries) next() (Step, bool) {
	if len(l) == 0 {
		return "", false
	}
	return l[0].step, true
}

// split takes out what stands below a step, as a journal of its own.
func (j *Journal) split(whole Step) *Journal {
	part := *j
	part.entries = nil
	for _, e := range j.entries {
		if e.step.In(whole) {
			part.entries = append(part.entries, e)
		}
	}
	j.drop(whole)
	return &part
}

// take returns what a step came to, if it stands at this place.
func (l *entries) take(step Step) (Event, bool) {
	if next, more := l.next(); !more || next != step {
		return nil, false
	}
	e := (*l)[0].event
	*l = (*l)[1:]
	return e, true
}

// find returns what a step came to, wherever it stands: turns that were played at the
// same time stand in the order of their ends.
func (j *Journal) find(step Step) (Event, bool) {
	if e, ok := j.known[step]; ok {
		return e, true
	}
	i := slices.IndexFunc(j.entries, func(e entry) bool { return e.step == step })
	if i < 0 {
		return nil, false
	}
	e := j.entries[i].event
	j.entries = slices.Delete(j.entries, i, i+1)
	return e, true
}

// only returns a [*JournalError] where a step stands next that is not a part of
// another one, which is about to be made.
func (l entries) only(whole Step) error {
	for _, e := range l {
		if !e.step.In(whole) {
			return &JournalError{Found: e.step, Made: whole}
		}
	}
	return nil
}

// rest returns a [*JournalError] where steps stand that nobody makes.
func (l entries) rest() error {
	if len(l) == 0 {
		return nil
	}
	return &JournalError{Found: l[0].step}
}

// A JournalError is a log that does not fit the strategy of the run that carries it on:
// it was written by another one, or under other settings.
type JournalError struct {
	Found Step // stands in the log
	Made  Step // would be made there; "": none would
}

// Error implements error.
func (e *JournalError) Error() string {
	if e.Made == "" {
		return fmt.Sprintf("the log of the session has the step %s, and this run would end before it", e.Found)
	}
	return fmt.Sprintf("the log of the session has the step %s where this run would make the step %s", e.Found, e.Made)
}

// Hint returns what to do about it.
func (e *JournalError) Hint() string {
	return "carry it on with the version and the settings that it was begun with, or begin a new session"
}
