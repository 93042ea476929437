package main

import (
	"fmt"
	"strings"
	"time"

	"codeloops/internal/render"
	"codeloops/internal/term"
)

// tryAgain is the key that ends a wait.
const tryAgain = "w"

// A lounge is where a run waits for the end of a limit: it counts down on a
// terminal, and lets whoever sits there end the wait.
type lounge struct {
	app     *app
	signals <-chan struct{} // SIGUSR1; nil: there are none
	watched bool            // somebody sees standard error
}

func (p *plan) lounge() *lounge {
	return &lounge{
		app: p.app, signals: p.app.signals.hurry(),
		watched: p.app.ErrTTY && !p.opts.quiet && render.Format(p.cfg.LogFormat) != render.JSON,
	}
}

// ready forgets a signal that came when nobody waited.
func (l *lounge) ready() {
	select {
	case <-l.signals:
	default:
	}
}

// enter begins a wait. Something can be received when it is to end early; leave
// is called when it is over, and puts the terminal back.
func (l *lounge) enter(until time.Time) (hurry <-chan struct{}, leave func()) {
	if !l.watched {
		return l.signals, func() {}
	}
	w := &wait{lounge: l, until: until, now: make(chan struct{}, 1), over: make(chan struct{})}
	keys, ok := l.app.ReadKeys()
	if ok {
		w.keys = keys.Pressed()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run()
	}()
	return w.now, func() {
		close(w.over)
		select {
		case <-done:
		case <-time.After(stall): // the terminal hangs
		}
		if ok {
			keys.Close()
		}
	}
}

// A wait is one stay in the lounge.
type wait struct {
	*lounge
	until time.Time
	keys  <-chan string // nil: none can be read
	now   chan struct{}
	over  chan struct{}
}

func (w *wait) run() {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	w.show()
	for {
		select {
		case <-w.over:
			w.clear()
			return
		case <-second.C:
			w.count()
		case <-w.signals:
			w.hurry()
		case key := <-w.keys:
			if strings.EqualFold(key, tryAgain) {
				w.hurry()
			}
		}
	}
}

func (w *wait) hurry() {
	select {
	case w.now <- struct{}{}:
	default:
	}
}

// show tells for how long, and how to end it. Where nothing may move it is told
// once.
func (w *wait) show() {
	if !w.app.Plain {
		w.count()
	} else if w.keys != nil {
		w.printf("  %s\n", w.hint())
	}
}

func (w *wait) count() {
	if w.app.Plain {
		return
	}
	line := "waiting " + clock(w.until.Sub(w.app.now()))
	if hint := w.hint(); hint != "" {
		line += " · " + hint
	}
	w.printf("\r\x1b[K%s", term.Fit("  "+line, w.app.Width()))
}

func (w *wait) clear() {
	if !w.app.Plain {
		w.printf("\r\x1b[K")
	}
}

func (w *wait) hint() string {
	if w.keys == nil {
		return ""
	}
	return tryAgain + " tries again now"
}

func (w *wait) printf(format string, args ...any) {
	fmt.Fprintf(w.app.Err, format, args...) //nolint:errcheck // a courtesy
}

// clock writes what is left of a wait, as 1:02:03 or 4:05.
func clock(left time.Duration) string {
	seconds := int(max(0, left.Round(time.Second)) / time.Second)
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}
