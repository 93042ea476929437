package loop

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// NoteSaid is the note of [Steps.Waits].
const NoteSaid = "user.said"

// words are what the user has said in the course of a session, as its events tell. All of it is
// part of the task from then on.
type words struct {
	said  []string
	begun int // how many of them there were when the actor's last turn began
	told  int // how many of them those who work have been told
}

func (w *words) follow(e Event) {
	switch e := e.(type) { //nolint:gochecksumtype // no other event says, or hears, a word
	case Steered:
		if e.Text != "" {
			w.said = append(slices.Clip(w.said), e.Text)
		}
	case PhaseEntered:
		if e.State == ActorExecuting {
			w.begun = len(w.said)
		}
	case ActorFinished:
		if !e.Attempt.Rejudged {
			w.told = max(w.told, w.begun)
		}
	case TurnStarted:
		if e.Access == Write {
			w.told = len(w.said)
		}
	}
}

// Said returns what the user has said.
func (w *words) Said() []string { return slices.Clone(w.said) }

// add adds what the user has said to a task, or to a prompt about it.
func (c *course) add(text string) string {
	said := c.steering.heard()
	if len(said) == 0 {
		return text
	}
	return text + "\n\nThe user, who follows the work, has added this to the task. Where it differs from what the task said before, it counts:\n\n" +
		strings.Join(said, "\n\n")
}

// Waits reports whether the user has said something that nobody who works has been told, so that a
// finished strategy has to go on; n counts the times. If it has not, the run hears nothing more.
func (s *Steps) Waits(ctx context.Context, n int) (bool, error) {
	step := s.Step("said_%d", n)
	if _, known := s.noted(step, NoteSaid); known {
		return true, nil
	}
	if _, more := s.journal.next(); more {
		return false, nil
	}
	if err := s.goLive(ctx); err != nil {
		return false, err
	}
	if err := s.hear(); err != nil {
		return false, err
	}
	if s.steering.close(false) {
		return false, nil
	}
	_, err := s.playNote(ctx, step, NoteSaid, func() (n Noted, _ error) { return n, nil })
	return true, err
}

// hear logs what the user has said.
func (c *course) hear() error {
	c.hearing.Lock()
	defer c.hearing.Unlock()
	for {
		e, more := c.steering.next()
		if !more {
			return nil
		}
		e.Iteration = c.latest()
		step := Step("")
		if e.Iteration > 0 {
			step = iterationStep(e.Iteration)
		}
		if err := c.emit(step, e); err != nil {
			return err
		}
	}
}

// listen logs what the user says as soon as it is said, until end is called.
func (c *course) listen(w words) (end func()) {
	news, over := c.steering.open(w), make(chan struct{})
	var ears sync.WaitGroup
	ears.Go(func() {
		for {
			select {
			case <-news:
				if err := c.hear(); err != nil {
					c.abort(err)
				}
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		ears.Wait()
	}
}
