package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"

	"codeloops/internal/loop"
)

const (
	// maxLine bounds a line, in bytes, and with it every text in it. No model
	// writes as much at once; tools that print as much do not matter here.
	maxLine = 8 << 20
	// maxHead is how much of a longer line is looked at.
	maxHead = 4 << 10
	// idleBuffer is how much of its room an emptied line keeps.
	idleBuffer = 1 << 20
)

// A Decoder reads one output. It is not safe for concurrent use.
type Decoder struct {
	format  string
	turn    *record
	dialect dialect

	line []byte // the line that is not over yet, or the head of one that is too long
	size int64  // bytes of that line
	read int64  // bytes in all
}

// New returns a decoder for one of [Formats]; ok is false for another name.
// keep bounds what a report holds of all messages, in bytes. watch may be nil;
// otherwise it is called from within Write and Report.
func New(format string, keep int64, watch loop.Watch) (d *Decoder, ok bool) {
	speak, ok := dialects()[format]
	if !ok {
		return nil, false
	}
	r := &record{watch: watch, said: excerpt{limit: int(keep)}}
	return &Decoder{format: format, turn: r, dialect: speak(r)}, true
}

// Read returns how many bytes were written.
func (d *Decoder) Read() int64 { return d.read }

// Write takes the next piece of the output, which stays the caller's. It never
// fails.
func (d *Decoder) Write(piece []byte) (int, error) {
	d.read += int64(len(piece))
	for rest := piece; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			d.extend(rest)
			break
		}
		d.extend(rest[:end])
		d.flush()
		rest = rest[end+1:]
	}
	return len(piece), nil
}

// extend adds to the line. When it gets too long only its head stays.
func (d *Decoder) extend(part []byte) {
	d.size += int64(len(part))
	if d.size > maxLine {
		part = part[:min(len(part), max(0, maxHead-len(d.line)))]
		d.line = append(d.line[:min(len(d.line), maxHead)], part...)
		return
	}
	d.line = append(d.line, part...)
}

// flush takes the line as whole.
func (d *Decoder) flush() {
	line := bytes.TrimSpace(d.line)
	switch {
	case d.size > maxLine:
		d.long(line)
	case len(line) > 0:
		d.take(line)
	}
	d.size = 0
	if d.line = d.line[:0]; cap(d.line) > idleBuffer {
		d.line = nil
	}
}

// take hands an event to the dialect; whatever is none is plain text.
func (d *Decoder) take(line []byte) {
	var head struct {
		Type string `json:"type"`
	}
	if line[0] != '{' || !decode(line, &head) || head.Type == "" {
		d.turn.plainLine(line)
		return
	}
	d.hear(head.Type, line)
}

func (d *Decoder) hear(kind string, object []byte) {
	if d.dialect.event(kind, object) {
		d.turn.report.Spoken = true
	}
}

// long makes what it can of a line that is too long: an event without its
// fields, when its type stands at the beginning.
func (d *Decoder) long(head []byte) {
	d.turn.notice(loop.NoticeProblem, fmt.Sprintf("a line of %d bytes was passed over", d.size))
	kind := leadingType(head)
	if kind == "" {
		return
	}
	if object, err := json.Marshal(map[string]string{"type": kind}); err == nil {
		d.hear(kind, object)
	}
}

// leadingType returns the type of an object of which only the beginning is
// there.
func leadingType(head []byte) string {
	tokens := json.NewDecoder(bytes.NewReader(head))
	for depth, name := 0, ""; ; {
		token, err := tokens.Token()
		if err != nil {
			return ""
		}
		switch token := token.(type) {
		case json.Delim:
			if depth++; token == '}' || token == ']' {
				depth -= 2
			}
			name = ""
		case string:
			if depth == 1 && name == "type" {
				return token
			}
			if name != "" {
				token = ""
			}
			name = token
		default:
			name = ""
		}
	}
}

// Report ends the output and returns what it says. What is left without a line
// end counts as a line. Nothing may be written after it.
func (d *Decoder) Report() Report {
	d.flush()
	return d.turn.end(d.format)
}

// decode reads the fields of an object into v. Fields of another type than v
// wants are left alone. It reports whether the object is JSON.
func decode(object []byte, v any) bool {
	err := json.Unmarshal(object, v)
	return err == nil || isMismatch(err)
}
