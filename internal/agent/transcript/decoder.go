package transcript

import (
	"bytes"
	"fmt"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
)

const (
	// maxLine bounds a line, in bytes. The texts in a longer one are abridged.
	maxLine = 8 << 20
	// maxHead is how much is read of a line that is still too long after that.
	maxHead = 4 << 10
)

// A Decoder reads one output. It is not safe for concurrent use.
type Decoder struct {
	format  string
	turn    *record
	dialect dialect

	line  []byte    // the current line so far
	short *abridger // replaces line once it is too long; nil: it is not
	size  int64     // bytes of the current line
}

// New returns a decoder for one of [Formats]; ok is false for another name. keep bounds
// Report.Said, in bytes. watch may be nil; otherwise it is called from within Write and
// Report.
func New(format string, keep int64, watch loop.Watch) (d *Decoder, ok bool) {
	speak, ok := dialects()[format]
	if !ok {
		return nil, false
	}
	r := &record{watch: watch, calls: map[string]string{}, speech: speech{said: excerpt{Excerpt: proc.Excerpt{Keep: int(keep)}}}}
	return &Decoder{format: format, turn: r, dialect: speak(r)}, true
}

// Lost reports whether the agent keeps retrying what cannot succeed, or spins. Its turn may be
// ended: Report.Problem says why.
func (d *Decoder) Lost() bool { return d.turn.lost || d.turn.report.Spinning }

// Limited reports whether the agent has hit a limit and done nothing since.
func (d *Decoder) Limited() bool { return d.turn.coping == loop.EndRateLimited }

// Closed reports whether the closing event has come, and nothing is left that the agent
// waits for.
func (d *Decoder) Closed() bool { return d.turn.closed && !d.turn.busy }

// Hidden reports whether the agent is doing something that it reports only afterwards.
func (d *Decoder) Hidden() bool { return d.turn.hidden }

// Write takes the next piece of the output and does not keep it. It never fails.
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

// extend adds to the current line, and abridges it when it gets too long.
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

// end adds the last part to the current line and decodes it.
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
	d.size, d.short, d.line = 0, nil, nil
}

// take passes an event to the dialect; anything else is plain text.
func (d *Decoder) take(line []byte) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return
	}
	kind := kindOf(line)
	if _, ok := d.dialect.(speaker); ok {
		kind = rpcKindOf(line)
	}
	if kind != "" {
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

// brokenOff matches the types of events that report, in any format, that a turn was
// broken off.
var brokenOff = wording.Pattern(`(?i)^(?:(?:turn|session|run|thread|agent)[._-]?)?(?:abort(?:ed)?|cancell?ed|interrupted|failed|failure|error)$`)

// opening matches the beginning of an event up to its type, after simple members.
var opening = wording.Pattern(`^\{(?:\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[\d.]+)\s*,)*\s*"type"\s*:\s*"[^"\\]+"`)

// long handles a line that is too long: it is an event without other fields, if its type stands
// at the beginning.
func (d *Decoder) long(head []byte) {
	d.turn.notice(loop.NoticeProblem, fmt.Sprintf("skipped a line of %d bytes: it is too long", d.size))
	if start := opening().Find(head); start != nil {
		object := append(slices.Clone(start), '}')
		d.hear(kindOf(object), object)
	}
}

// Report ends the output and returns the report. A last line without a line end counts.
// Nothing may be written after it.
func (d *Decoder) Report() Report {
	d.end(nil)
	return d.turn.end(d.format)
}
