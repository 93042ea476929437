package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// A Course is how far a session had come, as its log tells.
type Course struct {
	Session loop.Session  // as it began, but with the Rules, Deciders and Flags of the last run
	Journal *loop.Journal // of its steps
	// State and Checkpoint are those of the last capture of the work tree itself, not of a
	// fork; "" before the first, and if a step may have written to the tree since.
	State      string
	Checkpoint string
	// Forked are the states that were captured in forks since then. One of them may have been applied
	// to the work tree without a line about it.
	Forked []string
	// Kept is the last state of the work tree that was kept, even if a step has written to
	// the tree since; zero before the first.
	Kept Kept
	// Unjudged is the checkpoint of an iteration that was captured and then broke off
	// before its verdict; "" if there is none.
	Unjudged string
	// Tally adds up the session so far.
	Tally progress.Tally
	// Steps are the strategy's steps whose states were kept, by checkpoint.
	Steps map[string]loop.Step
	// Resumed is how often the session was resumed before.
	Resumed int
	// Changed says that somebody else wrote to the log during a run.
	Changed bool
	// Outcome is that of the last run; nil if it broke off.
	Outcome *loop.Outcome
}

// A Kept is a state of the work tree that was kept.
type Kept struct {
	Iteration  int    // the last one whose work is in it
	Checkpoint string // "" if the log names none
}

// Course reads the log of a session. To resume it, use [Store.Reopen], which reads the log
// when no other recorder can add to it. Lines that cannot be read are skipped. The error is
// [ErrNotFound], an [*AmbiguousError], that of a log without a beginning, or the system's.
func (s *Store) Course(id string) (Course, error) {
	id, err := s.Find(id)
	if err != nil {
		return Course{}, err
	}
	f := follower{Course: Course{Journal: &loop.Journal{}}}
	for entry, err := range Sound(Read(s.Path(id)), nil) {
		if err != nil {
			return Course{}, err
		}
		f.follow(entry)
	}
	if !f.begun {
		one := Look(s.Path(id))
		return Course{}, cmp.Or(one.Err, errNoStart)
	}
	return f.Course, f.texts()
}

// A follower builds a course while the log is read.
type follower struct {
	Course
	begun bool
	acted Entry // of the journal's pending turn
	notes progress.State
}

func (f *follower) follow(entry Entry) {
	_ = f.Tally.Handle(entry.At, entry.Event) // never fails
	f.Journal.Add(entry.At, entry.Event)
	f.Changed = f.Changed || entry.Changed
	switch e := entry.Event.(type) {
	case loop.Started:
		f.Session, f.begun = e.Session, true
	case loop.Resumed:
		f.begun, f.Outcome = true, nil
		f.Session.Flags = e.Session.Flags
		if len(e.Session.Rules) > 0 {
			f.Session.Rules, f.Session.Deciders = e.Session.Rules, e.Session.Deciders
		}
		f.Resumed++
	case loop.IterationStarted:
		f.Unjudged = ""
	case loop.ActorFinished:
		f.acted = entry
	case loop.DiffCaptured:
		f.Unjudged = e.Change.Checkpoint
	case loop.IterationFinished:
		f.Unjudged = ""
	case loop.Noted:
		_ = f.notes.Handle(entry.At, e) // never fails
		f.Steps = f.notes.Kept
		f.writes(entry.At.Step, slices.Contains([]string{loop.NoteForkApplied, loop.NoteApplied, loop.NoteRestored}, e.Name))
	case loop.TurnStarted:
		f.writes(entry.At.Step, e.Access == loop.Write)
	case loop.Finished:
		f.Outcome = &e.Outcome
	case loop.PhaseEntered:
		f.writes(entry.At.Step, e.State == loop.ActorExecuting)
	case loop.BaselineChecked, loop.ReviewRejected, loop.CriticFinished, loop.Activity, loop.TurnFinished, loop.WaitStarted, loop.WaitFinished,
		loop.Inspected, loop.ChecksFinished, loop.Warned, loop.Steered:
	}
	f.left(entry)
}

