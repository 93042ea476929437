package ci

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Writer returns what writes to w so that nothing is an order to the system but what a
// [Log.Sink] writes. In JSON the texts stay what they are.
func (l *Log) Writer(w io.Writer, json bool) io.Writer {
	if l.system == None {
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

// A line is what was written last, where it has no end yet.
type line struct {
	begun  bool
	blank  bool // no ASCII sign but blanks and control characters
	colon  bool // the sign before is the first of it
	hashes int  // before the next sign
}

// Fd returns the descriptor of the stream below, 0 where there is none.
func (w *writer) Fd() uintptr {
	if f, ok := w.out.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return 0
}

// Write implements [io.Writer].
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

// defuse writes a line, or a part of one, with a blank within what would be an order: GitHub
// knows "::" as the first signs of a line, whatever blanks are before it, and "##[" anywhere.
func (w *writer) defuse(out *bytes.Buffer, text string) {
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '\r' && w.system == GitLab: // its orders have one
			continue
		case c == '\n', c == '\r':
			w.line = line{blank: true}
			out.WriteByte(c)
			continue
		case w.json && c == '[' && w.hashes > 1: // it stands in a text
			out.WriteString(`\u005b`)
		case c == '[' && w.hashes > 1, c == ':' && w.colon:
			out.WriteString(" " + string(c))
		default:
			out.WriteByte(c)
		}
		w.saw(c)
	}
}

// saw takes down a sign that was written.
func (l *line) saw(c byte) {
	l.begun = true
	l.colon = c == ':' && l.blank
	if l.blank = l.blank && (c <= ' ' || c >= 0x7f); c == '#' {
		l.hashes++
	} else {
		l.hashes = 0
	}
}
