package loop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// RuleUser names the user where the rules of a run are named: an actor's turn that the
// user has interrupted goes back to the actor without a review.
const RuleUser = "user"

// A SteerKind says what the user asks of a run while it goes on.
type SteerKind string

// What can be asked.
const (
	SteerStop      SteerKind = "stop"      // the run ends after the iteration under way
	SteerPause     SteerKind = "pause"     // no turn begins until SteerGoOn
	SteerGoOn      SteerKind = "go_on"     // turns begin again, and nothing is to stop
	SteerSay       SteerKind = "say"       // the text is told to the actor in its next turn
	SteerInterrupt SteerKind = "interrupt" // the actor's turn ends now, and the next one begins with the text
)

// Steered says that something which the user asked for has taken effect.
type Steered struct {
	Iteration int
	Kind      SteerKind
	Text      string // of SteerSay and SteerInterrupt
}

func (e Steered) iteration() int { return e.Iteration }

// A Steering is what the user asks of a run while it goes on. The zero value asks for
// nothing; a nil one can be asked for nothing. It is safe for concurrent use.
type Steering struct {
	mu    sync.Mutex
	stop  bool
	words []string
	left  bool          // an interrupted turn has left words for the next one
	pause chan struct{} // closed when the run may go on; nil: it may
	turns []*actorTurn  // under way
}

// An actorTurn is one that can be interrupted.
type actorTurn struct {
	cancel context.CancelCauseFunc
	words  string
	ended  bool // by the user
}

// ErrNoTurn says that no turn of the actor is under way that could be interrupted.
var ErrNoTurn = errors.New("the actor is not at work")

// ErrNoWords says that nothing was said.
var ErrNoWords = errors.New("there is nothing to tell the actor")

// errInterrupted is why a turn ends that the user has interrupted.
var errInterrupted = errors.New("interrupted by the user")

// Steer asks for something. The error is [ErrNoTurn] or [ErrNoWords].
func (s *Steering) Steer(kind SteerKind, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.TrimSpace(text)
	switch kind {
	case SteerStop:
		s.stop = true
		s.goOn()
	case SteerPause:
		if s.pause == nil {
			s.pause = make(chan struct{})
		}
	case SteerGoOn:
		s.stop = false
		s.goOn()
	case SteerSay:
		if text == "" {
			return ErrNoWords
		}
		s.words = append(s.words, text)
	case SteerInterrupt:
		if len(s.turns) == 0 {
			return ErrNoTurn
		}
		for _, t := range s.turns {
			t.words, t.ended = text, true
			t.cancel(errInterrupted)
		}
	}
	return nil
}

func (s *Steering) goOn() {
	if s.pause != nil {
		close(s.pause)
		s.pause = nil
	}
}

// Asked says what was asked for and has not taken effect yet.
func (s *Steering) Asked() (stop, pause bool, words int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop, s.pause != nil, len(s.words)
}

// Untold reports whether there are words that no turn of the actor has begun with.
func (s *Steering) Untold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left || len(s.words) > 0
}

// paused returns what is closed when turns may begin; nil: they may.
func (s *Steering) paused() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause == nil {
		return nil
	}
	return s.pause
}

// take returns what the actor is to be told.
func (s *Steering) take() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	words := s.words
	s.words, s.left = nil, false
	return words
}

// begin has a turn of the actor be one that can be interrupted, until over is called.
func (s *Steering) begin(ctx context.Context) (_ context.Context, over func() (words string, interrupted bool)) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s == nil {
		return ctx, func() (string, bool) { cancel(nil); return "", false }
	}
	t := &actorTurn{cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, t)
	return ctx, func() (string, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.turns = slices.DeleteFunc(s.turns, func(other *actorTurn) bool { return other == t })
		s.left = s.left || t.words != ""
		cancel(nil)
		return t.words, t.ended
	}
}

// mayBegin returns an error where no iteration may begin.
func (s *section) mayBegin(ctx context.Context, next Role) error {
	if err := s.await(ctx, s.whole, true); err != nil {
		return err
	}
	return s.mayGoOn(ctx, next)
}

// await holds a turn back while the user wants the run to pause. Where nothing is under
// way it also ends the run, if the user has asked for that.
func (c *course) await(ctx context.Context, step Step, mayStop bool) error {
	steering := c.loop.Steering
	if steering == nil {
		return nil
	}
	if stop, _, _ := steering.Asked(); stop && mayStop {
		if err := c.emit(step, Steered{Iteration: step.Iteration(), Kind: SteerStop}); err != nil {
			return err
		}
		return &stopError{reason: StopInterrupted, sentence: "stopped between two turns, as you asked"}
	}
	on := steering.paused()
	if on == nil {
		return nil
	}
	if err := c.emit(step, Steered{Iteration: step.Iteration(), Kind: SteerPause}); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return cancelled(ctx)
	case <-on:
	}
	if err := c.emit(step, Steered{Iteration: step.Iteration(), Kind: SteerGoOn}); err != nil {
		return err
	}
	return c.await(ctx, step, mayStop)
}

// told is what the user has said for the actor's turn: in a run that broke off in it, and
// in this one.
func (it *Iteration) told(step Step) ([]string, error) {
	said := it.run.journal.takeWords()
	for _, words := range it.run.loop.Steering.take() {
		if err := it.run.emit(step, Steered{Iteration: it.c.Iteration, Kind: SteerSay, Text: words}); err != nil {
			return nil, err
		}
		said = append(said, words)
	}
	return said, nil
}
