package loop

import (
	"context"
	"errors"
	"fmt"
)

// ErrNobody says that there is nobody to answer a question.
var ErrNobody = errors.New("there is nobody to ask")

// ErrRefused is the answer of a user who does not want the run to go on. The run ends as
// interrupted, and the question is asked again when the session is resumed.
var ErrRefused = errors.New("the user does not want that")

// The names of notes.
const (
	NoteCheckpoint    = "checkpoint"
	NoteChecks        = "checks"
	NoteCommand       = "command"
	NoteRestored      = "restored"
	NoteApplied       = "applied"
	NoteRejudge       = "rejudge"
	NoteQuestion      = "question"
	NoteAnswer        = "answer"
	NoteForked        = "fork.opened"
	NoteForkApplied   = "fork.applied"
	NoteForkDiscarded = "fork.discarded"
)

// Noted holds the result of a step that is neither an agent's turn nor part of an iteration: a
// fork, a checkpoint, an answer, or anything else that a strategy records.
type Noted struct {
	Iteration int    // 0: in none
	Name      string // what happened, as in "fork.applied"
	Text      string // for people
	Change    Change // the captured change
	Checks    []CheckResult
}

// opens reports whether the note only opens a step: another note follows when it is finished.
func (e Noted) opens() bool { return e.Name == NoteForked || e.Name == NoteQuestion }

func (e Noted) iteration() int { return e.Iteration }

// once returns the result of a step: from the journal, if it is next there under that name, or by
// playing and recording it now.
func (s *section) once(ctx context.Context, step Step, name string, play func() (Noted, error)) (n Noted, known bool, err error) {
	if n, known = s.noted(step, name); !known {
		n, err = s.playNote(ctx, step, name, play)
	}
	return n, known, err
}

// noted returns the result of a step if it is next in the journal and has that name.
func (s *section) noted(step Step, name string) (Noted, bool) {
	s.markOwnStep()
	n, ok := s.journal.known[step].(Noted)
	if !ok {
		n, ok = take[Noted](&s.journal.entries, step)
	}
	return n, ok && n.Name == name
}

// playNote plays a step that is not in the journal, and records its result.
func (s *section) playNote(ctx context.Context, step Step, name string, play func() (Noted, error)) (Noted, error) {
	if err := s.journal.rest(); err != nil {
		return Noted{}, err
	}
	if err := s.goLive(ctx); err != nil {
		return Noted{}, err
	}
	n, err := play()
	if err != nil {
		return n, err
	}
	n.Iteration, n.Name = step.Iteration(), name
	return n, s.emit(step, n)
}

// Note records a text that the strategy has come up with, such as a lesson. The name has the form
// "reflexion.lesson".
func (s *Steps) Note(ctx context.Context, step Step, name, text string) error {
	_, err := s.known(ctx, step, name, text, func() (n Noted, _ error) { return n, nil })
	return err
}

// known is once for a step whose text is known beforehand. A journal that holds another one differs.
func (s *section) known(ctx context.Context, step Step, name, text string, play func() (Noted, error)) (Noted, error) {
	n, _, err := s.once(ctx, step, name, func() (Noted, error) {
		n, err := play()
		n.Text = text
		return n, err
	})
	if err == nil && n.Text != text && s.journal.Differs != nil {
		s.journal.Differs(step, n.Text, text)
	}
	return n, err
}

// Record runs an action outside of the run, such as a query to a shared store, and returns its
// text. The text is recorded as by [Steps.Note], and the action is not repeated, except when the
// process died before the text was recorded: the action must allow for that.
func (s *Steps) Record(ctx context.Context, step Step, name string, do func(context.Context) (text string, err error)) (string, error) {
	n, _, err := s.once(ctx, step, name, func() (n Noted, err error) {
		n.Text, err = do(ctx)
		return n, err
	})
	return n.Text, err
}

// Checkpoint captures what has changed since the session began, and saves that state.
func (s *Steps) Checkpoint(ctx context.Context, step Step) (Change, error) {
	n, known, err := s.once(ctx, step, NoteCheckpoint, func() (Noted, error) {
		c, err := s.keep(ctx, step)
		return Noted{Text: string(step), Change: c}, err
	})
	if _, more := s.journal.next(); known && !more {
		return s.whatChanged(ctx, n.Change) // the next turn may need the texts
	}
	return n.Change, err
}

