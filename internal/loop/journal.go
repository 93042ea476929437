package loop

import (
	"fmt"
	"slices"
	"time"
)

// A Journal holds the results of a session's steps, collected from its events. A resumed run
// takes the same steps again and gets their results from here; the first step that is missing is
// played. The zero value is the journal of a new session. It is not safe for concurrent use.
type Journal struct {
	entries
	known map[Step]Event // results of the strategy's own steps, for a replay

	// Differs, unless it is nil, is called when a run over the journal produces a different text
	// than the journal holds. It may be called concurrently.
	Differs func(step Step, then, now string)

	ledger       ledger
	conversation Conversation // of the actor's last turn, even if that has to be played again
	seq          int
	words
	ended bool // the session had ended, and is continued all the same
	left  bool // it had left its last iteration for turns that are played again

	hours
	untouched bool   // no agent has worked since the last whole iteration
	rejudges  bool   // the next iteration judges the last work again
	paid      [2]int // the last iterations whose actor and critic turns are in the ledger
}

// hours are how long the session's runs took.
type hours struct {
	elapsed     time.Duration // of earlier runs
	began, last time.Time     // of the current run
}

// Elapsed returns the total duration of the session's runs.
func (h hours) Elapsed() time.Duration { return h.elapsed + h.last.Sub(h.began) }

// entries are in the order in which their steps finished.
type entries []entry

// An entry is a finished step and the event that holds its result.
type entry struct {
	step  Step
	event Event
}

// baselineStep is the step of the checks before the first iteration.
const baselineStep Step = "baseline"

// Know adds the result of a strategy's own step, wherever that is in the journal: a run does not
// take that step again. Replays use it.
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

// Add adds the next event of the session.
func (j *Journal) Add(at Stamp, e Event) {
	j.seq = max(j.seq, at.Seq)
	j.follow(e)
	switch e := e.(type) {
	case Started, Resumed:
		j.hours = hours{j.Elapsed(), at.Time, at.Time}
		again, _ := e.(Resumed)
		j.ended, j.left, j.rejudges = false, false, again.Rejudge
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
	case PhaseEntered, TurnStarted, Activity, WaitStarted, WaitFinished, DiffCaptured, Inspected, ChecksFinished, Warned, Steered:
	}
	j.last = at.Time
}

// finished handles the end of a run. A turn that ended the run because it produced nothing usable
// is played again, and so are all turns of a role whose reply could not be read.
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
		j.left = j.left || e.step.Iteration() == 0
	}
	j.entries = j.entries[:done]
}

func (j *Journal) noted(step Step, e Noted) {
	j.untouched = false
	if !e.opens() {
		j.close(step, e)
	}
}

// worked handles a finished turn of the actor. A turn that was interrupted, or in which the agent
// could not work, has to be played again.
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
	}
}

// turned does the same for a turn of the strategy's own.
func (j *Journal) turned(step Step, e TurnFinished) {
	j.untouched = false
	j.ledger.add(e.pays(), e.Reply.Turn)
	j.drop(step)
	if e.Reply.Ending != EndInterrupted && !e.Reply.Blocked() {
		j.close(step, e)
	}
}

func (j *Journal) round(r Round) {
	// Some logs only have whole iterations.
	if j.paid[0] != r.Iteration {
		j.ledger.add(RoleActor, r.Attempt.Turn)
	}
	if j.paid[1] != r.Iteration && !r.Unjudged {
		j.ledger.add(RoleCritic, r.Review.Turn)
	}
	j.drop(iterationStep(r.Iteration))
	if n := len(j.entries) - 1; n >= 0 { // only the last one keeps its texts
		if before, ok := j.entries[n].event.(IterationFinished); ok {
			j.entries[n].event = IterationFinished{Round: before.Round.Outline()}
		}
	}
	j.close(iterationStep(r.Iteration), IterationFinished{Round: r})
	j.untouched, j.rejudges = true, r.JudgedAgain()
}

// close records that a step has finished.
func (l *entries) close(step Step, e Event) { *l = append(*l, entry{step, e}) }

// drop removes a step and everything below it: it is played anew.
func (l *entries) drop(whole Step) {
	*l = slices.DeleteFunc(*l, func(e entry) bool { return e.step.In(whole) })
}

// Clone returns an independent copy.
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

// Pending returns the actor's turn that is finished but not judged, or nil. Logged events lack
// its texts; see Complete.
func (l entries) Pending() *Attempt {
	if n := l.acted(); n >= 0 {
		acted, _ := l[n].event.(ActorFinished)
		return &acted.Attempt
	}
	return nil
}

// acted returns the index of the pending turn, or -1. Turns of panel members may follow it.
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

// below removes and returns the panel members' turns below a step, together with those that are
// known.
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

// Complete fills in the texts of a pending turn.
func (l entries) Complete(stdout, stderr string) {
	if a := l.Pending(); a != nil {
		a.Stdout.Text, a.Stderr.Text = stdout, stderr
		last := &l[l.acted()]
		last.event = ActorFinished{Iteration: last.step.Iteration(), Attempt: *a}
	}
}

// Undecided reports whether the last whole iteration has no final verdict ([Round.Undecided]) and
// no agent has worked since: it is judged again first.
func (j *Journal) Undecided() bool {
	rounds := j.Rounds()
	return len(rounds) > 0 && j.untouched && j.Pending() == nil && rounds[len(rounds)-1].Undecided()
}

// rejudge reports whether the next iteration skips the actor's turn.
func (j *Journal) rejudge() bool {
	if n := len(j.entries); n > 0 {
		if last, ok := j.entries[n-1].event.(Noted); ok {
			return last.Name == NoteRejudge
		}
	}
	return j.Undecided()
}

// Ended reports whether the session had ended.
func (j *Journal) Ended() bool { return j.ended }

// Moved forgets the actor's conversation, which is on another machine.
func (j *Journal) Moved() { j.conversation = Conversation{} }

// next returns the first remaining step.
func (l entries) next() (Step, bool) {
	if len(l) == 0 {
		return "", false
	}
	return l[0].step, true
}

// split removes a step and everything below it, and returns that as a journal of its own.
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

// take removes the first entry and returns its event, if it is that step with such an event.
func take[E Event](l *entries, step Step) (e E, ok bool) {
	if next, more := l.next(); !more || next != step {
		return e, false
	}
	if e, ok = (*l)[0].event.(E); ok {
		*l = (*l)[1:]
	}
	return e, ok
}

// find removes and returns the result of a step, wherever it is: concurrent turns are in the
// order in which they finished.
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

// only returns a [*JournalError] unless all remaining entries are parts of one step.
func (l entries) only(whole Step) error {
	for _, e := range l {
		if !e.step.In(whole) {
			return &JournalError{Found: e.step, Made: whole}
		}
	}
	return nil
}

// rest returns a [*JournalError] if entries remain that no step has asked for.
func (l entries) rest() error {
	if len(l) == 0 {
		return nil
	}
	return &JournalError{Found: l[0].step}
}

// A JournalError reports a log that does not fit the strategy of the run that resumes it: another
// strategy, or one with other settings, wrote it.
type JournalError struct {
	Found Step // the step in the log
	Made  Step // the step that would be taken instead; "": none
}

// Error implements error.
func (e *JournalError) Error() string {
	if e.Made == "" {
		return fmt.Sprintf("the session's log has the step %s, but this run would end before it", e.Found)
	}
	return fmt.Sprintf("the session's log has the step %s where this run would take the step %s", e.Found, e.Made)
}

// Hint returns what to do about it.
func (e *JournalError) Hint() string {
	return "resume it with the version and the settings that it was begun with, or begin a new session"
}