// left records the state in which the session left the work tree.
func (f *follower) left(entry Entry) {
	if c, ok := f.Tally.Forks().Captured(entry.At, entry.Event); ok {
		f.State, f.Checkpoint, f.Forked = c.State, c.Checkpoint, nil
		f.Kept = Kept{max(loop.IterationOf(entry.Event), f.Tally.Iterations), c.Checkpoint}
		return
	}
	if f.Tally.Forks().Of(entry.At.Step) == "" {
		return
	}
	switch e := entry.Event.(type) { //nolint:gochecksumtype // no other event holds a capture
	case loop.DiffCaptured:
		f.Forked = append(f.Forked, e.Change.State)
	case loop.Noted:
		if e.Change.State != "" {
			f.Forked = append(f.Forked, e.Change.State)
		}
	}
}

// writes forgets that state when a step may write to the work tree: from then on it is
// unknown.
func (f *follower) writes(step loop.Step, may bool) {
	if may && f.Tally.Forks().Of(step) == "" {
		f.State, f.Checkpoint = "", ""
	}
}

// texts completes the turn that still needs a verdict. Other turns have their texts in the
// line of their iteration.
func (f *follower) texts() error {
	if f.Journal.Pending() == nil {
		return nil
	}
	stdout, err := keptText(f.acted.Stdout)
	if err != nil {
		return err
	}
	stderr, err := keptText(f.acted.Stderr)
	f.Journal.Complete(stdout, stderr)
	return err
}

// keptText reads a file that a line names as kept beside the log; "" is an empty text. Agents
// can reach it: they may have put a pipe or a link there.
func keptText(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, _, err := file.Read(path, file.Options{NoFollow: true, Max: MaxLine})
	if err != nil {
		return "", fmt.Errorf("read what an agent wrote: %w", err)
	}
	return string(text), nil
}

// Reopen returns a recorder that adds to the log of a session, and how far the session had
// come, read after other recorders were locked out. It first cuts off a line that a crash left
// incomplete. The error is [ErrRunning] while another recorder is open, or one of
// [Store.Course]. The caller closes the recorder, unless it has handled [loop.Finished].
func (s *Store) Reopen(id string) (*Recorder, Course, error) {
	r := newRecorder(s.Path(id))
	log, err := os.OpenFile(r.path, os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		return nil, Course{}, fmt.Errorf("reopen session log: %w", err)
	}
	if err := r.takeUp(log); err != nil {
		return nil, Course{}, errors.Join(err, log.Close())
	}
	c, err := s.Course(id)
	if err != nil {
		return nil, Course{}, errors.Join(err, r.Close())
	}
	r.tally = c.Tally
	return r, c, nil
}

// mend cuts off an incomplete line, which reaches from start to the end of the log. A line
// that lacks nothing but its line break gets one and stays. mend returns the new size.
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
		_, err = log.Write([]byte("\n")) // the file is open for appending
	}
	return size + 1, err
}

func (r *Recorder) takeUp(log *os.File) error {
	// As in create, a file system without locks loses only this answer.
	if free, err := lockAlone(log); err == nil && !free {
		return fmt.Errorf("reopen session %s: %w", wording.Path(r.id), ErrRunning)
	}
	if !stands(log) {
		return fmt.Errorf("%w: %q was removed just now", ErrNotFound, r.id)
	}
	st, err := log.Stat()
	if err != nil {
		return fmt.Errorf("reopen session log: %w", err)
	}
	end, err := skipBack(log, st.Size(), lineBreak)
	if err != nil {
		return fmt.Errorf("find the end of session log %s: %w", wording.OSPath(r.path), err)
	}
	if end < st.Size() {
		if end, err = mend(log, end, st.Size()); err != nil {
			return fmt.Errorf("cut the torn end off session log %s: %w", wording.OSPath(r.path), err)
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
