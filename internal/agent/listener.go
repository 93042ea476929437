package agent

import (
	"sync"
	"time"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
)

// A listener hears what an agent prints while its turn lasts. It is not safe
// for concurrent use.
type listener struct {
	lines   *lines              // what goes to the watch as it is; nil: nobody watches
	decoder *transcript.Decoder // nil: the output is text
	enough  func()              // called when there is nothing more to wait for
	hush    *time.Timer         // runs while the agent waits for the end of a limit; nil: it does not
	hidden  *time.Timer         // runs while the agent does something that it tells of when it has ended; nil: it does not

	mu    sync.Mutex // a watch is never called concurrently with itself
	watch loop.Watch // nil: nobody watches, or the turn is over
}

// hiddenFor is how long an agent may be silent before it is said what that means.
const hiddenFor = 3 * time.Second

// maxHush is how long an agent may wait, in silence, for the end of a limit that it
// has told of. Codeloops itself can wait for that as well, or let another agent play.
const maxHush = 5 * time.Minute

func newListener(format Format, keep int64, watch loop.Watch, enough func()) *listener {
	l := &listener{enough: enough, watch: watch}
	if watch != nil {
		watch = l.tell
		l.lines = newLines(watch)
	}
	l.decoder, _ = transcript.New(string(format), keep, watch)
	return l
}

// tell hands a notice on.
func (l *listener) tell(n loop.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watch != nil {
		l.watch(n)
	}
}

// hear takes the next bytes of a stream; they stay the caller's.
func (l *listener) hear(stream string, chunk []byte) {
	switch {
	case l.decoder != nil && stream == "stdout":
		_, _ = l.decoder.Write(chunk) // it never fails
		l.mind()
	case l.lines != nil:
		l.lines.write(stream, chunk)
	}
}

// mind has the turn ended when what the agent says makes an end of it.
func (l *listener) mind() {
	if l.decoder.Lost() {
		l.enough()
	}
	l.stopTimers()
	if l.decoder.Limited() {
		l.hush = time.AfterFunc(maxHush, l.enough)
	}
	if l.decoder.Hidden() && l.lines != nil {
		l.hidden = time.AfterFunc(hiddenFor, func() {
			l.tell(loop.Notice{Kind: loop.NoticeTool, Text: "at work: a tool is named when it has ended"})
		})
	}
}

func (l *listener) stopTimers() {
	for _, timer := range []**time.Timer{&l.hush, &l.hidden} {
		if *timer != nil {
			(*timer).Stop()
			*timer = nil
		}
	}
}

// end is called when the turn is over. It returns what a structured output
// says, nil for one that is text.
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

// close has nothing told any more.
func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = nil
}
