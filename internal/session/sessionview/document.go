package sessionview

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// Document writes a session as one JSON object, which docs/session-format.md describes: its row in
// a list and, from its log, the lines of the start, the iterations (or only the given one, unless
// it is 0), the strategy's own turns, and the end. It holds these turns and one line at a time.
func Document(w io.Writer, o session.Overview, entries Entries, iteration int) error {
	d := &document{out: w, iteration: iteration, end: "null"}
	row, err := json.Marshal(NewRow(o))
	if err != nil {
		return err
	}
	d.write(`{"type":"session","schema_version":`, strconv.Itoa(session.SchemaVersion), `,"session":`, string(row), `,"start":`)
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
	d.write("\n]")
	if d.turns != nil {
		d.write(",\"turns\":[\n", strings.Join(d.turns, ",\n"), "\n]")
	}
	d.write(",\"end\":", d.end, "}\n")
	return d.err
}

type document struct {
	out       io.Writer
	iteration int

	opened bool // the list of iterations has begun
	listed int
	last   int
	turns  []string
	end    string // or null
	err    error
}

func (d *document) write(parts ...string) {
	for _, part := range parts {
		if d.err == nil {
			_, d.err = io.WriteString(d.out, part)
		}
	}
}

func (d *document) open() {
	if !d.opened {
		d.write(`null,"iterations":[`)
		d.opened = true
	}
}

func (d *document) entry(entry session.Entry) {
	switch e := entry.Event.(type) {
	case loop.Started:
		if !d.opened {
			d.write(line(entry), `,"iterations":[`)
			d.opened = true
		}
	case loop.IterationFinished:
		d.last = max(d.last, e.Round.Iteration)
		if d.iteration > 0 && d.iteration != e.Round.Iteration {
			return
		}
		d.open()
		if d.listed > 0 {
			d.write(",")
		}
		d.write("\n", line(entry))
		d.listed++
	case loop.TurnFinished:
		if d.iteration == 0 || d.iteration == e.Iteration {
			d.turns = append(d.turns, line(entry))
		}
	case loop.Finished:
		d.end = line(entry)
	case loop.Resumed:
		d.end = "null"
	case loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured,
		loop.Inspected, loop.BaselineChecked, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Warned, loop.Steered:
	}
}

func line(entry session.Entry) string {
	return string(bytes.TrimSuffix(entry.Encode(), []byte("\n")))
}
