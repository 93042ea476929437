package sessionview

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// Document writes a session as one JSON object, which docs/session-format.md describes: its row in
// a list and, from its log, the lines of the start, the iterations (or only the given one, unless
// it is 0), the strategy's own turns, and the end. It holds these turns and one line at a time.
func Document(w io.Writer, o session.Overview, entries Entries, iteration int) error {
	d := &document{out: w, iteration: iteration, end: []byte("null")}
	row, err := json.Marshal(NewRow(o))
	if err != nil {
		return err
	}
	d.writef(`{"type":"session","schema_version":%d,"session":%s,"start":`, session.SchemaVersion, row)
	for entry, err := range entries {
		if err != nil {
			return err
		}
		if d.entry(entry); d.err != nil {
			return d.err
		}
	}
	if iteration > 0 && d.listed == 0 {
		// The document is incomplete; the exit code says so.
		return errors.Join(d.err, &MissingError{ID: o.ID, Iteration: iteration, Last: d.last})
	}
	d.open()
	d.writef("\n]")
	if d.turns != nil {
		d.writef(",\"turns\":[\n%s\n]", bytes.Join(d.turns, []byte(",\n")))
	}
	d.writef(",\"end\":%s}\n", d.end)
	return d.err
}

// pieces is how many bytes are written at once: whoever looks for secrets in them holds a few times as many.
const pieces = 64 << 10

type document struct {
	out       io.Writer
	iteration int

	opened bool // the list of iterations has begun
	listed int
	last   int
	turns  [][]byte
	end    []byte // or null
	err    error
}

func (d *document) writef(format string, parts ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.out, format, parts...)
	}
}

func (d *document) open() {
	if !d.opened {
		d.writef(`null,"iterations":[`)
		d.opened = true
	}
}

func (d *document) entry(entry session.Entry) {
	switch e := entry.Event.(type) { //nolint:gochecksumtype // the others are not in the document
	case loop.Started:
		if !d.opened {
			d.writef(`%s,"iterations":[`, line(entry))
			d.opened = true
		}
	case loop.IterationFinished:
		d.last = max(d.last, e.Round.Iteration)
		if d.iteration > 0 && d.iteration != e.Round.Iteration {
			return
		}
		d.open()
		if d.listed > 0 {
			d.writef(",")
		}
		d.writef("\n")
		for part := range slices.Chunk(line(entry), pieces) {
			if d.err == nil {
				_, d.err = d.out.Write(part)
			}
		}
		d.listed++
	case loop.TurnFinished:
		if d.iteration == 0 || d.iteration == e.Iteration {
			d.turns = append(d.turns, line(entry))
		}
	case loop.Finished:
		d.end = line(entry)
	case loop.Resumed:
		d.end = []byte("null")
	}
}

func line(entry session.Entry) []byte { return bytes.TrimSuffix(entry.Encode(), []byte("\n")) }
