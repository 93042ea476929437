package transcript

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
)

const (
	// maxLine bounds a line, in bytes, and with it every text in it. Of a longer one
	// the texts are abridged.
	maxLine = 8 << 20
	// maxHead is how much is looked at of a line that stays too long.
	maxHead = 4 << 10
	// idleBuffer is how much of its room an emptied line keeps.
	idleBuffer = 1 << 20
)

// A Decoder reads one output. It is not safe for concurrent use.
type Decoder struct {
	format  string
	turn    *record
	dialect dialect
	peek    peeker

	line  []byte    // the line that is not over yet
	short *abridger // the same once it is too long; nil: it is not
	size  int64     // bytes of that line
}

// New returns a decoder for one of [Formats]; ok is false for another name.
// keep bounds what a report holds of all messages, in bytes. watch may be nil;
// otherwise it is called from within Write and Report.
func New(format string, keep int64, watch loop.Watch) (d *Decoder, ok bool) {
	speak, ok := dialects()[format]
	if !ok {
		return nil, false
	}
	r := &record{watch: watch, speech: speech{said: excerpt{Excerpt: proc.Excerpt{Keep: int(keep)}}}}
	return &Decoder{format: format, turn: r, dialect: speak(r)}, true
}

// Lost reports whether the agent tries again, on and on, what cannot succeed. Its
// turn may be ended: what it copes with says why.
func (d *Decoder) Lost() bool { return d.turn.lost }

// Limited reports whether the agent has met a limit, and has done nothing since.
func (d *Decoder) Limited() bool { return d.turn.coping == loop.EndRateLimited }

// Hidden reports whether the agent is at work on something of which it tells the end
// alone.
func (d *Decoder) Hidden() bool { return d.turn.hidden }

// Write takes the next piece of the output, which stays the caller's. It never
// fails.
func (d *Decoder) Write(piece []byte) (int, error) {
	for rest := piece; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			d.extend(rest)
			break
		}
		d.end(rest[:end])
		rest = rest[end+1:]
	}
	return len(piece), nil
}

// extend adds to the line. When it gets too long its texts are abridged.
func (d *Decoder) extend(part []byte) {
	d.size += int64(len(part))
	if d.short == nil && d.size > maxLine {
		d.short = &abridger{}
		d.short.write(d.line)
		d.line = nil
	}
	if d.short != nil {
		d.short.write(part)
		return
	}
	d.line = append(d.line, part...)
}

// end takes the line as whole, with the last part of it. Most lines come in one
// part.
func (d *Decoder) end(part []byte) {
	if d.size == 0 && len(part) <= maxLine {
		d.take(part)
		return
	}
	d.extend(part)
	switch {
	case d.short == nil:
		d.take(d.line)
	case d.short.full:
		d.long(d.short.out[:min(len(d.short.out), maxHead)])
	default:
		d.turn.cuts = d.short.cuts
		d.take(d.short.out)
		d.turn.cuts = nil
	}
	d.size, d.short = 0, nil
	if d.line = d.line[:0]; cap(d.line) > idleBuffer {
		d.line = nil
	}
}

// take hands an event to the dialect; whatever is none is plain text.
func (d *Decoder) take(line []byte) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return
	}
	if kind, whole := d.peek.kind(line); whole && kind != "" {
		d.hear(kind, line)
		return
	}
	d.turn.plainLine(line)
}

func (d *Decoder) hear(kind string, object []byte) {
	if d.dialect.event(kind, object) {
		d.turn.report.Spoken = true
	} else if brokenOff().MatchString(kind) {
		d.turn.fault(loop.EndFailed, "it says "+kind)
	}
}

// brokenOff matches the types of events that say of a turn, whatever it is called,
// that it did not come to its end.
var brokenOff = wording.Pattern(`(?i)^(?:(?:turn|session|run|thread|agent)[._-]?)?(?:abort(?:ed)?|cancell?ed|interrupted|failed|failure|error)$`)

// long makes what it can of a line that is too long: an event without its
// fields, when its type stands at the beginning.
func (d *Decoder) long(head []byte) {
	d.turn.notice(loop.NoticeProblem, fmt.Sprintf("a line of %d bytes was passed over", d.size))
	kind, _ := d.peek.kind(head)
	if kind == "" {
		return
	}
	object, _ := jsontext.AppendQuote([]byte(`{"type":`), kind) // it is UTF-8
	d.hear(kind, append(object, '}'))
}

// Report ends the output and returns what it says. What is left without a line
// end counts as a line. Nothing may be written after it.
func (d *Decoder) Report() Report {
	d.end(nil)
	return d.turn.end(d.format)
}
