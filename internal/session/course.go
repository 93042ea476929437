package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/metrics"
)

// A Course is what a log tells of how far a session had come.
type Course struct {
	Session loop.Session // as it began, but for the Rules, Deciders and Flags, which are those of the last run
	Past    loop.Past
	// State and Checkpoint are those of the last capture of the work tree, ""
	// before the first and once the actor has been at work since.
	State      string
	Checkpoint string
	// Tally is what it came to, for [Store.Reopen].
	Tally metrics.Tally
	// Resumed is how often it was carried on before.
	Resumed int
	// Changed: somebody else wrote to the log while a run did.
	Changed bool
	// Outcome is the last end; nil for a session that broke off.
	Outcome *loop.Outcome
}

// Course reads the log of a session, from its first line to its last whole
// one, for a run that carries it on. Lines that cannot be read count as not
// there; the error is [ErrNotFound], an [*AmbiguousError], a log that does not
// begin as one, or what the system says.
func (s *Store) Course(id string) (Course, error) {
	r, err := s.Open(id)
	if err != nil {
		return Course{}, err
	}
	defer r.Close() //nolint:errcheck // opened for reading
	f := follower{}
	for entry, err := range r.Entries() {
		if _, bad := errors.AsType[*LineError](err); err != nil && !bad {
			return Course{}, err
		} else if err == nil {
			f.follow(entry)
		}
	}
	if f.began.IsZero() {
		return Course{}, fmt.Errorf("%s: %w", s.path(id), errNoStart)
	}
	f.Past.Elapsed += f.last.Sub(f.began)
	f.Past.Ended = f.Outcome != nil
	return f.Course, f.texts()
}

// A follower is a course as it is read.
type follower struct {
	Course
	began time.Time // of the run, the first or a resumed one, that the lines belong to
	last  time.Time
	acted Entry // of Past.Attempt

	rejudges bool // nobody will be at work before what there is has been judged again

	paidActor, paidCritic int // the iteration whose turns of these are in Past.Spent
}

func (f *follower) follow(entry Entry) { //nolint:gocyclo // one case for each event
	_ = f.Tally.Handle(entry.At, entry.Event) // never fails
	f.Changed = f.Changed || entry.Changed
	f.Past.Seq = max(f.Past.Seq, entry.At.Seq)
	switch e := entry.Event.(type) {
	case loop.Started:
		f.Session, f.began = e.Session, entry.At.Time
	case loop.Resumed:
		f.Past.Elapsed += f.last.Sub(f.began)
		f.began, f.Outcome, f.rejudges = entry.At.Time, nil, e.Rejudge
		f.Session.Flags = e.Session.Flags
		if len(e.Session.Rules) > 0 {
			f.Session.Rules, f.Session.Deciders = e.Session.Rules, e.Session.Deciders
		}
		f.Resumed++
	case loop.BaselineChecked:
		f.Past.Baseline = e.Checks
	case loop.IterationStarted:
		f.Past.Attempt, f.Past.Undecided = nil, f.Past.Undecided && f.rejudges
	case loop.ActorFinished:
		f.attempt(entry, e.Iteration, e.Attempt)
	case loop.ReviewRejected:
		f.Past.Spent.Add(loop.RoleCritic, e.Review.Turn)
	case loop.CriticFinished:
		f.paidCritic = e.Iteration
		f.Past.Spent.Add(loop.RoleCritic, e.Review.Turn)
	case loop.DiffCaptured:
		f.State, f.Checkpoint = e.Change.State, e.Change.Checkpoint
	case loop.IterationFinished:
		f.round(e.Round)
	case loop.Finished:
		if f.Outcome = &e.Outcome; e.Outcome.Reason == loop.StopActorFailed {
			f.Past.Attempt = nil // it is not worth a review
		}
	case loop.PhaseEntered:
		if e.State == loop.ActorExecuting { // from here on nobody knows
			f.State, f.Checkpoint = "", ""
		}
	case loop.Activity, loop.WaitStarted, loop.WaitFinished, loop.Inspected, loop.ChecksFinished, loop.Warned:
	}
	f.last = entry.At.Time
}