// keep captures what has changed since the session began, and saves that state for a step.
func (s *section) keep(ctx context.Context, step Step) (Change, error) {
	now, err := s.at.Tree.Capture(ctx)
	if err != nil {
		return now, fmt.Errorf("capture the diff: %w", err)
	}
	if now.Checkpoint, err = s.at.Tree.Checkpoint(ctx, step, now); err != nil {
		return now, fmt.Errorf("keep the state of the work tree: %w", err)
	}
	s.position, s.meanwhile = now.Position, nil
	return now, nil
}

// whatChanged fills in the texts of a change from the journal.
func (s *section) whatChanged(ctx context.Context, c Change) (Change, error) {
	if err := s.goLive(ctx); err != nil {
		return c, err
	}
	whole, err := s.at.Tree.Between(ctx, Change{}, c)
	if err != nil {
		return c, fmt.Errorf("read what %s had changed: %w", c.Checkpoint, err)
	}
	c.Files = whole.Files
	return c, nil
}

// Check runs the project's own checks, if there are any.
func (s *Steps) Check(ctx context.Context, step Step) ([]CheckResult, error) {
	n, _, err := s.once(ctx, step, NoteChecks, func() (n Noted, err error) {
		if s.at.Checker == nil {
			return n, nil
		}
		if n.Checks, err = s.check(ctx, step); err != nil {
			return n, fmt.Errorf("run the checks: %w", err)
		}
		return n, nil
	})
	return n.Checks, err
}

// Command runs a command and returns its output. It is only for commands that the user has
// allowed: an agent's reply alone must never decide that one is run.
func (s *Steps) Command(ctx context.Context, step Step, command string) (CheckResult, error) {
	n, err := s.known(ctx, step, NoteCommand, command, func() (n Noted, err error) {
		result, err := s.at.Commander.Command(ctx, step, command)
		if err != nil {
			return n, fmt.Errorf("run the command %q: %w", command, err)
		}
		return Noted{Checks: []CheckResult{result}}, s.tell(step, "the command "+command, result.Written)
	})
	if err != nil {
		return CheckResult{}, err
	}
	if len(n.Checks) != 1 {
		return CheckResult{}, fmt.Errorf("the log of the session has no result of the command %q", command)
	}
	return n.Checks[0], nil
}

// Restore restores the work tree to a checkpoint of the session. It is only for what the user has
// asked for: nothing else may remove files from the user's tree.
func (s *Steps) Restore(ctx context.Context, step Step, commit string) error {
	_, err := s.known(ctx, step, NoteRestored, commit, func() (n Noted, err error) {
		if err := s.at.Restorer.Restore(ctx, commit); err != nil {
			return n, fmt.Errorf("put the work tree back: %w", err)
		}
		return n, nil
	})
	return err
}

// Apply applies the difference between two checkpoints to the work tree, and saves the resulting
// state.
func (s *Steps) Apply(ctx context.Context, step Step, from, to string) error {
	_, err := s.known(ctx, step, NoteApplied, to, func() (n Noted, err error) {
		if err := s.at.Restorer.Apply(ctx, from, to); err != nil {
			return n, fmt.Errorf("take over what was done: %w", err)
		}
		n.Change, err = s.keep(ctx, step)
		return n, err
	})
	return err
}

// Rejudge has the next iteration judge the work as a turn has left it, without a turn of the
// actor.
func (s *Steps) Rejudge(ctx context.Context, step Step, of Turn) error {
	if err := s.Note(ctx, step, NoteRejudge, ""); err != nil {
		return err
	}
	s.again = Attempt{Turn: of}.again()
	return nil
}

// Ask asks the user a question and returns the answer. The error is [ErrNobody] if there is
// nobody to ask.
func (s *Steps) Ask(ctx context.Context, step Step, question string) (answer string, err error) {
	n, _, err := s.once(ctx, step, NoteAnswer, func() (n Noted, err error) {
		if s.loop.Ask == nil {
			return n, ErrNobody
		}
		if err := s.emit(step, Noted{Iteration: step.Iteration(), Name: NoteQuestion, Text: question}); err != nil {
			return n, err
		}
		if n.Text, err = s.loop.Ask(ctx, question); errors.Is(err, ErrRefused) {
			err = &stopError{reason: StopInterrupted, sentence: ErrRefused.Error()}
		}
		return n, err
	})
	return n.Text, err
}
