package loop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// RuleUser stands in place of a rule's name when the user has interrupted the actor's turn: the
// work goes back to the actor without a review.
const RuleUser = "user"

// A SteerKind is what the user asks of a run while it goes on.
type SteerKind string

// The kinds of steering.
const (
	SteerStop      SteerKind = "stop"      // the run ends after the iteration under way
	SteerPause     SteerKind = "pause"     // no turn begins until SteerGoOn
	SteerGoOn      SteerKind = "go_on"     // turns begin again, and a stop is cancelled
	SteerSay       SteerKind = "say"       // the text is passed to the actor in its next turn
	SteerInterrupt SteerKind = "interrupt" // the actor's turn ends now, and its next one begins with the text
)

// Steered says that something the user asked for has taken effect.
type Steered struct {
	Iteration int
	Kind      SteerKind
	Text      string // of SteerSay and SteerInterrupt
}

func (e Steered) iteration() int { return e.Iteration }

// A Steering collects what the user asks of a run while it goes on. The zero value is ready to
// use. It is safe for concurrent use.
type Steering struct {
	mu    sync.Mutex
	stop  bool
	words []string
	left  bool          // an interrupted turn has left words for the next one
	pause chan struct{} // closed when the run may go on; nil: it is not paused
	turns []*actorTurn  // running actor turns
}

// An actorTurn is a turn that can be interrupted.
type actorTurn struct {
	cancel context.CancelCauseFunc
	words  string
	ended  bool // by the user
}

// ErrNoTurn says that the actor has no turn to interrupt.
var ErrNoTurn = errors.New("the actor is not at work")

// ErrNoWords says that the text is empty.
var ErrNoWords = errors.New("there is nothing to tell the actor")

// errInterrupted is the cause of a turn's end when the user interrupts it.
var errInterrupted = errors.New("interrupted by the user")

// Steer records a request. The error is [ErrNoTurn] or [ErrNoWords].
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

// Asked returns the requests that have not taken effect yet.
func (s *Steering) Asked() (stop, pause bool, words int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop, s.pause != nil, len(s.words)
}

// Untold reports whether there are words that the actor has not been told.
func (s *Steering) Untold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left || len(s.words) > 0
}

// paused returns a channel that is closed when turns may begin; nil: the run is not paused.
func (s *Steering) paused() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pause
}

// take returns what the actor is to be told, and clears it.
func (s *Steering) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := s.words
	s.words, s.left = nil, false
	return words
}

// begin registers a turn of the actor that can be interrupted, until over is called.
func (s *Steering) begin(ctx context.Context) (_ context.Context, over func() (words string, interrupted bool)) {
	ctx, cancel := context.WithCancelCause(ctx)
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

// await holds a turn back while the run is paused. If mayStop is set, it also ends the run if the
// user has asked for that.
func (c *course) await(ctx context.Context, step Step, mayStop bool) error {
	if stop, _, _ := c.steering.Asked(); stop && mayStop {
		if err := c.emit(step, Steered{Iteration: step.Iteration(), Kind: SteerStop}); err != nil {
			return err
		}
		return &stopError{reason: StopInterrupted, sentence: "stopped between two turns, as you asked"}
	}
	on := c.steering.paused()
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

// told returns what the user has said for the actor's turn, in this run or in one that broke off
// during the turn.
func (it *Iteration) told(step Step) ([]string, error) {
	said := it.run.journal.words
	it.run.journal.words = nil
	for _, words := range it.run.steering.take() {
		if err := it.run.emit(step, Steered{Iteration: it.c.Iteration, Kind: SteerSay, Text: words}); err != nil {
			return nil, err
		}
		said = append(said, words)
	}
	return said, nil
}
