package picker

import (
	"context"
	"time"
)

// pause is how long an item must stay marked before it is loaded, so that moving past it costs
// nothing.
const pause = 80 * time.Millisecond

// A loader loads more about the marked item, one at a time, while the list stays responsive.
type loader struct {
	load func(ctx context.Context, i int) // nil: there is nothing to load

	at     int // the marked item, -1: none
	cancel context.CancelFunc
	rests  <-chan time.Time // fires when it has stayed marked
	loaded chan struct{}    // the preview may have changed
}

func newLoader(load func(context.Context, int)) *loader {
	return &loader{load: load, at: -1, cancel: func() {}, loaded: make(chan struct{}, 1)}
}

// reset makes the loader load the marked item again.
func (l *loader) reset() {
	l.cancel()
	l.at, l.rests = -1, nil
}

func (l *loader) follow(i int) {
	if l.load == nil || i == l.at {
		return
	}
	l.reset() // nobody looks at the previous one any more
	if l.at = i; i >= 0 {
		l.rests = time.After(pause)
	}
}

func (l *loader) start(ctx context.Context) {
	l.rests = nil
	ctx, cancel := context.WithCancel(ctx)
	l.cancel = cancel
	go func(i int) {
		defer cancel()
		l.load(ctx, i)
		select {
		case l.loaded <- struct{}{}:
		default: // the pending notice covers this one, too
		}
	}(l.at)
}
