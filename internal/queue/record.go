package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"codeloops/internal/wording/hint"
)

// A Record is a task and its state. Every change names the revision that it is based on, so concurrent changes are
// noticed.
type Record struct {
	Task  Task  `json:"task"`
	State State `json:"state"`
	// Since is when it entered the state.
	Since time.Time `json:"since"`
	// Why is the reason for the state, a sentence for people; "" where the state says enough.
	Why string `json:"why,omitempty"`

	// Attempt counts attempts. It is the fencing token: changes by an earlier attempt are rejected.
	Attempt int    `json:"attempt,omitempty"`
	Worker  Worker `json:"worker,omitzero"` // of the last attempt
	// Taken counts how often the task, since it waited, or its result was handed out, and Held is when, the last time. All
	// but the last worker were lost.
	Taken int       `json:"taken,omitempty"`
	Held  time.Time `json:"held,omitzero"`
	// NotBefore is when the task may be offered, or its result merged; zero is at once.
	NotBefore time.Time `json:"not_before,omitzero"`
	Limited   string    `json:"limited,omitempty"` // the agent whose limit it waits for until then

	Base     string   `json:"base,omitempty"`     // commit at which work began, or that was merged into it since
	Head     string   `json:"head,omitempty"`     // commit with its result
	Accepted string   `json:"accepted,omitempty"` // the result that the user has accepted
	Moved    string   `json:"moved,omitempty"`    // says how the target has moved while an agent was at work; "": it has not
	Progress Progress `json:"progress,omitzero"`  // of its run
	Beside   []string `json:"beside,omitempty"`   // files with work that git ignores
	Warnings []string `json:"warnings,omitempty"` // of its runs, for people
	Reworks  int      `json:"reworks,omitempty"`  // how often the merge sent it back
	Feedback string   `json:"feedback,omitempty"` // why it was last sent back
	Summary  string   `json:"summary,omitempty"`  // what the run said about its result
	Words    []string `json:"words,omitempty"`    // what the user has said about it since it was added
	Parcel   int      `json:"parcel,omitempty"`   // the attempt on another machine whose work is on the hub; 0: all is in the repository
	Merge    Merge    `json:"merge,omitzero"`
	Request  string   `json:"request,omitempty"` // URL of its pull request

	// Cast is who may play each role, from the last run; nil before the first one.
	Cast [][]string `json:"cast,omitempty"`

	Course []Moment `json:"course,omitempty"`

	// Told is the last state that was reported to the origin.
	Told State `json:"told,omitempty"`

	// Revision is the one that was read. It is not stored.
	Revision uint64 `json:"-"`
}

// Done reports whether the result is where the user wants it: merged, or on the task's branch.
func (r *Record) Done() bool {
	return r.State == Merged || r.State == Finished && r.Task.Unmerged
}

// AwaitsMerge reports whether the result is to be merged.
func (r *Record) AwaitsMerge() bool { return r.State == Finished && !r.Task.Unmerged }

// A Worker identifies who works on a task.
type Worker struct {
	Name string `json:"name"` // for people: machine and process
	Home string `json:"home"` // where its work trees and sessions are
}

// ParcelOf is the name of what an attempt on another machine has sent: the task's branch and session.
func ParcelOf(task string, attempt int) string { return fmt.Sprintf("%s.%d", task, attempt) }

// ParcelTo is the name of what is sent for an attempt on another machine.
func ParcelTo(task string, attempt int) string { return fmt.Sprintf("%s.to.%d", task, attempt) }

// Leftovers lists everything that attempts from first to last may have left on the hub, also those that were killed before
// they could record it.
func Leftovers(task string, first, last int) (names []string) {
	for a := max(1, first); a <= last; a++ {
		names = append(names, ParcelOf(task, a), ParcelTo(task, a))
	}
	return names
}

// Progress is how far a task's run has come.
type Progress struct {
	Session   string  `json:"session,omitempty"`
	Iteration int     `json:"iteration,omitempty"`
	Phase     string  `json:"phase,omitempty"`   // as the log spells it
	Dollars   float64 `json:"dollars,omitempty"` // over all sessions of the task
	Tokens    int     `json:"tokens,omitempty"`
}

// A Merge is what became of a merged result.
type Merge struct {
	Commit string `json:"commit,omitempty"` // contains it
	Ref    string `json:"ref,omitempty"`    // where that commit is
	Take   string `json:"take,omitempty"`   // command that takes it into the target; "" where it is there
	Ticked bool   `json:"ticked,omitempty"` // whether the commit ticks the task in its list
}

// A Moment is one entry in a task's history.
type Moment struct {
	At      time.Time `json:"at"`
	State   State     `json:"state"`
	Attempt int       `json:"attempt,omitempty"`
	Worker  string    `json:"worker,omitempty"`
	Session string    `json:"session,omitempty"`
	Why     string    `json:"why,omitempty"`
}

// Tell reports whether the origin has yet to be told the outcome.
func (r *Record) Tell() bool {
	return r.Task.Origin.Key != "" && r.State.Over() && r.State != Cancelled && r.Told != r.State
}

// The history keeps the last most moments, with the first brief bytes of each reason.
const (
	most  = 100
	brief = 1 << 10
)

// Errors of changes.
var (
	// ErrLacks says that this worker lacks what a task needs, such as its agent; others may have it.
	ErrLacks = errors.New("this machine cannot work on the task")
	// ErrUnable says that this worker cannot work on any task for a while.
	ErrUnable = errors.New("this machine cannot work on tasks")
	// ErrStale rejects a change by an attempt that no longer counts.
	ErrStale = errors.New("its result is discarded")
	// ErrCancelled is an [ErrStale] for a cancelled task.
	ErrCancelled = fmt.Errorf("it was cancelled: %w", ErrStale)
)

