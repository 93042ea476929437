package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"codeloops/internal/wording/hint"
)

// A State says where a task stands.
type State string

// The states of a task.
const (
	Waiting    State = "waiting"     // for a worker, or for other tasks
	Offered    State = "offered"     // to the workers
	Running    State = "running"     // somebody works on it
	Finished   State = "finished"    // its result waits for the merge
	Merged     State = "merged"      // the target contains its result
	NeedsHuman State = "needs-human" // its result could not be merged
	Failed     State = "failed"      // its run did not end with DONE
	Dead       State = "dead"        // too many workers were lost with it
	Cancelled  State = "cancelled"
)

// States lists all of them, in the order in which a task passes them.
func States() []State {
	return []State{Waiting, Offered, Running, Finished, Merged, NeedsHuman, Failed, Dead, Cancelled}
}

// follow is the table of legal changes. A state that follows itself is entered again: by
// another worker, after one was lost.
func follow(s State) []State {
	switch s {
	case Waiting:
		return []State{Offered, Cancelled}
	case Offered:
		return []State{Running, Waiting, Cancelled, Dead}
	case Running:
		return []State{Running, Finished, Waiting, Failed, NeedsHuman, Cancelled, Dead}
	case Finished:
		return []State{Merged, Waiting, NeedsHuman, Cancelled}
	case NeedsHuman, Failed, Dead, Cancelled:
		return []State{Waiting}
	case Merged:
	}
	return nil
}

// Over reports whether nothing more becomes of a task by itself. The result of one that is
// not merged stays [Finished].
func (s State) Over() bool {
	return slices.Contains([]State{Merged, NeedsHuman, Failed, Dead, Cancelled}, s)
}

// Busy reports whether a task is on its way: begun, and not over.
func (s State) Busy() bool { return s == Offered || s == Running || s == Finished }

// A Record is a task and what has become of it. It is changed by revision alone: whoever
// changes it has seen what it changes.
type Record struct {
	Task  Task  `json:"task"`
	State State `json:"state"`
	// Since is when it came to be there.
	Since time.Time `json:"since"`
	// Why is the reason for it, a sentence for people; "" where the state says enough.
	Why string `json:"why,omitempty"`

	// Offers counts how often the task was offered, or the merge of its result put off: it makes the id
	// of the message.
	Offers int `json:"offers,omitempty"`
	// Attempt counts how often work on it has begun. It is the fencing token: what comes from
	// an earlier attempt is refused.
	Attempt int    `json:"attempt,omitempty"`
	Worker  Worker `json:"worker,omitzero"` // of the last attempt
	// Taken counts how often the task, since it was offered, or its result was given to somebody:
	// all but the last one were lost with it.
	Taken int `json:"taken,omitempty"`
	// NotBefore: until then the task is offered to nobody, and its result is not merged. Zero: at any time.
	NotBefore time.Time `json:"not_before,omitzero"`

	Base     string   `json:"base,omitempty"`     // commit at which work began
	Head     string   `json:"head,omitempty"`     // commit with its result
	Progress Progress `json:"progress,omitzero"`  // of its run
	Reworks  int      `json:"reworks,omitempty"`  // how often a merge sent it back
	Feedback string   `json:"feedback,omitempty"` // why the last one did
	Parcels  Parcels  `json:"parcels,omitzero"`
	// Remote is the URL of a git remote that has commits of the task for other machines; "": none has.
	Remote string `json:"remote,omitempty"`
	Merge  Merge  `json:"merge,omitzero"`

	// Cast is who may play each role, as the last run had it; nil before there was one.
	Cast [][]string `json:"cast,omitempty"`

	Course []Moment `json:"course,omitempty"`

	// Told is the last state that the origin of the task was told of.
	Told State `json:"told,omitempty"`

	// Revision is the one that was read. It is not part of what is kept.
	Revision uint64 `json:"-"`
}

// A Worker is who works on a task.
type Worker struct {
	Name string `json:"name"` // for people: machine and process
	Home string `json:"home"` // where its work trees and sessions are
}

// Parcels are what an attempt on another machine has sent of the task: its branch, and its session as
// far as that can be carried on. None: all that there is of the task is where the repository is.
type Parcels struct {
	Attempt int `json:"attempt,omitempty"`
	Count   int `json:"count,omitempty"`
}

// Names are those of the parcels of a task, in their order.
func (p Parcels) Names(task string) (names []string) {
	for n := range p.Count {
		names = append(names, fmt.Sprintf("%s.%d.%d", task, p.Attempt, n+1))
	}
	return names
}

// The parts of what is sent for an attempt on another machine.
const (
	BasePart  = "base"  // the commits that it begins at
	StatePart = "state" // what there is of the task where its repository is
)

// PartFor is the name of what is sent for an attempt at a task.
func PartFor(task string, attempt int, part string) string {
	return fmt.Sprintf("%s.to.%d.%s", task, attempt, part)
}

// Left are the names of all that may be on the hub of attempts at a task up to one, once what they have
// come to is elsewhere: these parcels, and what those who were killed could not name any more.
func (p Parcels) Left(task string, last int) (names []string) {
	for a := max(1, p.Attempt); a <= last; a++ {
		one := Parcels{Attempt: a, Count: 1}
		if a == p.Attempt {
			one.Count = p.Count + 1
		}
		names = append(names, one.Names(task)...)
		names = append(names, PartFor(task, a, BasePart), PartFor(task, a, StatePart))
	}
	return names
}

