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
	SteerSay       SteerKind = "say"       // the text is part of the task from now on
	SteerInterrupt SteerKind = "interrupt" // likewise, and the actor's turn ends now
)

// Steered says that something the user asked for has taken effect, or what the user has said.
type Steered struct {
	Iteration int       `json:"iteration_number,omitzero"`
	Kind      SteerKind `json:"kind"`
	Text      string    `json:"text,omitzero"` // of SteerSay and SteerInterrupt
}

func (e Steered) iteration() int { return e.Iteration }

// A Steering collects what the user asks of a run while it goes on. The zero value is ready to
// use. It is safe for concurrent use.
type Steering struct {
	mu     sync.Mutex
	stop   bool
	pause  chan struct{} // closed when the run may go on; nil: it is not paused
	turns  []*actorTurn  // running actor turns
	words                // in the log
	spoken []Steered     // said, and not in the log yet
	news   chan struct{} // receives a value when there is more of that; nil before the run
	logged chan struct{} // closed when none is left
	over   bool          // the run hears nothing more
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

// ErrOver says that the run is over, or about to end, and hears nothing more.
var ErrOver = errors.New("the run has just ended, and hears nothing more")

// errInterrupted is the cause of a turn's end when the user interrupts it.
var errInterrupted = errors.New("interrupted by the user")

// Steer records a request. The error is [ErrNoTurn], [ErrNoWords] or [ErrOver].
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
		return s.say(kind, text)
	case SteerInterrupt:
		if len(s.turns) == 0 {
			return ErrNoTurn
		}
		if err := s.say(kind, text); err != nil {
			return err
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

func (s *Steering) say(kind SteerKind, text string) error {
	if s.over {
		return ErrOver
	}
	if len(s.spoken) == 0 {
		s.logged = make(chan struct{})
	}
	s.spoken = append(s.spoken, Steered{Kind: kind, Text: text})
	select {
	case s.news <- struct{}{}:
	default: // one is pending, or the run has not begun
	}
	return nil
}

// Asked returns the requests that have not taken effect yet.
func (s *Steering) Asked() (stop, pause bool, words int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop, s.pause != nil, len(s.spoken) + len(s.said) - max(s.begun, s.told)
}

// Untold reports whether there are words that those who work have not been told.
func (s *Steering) Untold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.spoken)+len(s.said) > s.told
}

// Logged returns a channel that is closed when all that has been said is in the log; nil: it is.
func (s *Steering) Logged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.spoken) == 0 {
		return nil
	}
	return s.logged
}

// open connects the steering to a run, in which has been said what its session's log tells.
func (s *Steering) open(w words) (news <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words, s.news = w, make(chan struct{}, 1)
	s.news <- struct{}{}
	return s.news
}

// close ends the hearing, unless it is not forced and there are words that those who work have not
// been told.
func (s *Steering) close(force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = s.over || force || len(s.spoken)+len(s.said) == s.told
	return s.over
}

// heard returns what the user has said.
func (s *Steering) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// next returns the first of the words that are not in the log yet.
func (s *Steering) next() (e Steered, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.spoken) == 0 {
		return e, false
	}
	return s.spoken[0], true
}

// follow takes an event of the run.
func (s *Steering) follow(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words.follow(e)
	if e, is := e.(Steered); !is || e.Kind != SteerSay && e.Kind != SteerInterrupt {
		return
	}
	if s.spoken = s.spoken[1:]; len(s.spoken) == 0 {
		close(s.logged)
	}
}

// paused returns a channel that is closed when turns may begin; nil: the run is not paused.
func (s *Steering) paused() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pause
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
		return &stopError{reason: StopInterrupted, cause: string(SteerStop), sentence: "stopped between two turns, as you asked"}
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