// Move changes the state, if the table of states allows that.
func (r *Record) Move(to State, at time.Time, why string) error {
	if !slices.Contains(follow(r.State), to) {
		return fmt.Errorf("task %s is %s and cannot become %s", r.Task.ID, r.State, to)
	}
	r.State, r.Since, r.Why, r.Limited = to, at.UTC(), why, ""
	if to == Waiting || to == Finished {
		r.Taken = 0
	}
	r.Note(at, why)
	return nil
}

// Later puts the task back to waiting for a while. When it waits repeatedly for the same reason, its history keeps
// only the first and the last try.
func (r *Record) Later(at time.Time, pause time.Duration, why string) error {
	if err := r.Move(Waiting, at, why); err != nil {
		return err
	}
	r.NotBefore = at.UTC().Add(pause)
	last := len(r.Course) - 1
	waited := func(i int) bool {
		return i >= 0 && r.Course[i].State == Waiting && r.Course[i].Why == r.Course[last].Why
	}
	if waited(last-2) && r.Course[last-1].State == Running && r.Course[last-1].Why == "" {
		between := last - 1
		if waited(last - 3) {
			between--
		}
		r.Course = append(r.Course[:between:between], r.Course[last])
	}
	return nil
}

// Note adds an entry to the history.
func (r *Record) Note(at time.Time, why string) {
	r.Course = append(r.Course, Moment{
		At: at.UTC(), State: r.State, Attempt: r.Attempt, Worker: r.Worker.Name, Session: r.Progress.Session,
		Why: strings.ToValidUTF8(why[:min(len(why), brief)], ""),
	})
	r.Course = r.Course[max(0, len(r.Course)-most):]
}

// Agents lists everyone who may play a role, as far as known.
func (r *Record) Agents() []string { return slices.Concat(r.cast()...) }

// cast is who may play each role, as far as known.
func (r *Record) cast() [][]string {
	if r.Cast != nil {
		return r.Cast
	}
	return r.Task.Cast
}

// Sessions lists the task's sessions, oldest first, as far as its history goes back.
func (r *Record) Sessions() (ids []string) {
	for _, m := range append(slices.Clone(r.Course), Moment{Session: r.Progress.Session}) {
		if m.Session != "" && !slices.Contains(ids, m.Session) {
			ids = append(ids, m.Session)
		}
	}
	return ids
}

// Begin gives the task, or its result, to a worker. The task is a new attempt; a running one is taken over from a lost worker.
func (r *Record) Begin(w Worker, at time.Time) error {
	r.Taken, r.Held = r.Taken+1, at.UTC()
	if r.State == Finished {
		return nil
	}
	why := ""
	if r.State == Running {
		why = r.Worker.Name + " was lost"
	}
	r.Attempt, r.Worker = r.Attempt+1, w
	return r.Move(Running, at, why)
}

// Say adds to the task what the user says about it.
func (r *Record) Say(words string) {
	if words != "" {
		r.Words = append(slices.Clip(r.Words), words)
	}
}

// Heard adds to the task what the user has said during its session, as far as it is not known.
func (r *Record) Heard(said []string) {
	known := slices.Clone(r.Words)
	for _, words := range said {
		if i := slices.Index(known, words); i >= 0 {
			known = slices.Delete(known, i, i+1)
		} else {
			r.Say(words)
		}
	}
}

// AwaitsWord reports whether the user has to accept or reject the result.
func (r *Record) AwaitsWord() bool {
	return r.State == NeedsHuman && (r.Task.Asks || r.Moved != "" || r.Request != "") && r.Head != "" && r.Accepted != r.Head
}

// Finish puts the result of a run to be merged, or to be accepted first.
func (r *Record) Finish(head string, at time.Time, summary string) error {
	r.Head, r.Summary = head, summary
	if err := r.Move(Finished, at, summary); err != nil || !r.Task.Asks && r.Moved == "" || r.Task.Unmerged || r.Task.Request || r.Accepted == head {
		return err
	}
	moved := ""
	if r.Moved != "" {
		moved = r.Moved + "; was it you? "
	}
	return r.Move(NeedsHuman, at, moved+fmt.Sprintf("its result waits for your word: codeloops queue diff %s shows it, codeloops queue accept %[1]s merges it, codeloops queue reject %[1]s \"why\" sends it back", r.Task.ID))
}

// Accept has the result merged. The error names a task that does not wait for that.
func (r *Record) Accept(at time.Time) error {
	if err := r.asked(); err != nil {
		return err
	}
	r.Accepted, r.Moved = r.Head, ""
	return r.Move(Finished, at, "accepted")
}

// Reject sends the result back to the actor, with what is wrong.
func (r *Record) Reject(at time.Time, why string) error {
	if err := r.asked(); err != nil {
		return err
	}
	r.Feedback, r.Progress.Session, r.Moved = why, "", ""
	return r.Move(Waiting, at, "rejected: "+why)
}

func (r *Record) asked() error {
	if r.AwaitsWord() {
		return nil
	}
	return hint.Errorf("codeloops queue show "+r.Task.ID+" tells its course; results wait for your word with --merge ask", "task %s is %s, and has no result that waits for your word", r.Task.ID, r.State)
}

// Retry puts a task that has ended back to waiting; it continues where its last attempt stopped.
func (r *Record) Retry(at time.Time) error {
	if !r.State.Over() || r.State == Merged {
		return hint.Errorf("codeloops queue show "+r.Task.ID+" tells its course",
			"task %s is %s: there is nothing to try again", r.Task.ID, r.State)
	}
	r.Reworks = 0
	return r.Move(Waiting, at, "tried again")
}
