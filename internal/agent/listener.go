package agent

import (
	"io"
	"os"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// A listener hears what an agent prints while its turn lasts. It is not safe
// for concurrent use.
type listener struct {
	format  Format
	keep    int64
	lines   *lines              // what goes to the watch as it is; nil: nobody watches
	decoder *transcript.Decoder // nil: the output is text
}

func newListener(format Format, keep int64, watch loop.Watch) *listener {
	l := &listener{format: format, keep: keep}
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
func (l *listener) end(out proc.Captured) *transcript.Report {
	if l.lines != nil {
		l.lines.flush()
	}
	if l.decoder == nil {
		return nil
	}
	d := l.decoder
	if d.Read() != out.Total {
		// The agent emptied its output, or it could not be followed.
		if again, ok := transcript.New(string(l.format), l.keep, nil); ok && readInto(again, out) == nil {
			d = again
		}
	}
	report := d.Report()
	return &report
}

func readInto(w io.Writer, out proc.Captured) error {
	if out.Omitted == 0 {
		_, err := w.Write(out.Text)
		return err
	}
	f, err := os.Open(out.File)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	_, err = io.Copy(w, f)
	return err
}
