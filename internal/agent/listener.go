package agent

import (
	"sync"
	"time"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
)

// A listener reads an agent's output during its turn. It is not safe for concurrent use.
type listener struct {
	lines   *lines              // passes plain output to the watch; nil: nobody watches
	decoder *transcript.Decoder // nil: the output is text
	giveUp  func()              // ends the turn
	limited *time.Timer         // runs while the agent waits for the end of a limit; nil otherwise
	hidden  *time.Timer         // runs while the agent does something it reports only afterwards; nil otherwise
	silent  *time.Timer         // runs while the agent prints nothing after its closing event; nil otherwise
	closed  *time.Timer         // runs since the closing event; nil before
	left    sync.Once           // it has been ended for not exiting

	mu    sync.Mutex // a watch is never called concurrently with itself
	watch loop.Watch // nil: nobody watches, or the turn is over
}

// hiddenFor is how long an agent may be silent before the watch is told why.
const hiddenFor = 3 * time.Second

// maxLimited is how long an agent may silently wait for the end of a limit that it has
// reported. After that codeloops waits itself, or lets another agent play.
const maxLimited = 5 * time.Minute

// How long an agent may take to exit after its closing event: it may have to store its
// conversation, or to report what it has used.
const (
	closingGrace = 10 * time.Second // without printing anything
	longestGrace = time.Minute
)

func newListener(format Format, keep int64, watch loop.Watch, giveUp func()) *listener {
	l := &listener{giveUp: giveUp, watch: watch}
	if watch != nil {
		watch = l.tell
		l.lines = newLines(watch)
	}
	l.decoder, _ = transcript.New(string(format), keep, watch)
	return l
}

func (l *listener) tell(n loop.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		l.watch(n)
	}
}

// hear reads the next bytes of a stream, and does not keep them.
func (l *listener) hear(stream string, chunk []byte) {
	switch {
	case l.decoder != nil && stream == "stdout":
		_, _ = l.decoder.Write(chunk) // it never fails
		l.react()
	case l.lines != nil:
		l.lines.write(stream, chunk)
	}
	if l.decoder != nil {
		l.awaitExit()
	}
}

// awaitExit gives an agent that has printed its closing event some time to exit: several
// CLIs sometimes never do.
func (l *listener) awaitExit() {
	stop(&l.silent)
	if !l.decoder.Closed() {
		stop(&l.closed)
		return
	}
	l.silent = time.AfterFunc(closingGrace, l.leave)
	if l.closed == nil {
		l.closed = time.AfterFunc(longestGrace, l.leave)
	}
}

// react gives up when the events say that waiting is pointless.
func (l *listener) react() {
	if l.decoder.Lost() {
		l.giveUp()
	}
	stop(&l.limited)
	stop(&l.hidden)
	if l.decoder.Limited() {
		l.limited = time.AfterFunc(maxLimited, l.giveUp)
	}
	if l.decoder.Hidden() && l.lines != nil {
		l.hidden = time.AfterFunc(hiddenFor, func() {
			l.tell(loop.Notice{Kind: loop.NoticeTool, Text: "working; tools are shown when they have finished"})
		})
	}
}

// leave ends an agent that does not exit.
func (l *listener) leave() {
	l.left.Do(func() {
		l.tell(loop.Notice{Kind: loop.NoticeProblem, Text: "it has finished, but does not exit: it is ended"})
		l.giveUp()
	})
}

func stop(timer **time.Timer) {
	if *timer != nil {
		(*timer).Stop()
	}
	*timer = nil
}

// end is called when the turn is over. It returns the report of a structured output, nil
// for text.
func (l *listener) end() *transcript.Report {
	for _, timer := range []**time.Timer{&l.limited, &l.hidden, &l.silent, &l.closed} {
		stop(timer)
	}
	defer l.close()
	if l.lines != nil {
		l.lines.flush()
	}
	if l.decoder == nil {
		return nil
	}
	report := l.decoder.Report()
	return &report
}

// close silences the watch, even for a timer that has already fired.
func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = nil
}
