package ci

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"codeloops/internal/screen/term"
)

// Writer returns a writer to w that lets through only the commands of a [Log.Sink] and defuses all
// others. In JSON the texts keep their meaning. Such a writer is returned as it is.
func (l *Log) Writer(w io.Writer, json bool) io.Writer {
	if _, already := w.(*writer); already || l.system == None {
		return w
	}
	return &writer{Log: l, out: w, json: json, line: line{blank: true}}
}

type writer struct {
	*Log

	out  io.Writer
	json bool

	mu sync.Mutex // guards what follows
	line
}

// A line is the state of the line that is being written.
type line struct {
	begun  bool
	blank  bool // only white space, control and non-ASCII bytes so far
	colon  bool // the last byte was a colon, the first sign of the line
	hashes int  // how many directly precede the next byte
}

// Fd returns the descriptor of the stream below.
func (w *writer) Fd() uintptr { return term.Fd(w.out) }

func (w *writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		order, is := strings.CutPrefix(line, w.mark)
		if is && !w.begun {
			out.WriteString(order)
			continue
		}
		w.defuse(&out, line)
	}
	if _, err := w.out.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// defuse writes a line, or a part of one, with a space inside anything that would be a command:
// GitHub accepts "::" as the first signs of a line, after any white space, and "##[" anywhere.
func (w *writer) defuse(out *bytes.Buffer, text string) {
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '\r' && w.system == GitLab: // its commands have one
			continue
		case c == '\n', c == '\r':
			w.line = line{blank: true}
			out.WriteByte(c)
			continue
		case w.json && c == '[' && w.hashes > 1: // inside a JSON string
			out.WriteString(`\u005b`)
		case c == '[' && w.hashes > 1, c == ':' && w.colon:
			out.WriteString(" " + string(c))
		default:
			out.WriteByte(c)
		}
		w.wrote(c)
	}
}

func (l *line) wrote(c byte) {
	l.begun = true
	l.colon = c == ':' && l.blank
	if l.blank = l.blank && (c <= ' ' || c >= 0x7f); c == '#' {
		l.hashes++
	} else {
		l.hashes = 0
	}
}
