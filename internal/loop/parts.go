package loop

import (
	"context"
	"errors"
	"fmt"
)

// ErrNobody says that a question cannot be put to the user: there is nobody to ask.
var ErrNobody = errors.New("there is nobody to ask")

// ErrRefused is the answer of a user who does not want the run to go on. It ends as interrupted,
// and who carries the session on is asked again.
var ErrRefused = errors.New("the user does not want that")

// The names of what the steps of this file come to.
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

// Noted says what a step came to that is no agent's turn and no part of an iteration: a
// fork, a checkpoint, an answer, or what else a strategy makes known.
type Noted struct {
	Iteration int    // 0: in none
	Name      string // of what happened, as "fork.applied"
	Text      string // for people
	Change    Change // that was captured
	Checks    []CheckResult
}

// opens reports whether the step goes on, and is noted again.
func (e Noted) opens() bool { return e.Name == NoteForked || e.Name == NoteQuestion }

func (e Noted) iteration() int { return e.Iteration }

// noted returns what the next step came to, if it is of that name and stands in the journal.
func (s *section) noted(step Step, name string) (Noted, bool) {
	s.aside()
	e, ok := s.journal.known[step]
	if !ok {
		e, ok = s.journal.take(step)
	}
	if !ok {
		return Noted{}, false
	}
	n, ok := e.(Noted)
	return n, ok && n.Name == name
}

// make makes a step that stands in no journal, and notes what it came to.
func (s *section) make(ctx context.Context, step Step, play func() (Noted, error)) (Noted, error) {
	err := s.journal.rest()
	if err == nil {
		err = s.goLive(ctx)
	}
	if err != nil {
		return Noted{}, err
	}
	n, err := play()
	if err != nil {
		return n, err
	}
	n.Iteration = step.Iteration()
	return n, s.emit(step, n)
}

// Note makes something known that the strategy has come to, as a lesson. The name is of
// the form "reflexion.lesson".
func (s *Steps) Note(ctx context.Context, step Step, name, text string) error {
	then, err := s.Record(ctx, step, name, func(context.Context) (string, error) { return text, nil })
	if err == nil {
		s.journal.compare(step, then, text)
	}
	return err
}

// compare tells of another text than the journal has.
func (j *Journal) compare(step Step, then, now string) {
	if then != now && j.Differs != nil {
		j.Differs(step, then, now)
	}
}

// Record has something done that is no move of a run, as to ask a store that outlives it, and
// returns the text that it came to. It is noted as by [Steps.Note], and not done again. What
// was done when the power failed before it was noted is: it has to bear that.
func (s *Steps) Record(ctx context.Context, step Step, name string, do func(context.Context) (text string, err error)) (string, error) {
	n, ok := s.noted(step, name)
	if ok {
		return n.Text, nil
	}
	n, err := s.make(ctx, step, func() (n Noted, err error) {
		n.Name = name
		n.Text, err = do(ctx)
		return n, err
	})
	return n.Text, err
}

// Checkpoint takes down what has changed since the session began, and keeps that state.
func (s *Steps) Checkpoint(ctx context.Context, step Step) (Change, error) {
	if n, ok := s.noted(step, NoteCheckpoint); ok {
		if _, more := s.journal.next(); more {
			return n.Change, nil
		}
		return s.whatChanged(ctx, n.Change) // what is played next may be about its texts
	}
	n, err := s.make(ctx, step, func() (n Noted, err error) {
		n.Name, n.Text = NoteCheckpoint, string(step)
		n.Change, err = s.keep(ctx, step)
		return n, err
	})
	return n.Change, err
}

// keep takes down what has changed since the session began, and keeps that state for a step.
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

// whatChanged is a change as the journal has it, with its texts.
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

// Check runs the project's own checks, where there are any.
func (s *Steps) Check(ctx context.Context, step Step) ([]CheckResult, error) {
	if n, ok := s.noted(step, NoteChecks); ok {
		return n.Checks, nil
	}
	n, err := s.make(ctx, step, func() (n Noted, err error) {
		n.Name = NoteChecks
		if s.at.Checker == nil {
			return n, nil
		}
		if n.Checks, err = s.check(ctx, step); err != nil {
			return n, fmt.Errorf("run the checks: %w", err)
		}
		s.sinceWhen(n.Checks)
		return n, nil
	})
	return n.Checks, err
}

