package agent

import (
	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
)

// A listener hears what an agent prints while its turn lasts. It is not safe
// for concurrent use.
type listener struct {
	lines   *lines              // what goes to the watch as it is; nil: nobody watches
	decoder *transcript.Decoder // nil: the output is text
}

func newListener(format Format, keep int64, watch loop.Watch) *listener {
	l := &listener{}
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
	case l.lines != nil:
		l.lines.write(stream, chunk)
	}
}

// end is called when the turn is over. It returns what a structured output
// says, nil for one that is text.
func (l *listener) end() *transcript.Report {
	if l.lines != nil {
		l.lines.flush()
	}
	if l.decoder == nil {
		return nil
	}
	report := l.decoder.Report()
	return &report
}
