package picker

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// pause is how long something stays marked before more about it is asked for:
// whoever goes past it does not wait for what is not looked at.
const pause = 80 * time.Millisecond

type (
	restedMsg int      // stayed marked
	loadedMsg struct{} // there may be more to show
)

// A loader asks for more about what is marked, about one thing at a time, while
// the list goes on answering.
type loader struct {
	load  func(ctx context.Context, i int) // nil: there is never more
	begin func() (context.Context, context.CancelFunc)

	at     int // what is marked, -1: nothing
	cancel context.CancelFunc
}

func newLoader(ctx context.Context, load func(context.Context, int)) *loader {
	return &loader{
		load: load, at: -1, cancel: func() {},
		begin: func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	}
}

// forget has whatever is marked asked for again.
func (l *loader) forget() {
	l.cancel()
	l.at = -1
}

// follow takes down what is marked now.
func (l *loader) follow(i int) tea.Cmd {
	if l.load == nil || i == l.at {
		return nil
	}
	l.cancel() // nobody looks at the one before any more
	if l.at = i; i < 0 {
		return nil
	}
	return tea.Tick(pause, func(time.Time) tea.Msg { return restedMsg(i) })
}

// rested asks for more, if the thing is still marked.
func (l *loader) rested(i int) tea.Cmd {
	if i != l.at {
		return nil
	}
	l.cancel()
	ctx, cancel := l.begin()
	l.cancel = cancel
	return func() tea.Msg {
		defer cancel()
		l.load(ctx, i)
		return loadedMsg{}
	}
}
