package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// Settled is the part of a log that can be resumed in another work tree, to which only
// checkpoints are brought: up to where a checkpoint holds all that was done. The zero value
// has read nothing.
type Settled struct {
	Session    loop.Session // as it began
	Size       int64        // of that part, in bytes
	Checkpoint string       // holds the work tree as of there

	read  int64
	last  string // the last checkpoint of the session's own work tree
	acted bool   // something was done since then
	forks progress.Forks
}

// Read reads on, up to the last whole line of the log.
func (s *Settled) Read(path string) error {
	log, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read session log: %w", err)
	}
	defer log.Close() //nolint:errcheck // only read
	in := bufio.NewReaderSize(io.NewSectionReader(log, s.read, 1<<62), buffered)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the last line is not complete yet
			return nil
		}
		if err != nil {
			return fmt.Errorf("read session log %s: %w", wording.OSPath(path), err)
		}
		s.read += int64(len(line))
		if entry, err := decode(bytes.TrimSpace(line), lean); err == nil { // bad lines are skipped, as everywhere
			s.follow(entry.Event)
		}
		if !s.acted && len(s.forks) == 0 && s.last != "" {
			s.Size, s.Checkpoint = s.read, s.last
		}
	}
}

// Lacks reports whether something was done since the checkpoint, which only the session's own
// work tree has.
func (s *Settled) Lacks() bool { return s.acted }

func (s *Settled) follow(e loop.Event) {
	switch e := e.(type) {
	case loop.Started:
		s.Session, s.last = e.Session, e.Session.Checkpoint
	case loop.ActorFinished:
		s.acted = s.acted || e.Attempt.Ending != loop.EndInterrupted && !e.Attempt.Blocked()
	case loop.TurnFinished:
		s.acted = s.acted || e.Access == loop.Write && e.Reply.Ending != loop.EndInterrupted && !e.Reply.Blocked()
	case loop.DiffCaptured:
		s.captured(e.Change.Checkpoint)
	case loop.IterationFinished:
		s.captured(e.Round.Change.Checkpoint)
	case loop.Noted:
		s.noted(e)
	case loop.Finished:
		s.acted = s.acted && e.Outcome.Reason != loop.StopActorFailed // that turn is repeated
	case loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.WaitStarted, loop.WaitFinished,
		loop.Inspected, loop.BaselineChecked, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Warned, loop.Steered:
	}
}

func (s *Settled) noted(e loop.Noted) {
	s.forks.Follow(e)
	switch e.Name {
	case loop.NoteForkApplied, loop.NoteApplied:
		s.acted = true
		s.captured(e.Change.Checkpoint)
	case loop.NoteCheckpoint:
		s.captured(e.Change.Checkpoint)
	case loop.NoteRestored:
		s.captured(e.Text)
	}
}

func (s *Settled) captured(checkpoint string) {
	if checkpoint != "" && len(s.forks) == 0 {
		s.last, s.acted = checkpoint, false
	}
}

// ErrForeign is a log of another session than the one it should be of.
var ErrForeign = errors.New("the log is not of that session")

// Relocate returns the first line of a session's log, changed to name another work tree.
func Relocate(line []byte, id, workTree string) ([]byte, error) {
	entry, err := decode(bytes.TrimSpace(line), whole)
	if err != nil {
		return nil, err
	}
	began, ok := entry.Event.(loop.Started)
	if !ok || began.Session.ID != id {
		return nil, ErrForeign
	}
	began.Session.WorkingDir = workTree
	return Encode(entry.At, began), nil
}
