package picker

import (
	"context"
	"time"
)

// pause is how long something stays marked before more about it is asked for:
// whoever goes past it does not wait for what is not looked at.
const pause = 80 * time.Millisecond

// A loader asks for more about what is marked, about one thing at a time, while
// the list goes on answering.
type loader struct {
	load func(ctx context.Context, i int) // nil: there is never more

	at     int // what is marked, -1: nothing
	cancel context.CancelFunc
	rests  <-chan time.Time // it has stayed marked
	loaded chan struct{}    // there may be more to show
}

func newLoader(load func(context.Context, int)) *loader {
	return &loader{load: load, at: -1, cancel: func() {}, loaded: make(chan struct{}, 1)}
}

// forget has whatever is marked asked for again.
func (l *loader) forget() {
	l.cancel()
	l.at, l.rests = -1, nil
}

// follow takes down what is marked now.
func (l *loader) follow(i int) {
	if l.load == nil || i == l.at {
		return
	}
	l.forget() // nobody looks at the one before any more
	if l.at = i; i >= 0 {
		l.rests = time.After(pause)
	}
}

// rested asks for more about what has stayed marked.
func (l *loader) rested(ctx context.Context) {
	l.rests = nil
	ctx, cancel := context.WithCancel(ctx)
	l.cancel = cancel
	go func(i int) {
		defer cancel()
		l.load(ctx, i)
		select {
		case l.loaded <- struct{}{}:
		default: // whoever hears of the last one sees this, too
		}
	}(l.at)
}