// Progress is how far the run of a task has come.
type Progress struct {
	Session   string  `json:"session,omitempty"`
	Iteration int     `json:"iteration,omitempty"`
	Phase     string  `json:"phase,omitempty"`   // as the log spells it
	Dollars   float64 `json:"dollars,omitempty"` // all sessions of the task together
	Tokens    int     `json:"tokens,omitempty"`
}

// A Merge is what became of a result.
type Merge struct {
	Commit string `json:"commit,omitempty"` // contains it
	Ref    string `json:"ref,omitempty"`    // where that commit is
	Take   string `json:"take,omitempty"`   // command that takes it into the target; "": it is there
}

// A Moment is one change of a record.
type Moment struct {
	At      time.Time `json:"at"`
	State   State     `json:"state"`
	Attempt int       `json:"attempt,omitempty"`
	Worker  string    `json:"worker,omitempty"`
	Session string    `json:"session,omitempty"`
	Why     string    `json:"why,omitempty"`
}

// Tell reports whether the origin of the task is to be told what has become of it.
func (r *Record) Tell() bool {
	return r.Task.Origin.Key != "" && r.State.Over() && r.State != Cancelled && r.Told != r.State
}

// most is how many moments are kept: the oldest go first. Of why each came, the beginning is.
const (
	most  = 100
	brief = 1 << 10
)

// What may be wrong with a change.
var (
	// ErrUnable says that a worker can do nothing for a while, whatever the task.
	ErrUnable = errors.New("this machine cannot work on tasks")
	// ErrStale refuses what comes from an attempt that does not count any more.
	ErrStale = errors.New("what it has come to is refused")
	// ErrCancelled is an [ErrStale] of a task that somebody has cancelled.
	ErrCancelled = fmt.Errorf("it was cancelled: %w", ErrStale)
	// ErrIllegal refuses a change that the table of states does not hold.
	ErrIllegal = errors.New("a task does not go that way")
)

// Move brings the record into another state. The error is [ErrIllegal] where none leads there.
func (r *Record) Move(to State, at time.Time, why string) error {
	if !slices.Contains(follow(r.State), to) {
		return fmt.Errorf("task %s is %s and cannot become %s: %w", r.Task.ID, r.State, to, ErrIllegal)
	}
	r.State, r.Since, r.Why = to, at.UTC(), why
	if to == Offered || to == Finished {
		r.Taken = 0
	}
	r.Note(at, why)
	return nil
}

// Later has the task wait for a while before it is tried again. Where it only waits on, for the same reason,
// its course tells since when and when it was tried last, and nothing of the tries between.
func (r *Record) Later(at time.Time, pause time.Duration, why string) error {
	if err := r.Move(Waiting, at, why); err != nil {
		return err
	}
	r.NotBefore = at.UTC().Add(pause)
	last := len(r.Course) - 1
	first := last
	for i := last - 1; i >= 0; i-- {
		m := r.Course[i]
		if m.State == Waiting && m.Why == r.Course[last].Why {
			first = i
		} else if m.State != Offered && m.State != Running || m.Why != "" {
			break
		}
	}
	if first < last {
		r.Course = append(r.Course[:first+1:first+1], r.Course[last])
	}
	return nil
}

// PutOff has the merge of a result wait for a while, in which others are merged. Why it does is said once.
func (r *Record) PutOff(at time.Time, pause time.Duration, why string) {
	if !r.Off() {
		r.Since, r.Why = at.UTC(), why
		r.Note(at, why)
	}
	r.NotBefore, r.Taken = at.UTC().Add(pause), 0
	r.Offers++
}

// Off reports whether the merge of the result was put off.
func (r *Record) Off() bool { return r.State == Finished && r.NotBefore.After(r.Since) }

// Note adds a moment to the course of the task.
func (r *Record) Note(at time.Time, why string) {
	r.Course = append(r.Course, Moment{
		At: at.UTC(), State: r.State, Attempt: r.Attempt, Worker: r.Worker.Name, Session: r.Progress.Session,
		Why: strings.ToValidUTF8(why[:min(len(why), brief)], ""),
	})
	r.Course = r.Course[max(0, len(r.Course)-most):]
}

// Agents are all who may play a role, as far as they are known.
func (r *Record) Agents() []string { return slices.Concat(r.cast()...) }

// cast is who may play each role, as far as it is known.
func (r *Record) cast() [][]string {
	if r.Cast != nil {
		return r.Cast
	}
	return r.Task.Cast
}

// Sessions are those that worked on the task, oldest first, as far as its course is kept.
func (r *Record) Sessions() (ids []string) {
	for _, m := range append(slices.Clone(r.Course), Moment{Session: r.Progress.Session}) {
		if m.Session != "" && !slices.Contains(ids, m.Session) {
			ids = append(ids, m.Session)
		}
	}
	return ids
}

// Begin hands the task to a worker, with the number of its attempt. A task that another one
// works on is taken over from it.
func (r *Record) Begin(w Worker, at time.Time) error {
	why := ""
	if r.State == Running {
		why = r.Worker.Name + " was lost"
	}
	r.Attempt++
	r.Taken++
	r.Worker = w
	return r.Move(Running, at, why)
}

// Retry gives a task that is over another chance, from where its last attempt stopped.
func (r *Record) Retry(at time.Time) error {
	if !r.State.Over() || r.State == Merged {
		return hint.Errorf("codeloops queue show "+r.Task.ID+" tells its course",
			"task %s is %s: there is nothing to try again", r.Task.ID, r.State)
	}
	r.Reworks = 0
	return r.Move(Waiting, at, "tried again")
}
