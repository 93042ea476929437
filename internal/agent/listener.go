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

	mu    sync.Mutex // a watch is never called concurrently with itself
	watch loop.Watch // nil: nobody watches, or the turn is over
}

// hiddenFor is how long an agent may be silent before the watch is told why.
const hiddenFor = 3 * time.Second

// maxLimited is how long an agent may silently wait for the end of a limit that it has
// reported. After that codeloops waits itself, or lets another agent play.
const maxLimited = 5 * time.Minute

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
}

// react gives up when the events say that waiting is pointless.
func (l *listener) react() {
	if l.decoder.Lost() {
		l.giveUp()
	}
	l.stopTimers()
	if l.decoder.Limited() {
		l.limited = time.AfterFunc(maxLimited, l.giveUp)
	}
	if l.decoder.Hidden() && l.lines != nil {
		l.hidden = time.AfterFunc(hiddenFor, func() {
			l.tell(loop.Notice{Kind: loop.NoticeTool, Text: "working; tools are shown when they have finished"})
		})
	}
}

func (l *listener) stopTimers() {
	for _, timer := range []*time.Timer{l.limited, l.hidden} {
		if timer != nil {
			timer.Stop()
		}
	}
	l.limited, l.hidden = nil, nil
}

// end is called when the turn is over. It returns the report of a structured output, nil
// for text.
func (l *listener) end() *transcript.Report {
	l.stopTimers()
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