// attempt takes a turn of the actor that is over. One that was interrupted, or
// in which the agent could not work, has to be played again.
func (f *follower) attempt(entry Entry, iteration int, a loop.Attempt) {
	f.Past.Attempt, f.Past.Undecided, f.rejudges, f.acted = nil, false, false, entry
	if !a.Rejudged {
		f.Past.Conversation = f.Past.Conversation.After(a.Turn)
	}
	f.paidActor = iteration
	f.Past.Spent.Add(loop.RoleActor, a.Turn)
	if a.Ending != loop.EndInterrupted && !a.Blocked() {
		f.Past.Attempt = &a
	}
}

// texts completes the attempt that is still to be judged. For the others the
// line of their iteration holds them.
func (f *follower) texts() (err error) {
	a := f.Past.Attempt
	if a == nil {
		return nil
	}
	if a.Stdout.Text, err = keptText(f.acted.Stdout); err != nil {
		return err
	}
	a.Stderr.Text, err = keptText(f.acted.Stderr)
	return err
}

// keptText reads what a line says is kept beside the log; "" is an empty text.
func keptText(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read what an agent wrote: %w", err)
	}
	return string(text), nil
}

func (f *follower) round(r loop.Round) {
	// Some logs have whole iterations only.
	if f.paidActor != r.Iteration {
		f.Past.Spent.Add(loop.RoleActor, r.Attempt.Turn)
	}
	if f.paidCritic != r.Iteration && !r.Unjudged {
		f.Past.Spent.Add(loop.RoleCritic, r.Review.Turn)
	}
	if n := len(f.Past.Rounds); n > 0 {
		f.Past.Rounds[n-1] = f.Past.Rounds[n-1].Outline()
	}
	f.Past.Rounds, f.Past.Attempt, f.Past.Undecided = append(f.Past.Rounds, r), nil, r.Undecided()
	f.State, f.Checkpoint = r.Change.State, r.Change.Checkpoint
}

// Reopen returns a recorder that adds to the log of a session. What a crash
// has left of a line is cut off first. The error is [ErrRunning] while another
// recorder is at work. The caller closes the recorder, unless it has handled
// [loop.Finished]. Past is what the session came to so far: the recorder adds
// to it, for the end of the log.
func (s *Store) Reopen(id string, past metrics.Tally) (*Recorder, error) {
	r := s.recorder(id)
	r.tally = past
	log, err := os.OpenFile(r.path, os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("reopen session log: %w", err)
	}
	if err := r.takeUp(log); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return r, nil
}

// mend cuts off what is left of a line, from its start to the size of the log.
// A line that lacks nothing but its break counts as read, and gets one. It
// returns the new size.
func mend(log *os.File, start, size int64) (int64, error) {
	line := make([]byte, size-start)
	if _, err := log.ReadAt(line, start); err != nil {
		return 0, err
	}
	line = bytes.TrimRight(line, blanks)
	if _, err := decode(bytes.TrimLeft(line, blanks), lean); err != nil {
		return start, log.Truncate(start)
	}
	size = start + int64(len(line))
	err := log.Truncate(size)
	if err == nil {
		_, err = log.Write([]byte("\n")) // at the end, as all of a log
	}
	return size + 1, err
}

func (r *Recorder) takeUp(log *os.File) error {
	// As in create, a file system without locks loses only this answer.
	if free, err := lockAlone(log); err == nil && !free {
		return fmt.Errorf("reopen session %s: %w", r.id, ErrRunning)
	}
	st, err := log.Stat()
	if err != nil {
		return fmt.Errorf("reopen session log: %w", err)
	}
	end, err := skipBack(log, st.Size(), lineBreak)
	if err != nil {
		return fmt.Errorf("find the end of session log %s: %w", r.path, err)
	}
	if end < st.Size() {
		if end, err = mend(log, end, st.Size()); err != nil {
			return fmt.Errorf("cut the torn end off session log %s: %w", r.path, err)
		}
	}
	if err := os.Mkdir(r.files.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("reopen session log: %w", err)
	}
	if r.written, err = testify(log, end); err != nil {
		return err
	}
	r.log = log
	return nil
}
