package browse

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// Document writes a session as one JSON object, which docs/session-format.md
// describes: what a list tells of it, and
// the lines of its log for the start, the iterations (or the one that is asked
// for, when that is not 0) and the end. It holds one line of the log at a time.
// Lines that cannot be read are told to bad.
func Document(w io.Writer, o session.Overview, entries Entries, iteration int, bad func(error)) error {
	d := &document{out: w, iteration: iteration}
	row, err := json.Marshal(NewRow(o))
	if err != nil {
		return err
	}
	d.write(`{"type":"session","schema_version":`, strconv.Itoa(session.SchemaVersion), `,"session":`, string(row), `,"start":`)
	for entry, err := range entries {
		if line, ok := errors.AsType[*session.LineError](err); ok {
			bad(line)
			continue
		}
		if err != nil {
			return err
		}
		if d.entry(entry); d.err != nil {
			return d.err
		}
	}
	if iteration > 0 && !d.found {
		// What has been written is no whole document; the exit code says so.
		return errors.Join(d.err, &MissingError{ID: o.ID, Iteration: iteration, Last: d.last})
	}
	d.open()
	d.write("\n],\"end\":", orNull(d.end), "}\n")
	return d.err
}

type document struct {
	out       io.Writer
	iteration int

	opened bool // the list of iterations has been begun
	listed int
	last   int
	found  bool
	end    []byte
	err    error
}

func (d *document) write(parts ...string) {
	for _, part := range parts {
		if d.err == nil {
			_, d.err = io.WriteString(d.out, part)
		}
	}
}

// open begins the list of iterations.
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
		d.found = true
	case loop.Finished:
		d.end = []byte(line(entry))
	case loop.Resumed:
		d.end = nil
	case loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured,
		loop.Inspected, loop.BaselineChecked, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Warned:
	}
}

func line(entry session.Entry) string {
	return string(bytes.TrimSuffix(entry.Encode(), []byte("\n")))
}

func orNull(document []byte) string {
	if document == nil {
		return "null"
	}
	return string(document)
}