// Command runs a command, and returns what it printed. It is for what the user has allowed:
// no agent's words alone may decide that it is run.
func (s *Steps) Command(ctx context.Context, step Step, command string) (CheckResult, error) {
	n, ok := s.noted(step, NoteCommand)
	if !ok {
		var err error
		n, err = s.make(ctx, step, func() (n Noted, err error) {
			if s.at.Commander == nil {
				return n, errors.New("no commands are run in this run")
			}
			result, err := s.at.Commander.Command(ctx, step, command)
			if err != nil {
				return n, fmt.Errorf("run the command %q: %w", command, err)
			}
			return Noted{Name: NoteCommand, Text: command, Checks: []CheckResult{result}}, s.tell(step, "the command "+command, result.Written)
		})
		if err != nil {
			return CheckResult{}, err
		}
	}
	s.journal.compare(step, n.Text, command)
	if len(n.Checks) != 1 {
		return CheckResult{}, fmt.Errorf("the log of the session has no result of the command %q", command)
	}
	return n.Checks[0], nil
}

// Restore puts the files of the work tree back to a checkpoint of the session. It is for
// what the user has asked for: nothing else may take away what stands in the user's tree.
func (s *Steps) Restore(ctx context.Context, step Step, commit string) error {
	if n, ok := s.noted(step, NoteRestored); ok {
		s.journal.compare(step, n.Text, commit)
		return nil
	}
	_, err := s.make(ctx, step, func() (Noted, error) {
		if s.at.Restorer == nil {
			return Noted{}, errors.New("nothing is put back in this run")
		}
		if err := s.at.Restorer.Restore(ctx, commit); err != nil {
			return Noted{}, fmt.Errorf("put the work tree back: %w", err)
		}
		return Noted{Name: NoteRestored, Text: commit}, nil
	})
	return err
}

// Apply makes of the work tree what differs between two checkpoints, and keeps the state that
// comes of it.
func (s *Steps) Apply(ctx context.Context, step Step, from, to string) error {
	if n, ok := s.noted(step, NoteApplied); ok {
		s.journal.compare(step, n.Text, to)
		return nil
	}
	_, err := s.make(ctx, step, func() (Noted, error) {
		if s.at.Restorer == nil {
			return Noted{}, errors.New("nothing is applied in this run")
		}
		if err := s.at.Restorer.Apply(ctx, from, to); err != nil {
			return Noted{}, fmt.Errorf("take over what was done: %w", err)
		}
		now, err := s.keep(ctx, step)
		return Noted{Name: NoteApplied, Text: to, Change: now}, err
	})
	return err
}

// Rejudge has the next iteration judge the work as the turn that did the last of it has left
// it, and play no turn of the actor.
func (s *Steps) Rejudge(ctx context.Context, step Step, of Turn) error {
	return s.rejudge(ctx, step, Attempt{Turn: of})
}

// rejudge has the next iteration judge an attempt, and play no turn of the actor.
func (s *Steps) rejudge(ctx context.Context, step Step, a Attempt) error {
	if err := s.Note(ctx, step, NoteRejudge, ""); err != nil {
		return err
	}
	s.again = a.again()
	return nil
}

// Ask puts a question to the user and returns the answer. The error is [ErrNobody] where
// there is nobody to ask.
func (s *Steps) Ask(ctx context.Context, step Step, question string) (answer string, err error) {
	if n, ok := s.noted(step, NoteAnswer); ok {
		return n.Text, nil
	}
	n, err := s.make(ctx, step, func() (n Noted, err error) {
		if s.loop.Ask == nil {
			return n, ErrNobody
		}
		if err := s.emit(step, Noted{Iteration: step.Iteration(), Name: NoteQuestion, Text: question}); err != nil {
			return n, err
		}
		n.Name = NoteAnswer
		if n.Text, err = s.loop.Ask(ctx, question); errors.Is(err, ErrRefused) {
			err = &stopError{reason: StopInterrupted, sentence: ErrRefused.Error()}
		}
		return n, err
	})
	return n.Text, err
}
