package agent

import (
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
	hush    *time.Timer         // runs while the agent waits for the end of a limit; nil: it never did
}

// maxHush is how long an agent may wait, in silence, for the end of a limit that it
// has told of. Codeloops itself can wait for that as well, or let another agent play.
const maxHush = 5 * time.Minute

func newListener(format Format, keep int64, watch loop.Watch, enough func()) *listener {
	l := &listener{enough: enough}
	if watch != nil {
		l.lines = newLines(watch)
	}
	l.decoder, _ = transcript.New(string(format), keep, watch)
	return l
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
	if l.hush != nil {
		l.hush.Stop()
		l.hush = nil
	}
	if l.decoder.Limited() {
		l.hush = time.AfterFunc(maxHush, l.enough)
	}
}

// end is called when the turn is over. It returns what a structured output
// says, nil for one that is text.
func (l *listener) end() *transcript.Report {
	if l.hush != nil {
		l.hush.Stop()
	}
	if l.lines != nil {
		l.lines.flush()
	}
	if l.decoder == nil {
		return nil
	}
	report := l.decoder.Report()
	return &report
}
