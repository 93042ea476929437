package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A Status is how a session ended, as the [loop.Result] of its log says, or, without an end,
// whether it is still running.
type Status string

// The statuses of a session without an end.
const (
	Running Status = "running"
	Crashed Status = "crashed"
)

// ErrEmpty is an empty log.
var ErrEmpty = errors.New("the file is empty")

// UnknownIterations stands for a count that the end of a log does not tell.
const UnknownIterations = -1

// An Overview is what can be told of a session without reading all of its log.
type Overview struct {
	Summary
	Status Status
	// Iterations counts the whole ones; [UnknownIterations] if the whole log
	// would have to be read to count them.
	Iterations int
	// Duration reaches to the end of the session or, without one, to its last
	// line.
	Duration time.Duration
	// Problem is what is wrong with the end of the log; the rest can be relied on. Err has what is
	// wrong with its beginning.
	Problem error
}

// Tells reports whether the log tells anything of the session: where its first line cannot be read,
// the last one may.
func (o Overview) Tells() bool { return o.Err == nil || o.Outcome != nil }

// Look returns the overview of the log at path.
func Look(path string) (o Overview) {
	for range 3 {
		var then file.Stamp
		o, then = lookAt(path)
		if o.Outcome == nil && o.Err == nil {
			o.Problem = o.readLast()
		}
		if o.live(); o.Status != Crashed || o.Err != nil || file.At(path) == then {
			break
		}
		// The log has changed since: the session may have ended meanwhile.
	}
	if o.Started.IsZero() {
		o.Started, _ = Began(o.ID)
	}
	return o
}

// lookAt reads the first line of a log and its end. A log without an end counts as that of a
// crashed session, even if it is running.
func lookAt(path string) (Overview, file.Stamp) {
	sum, now := summarize(path)
	o := Overview{Summary: sum, Iterations: UnknownIterations, Status: Crashed}
	if o.Outcome != nil {
		o.Status, o.Iterations, o.Duration = Status(o.Outcome.Result), o.Outcome.Iterations, o.Outcome.Duration
	}
	return o, now
}

// live checks whether a session without an end is running. Its last line may then still be
// half-written; that is not a problem.
func (o *Overview) live() {
	if o.Outcome != nil {
		return
	}
	if at, err := running(o.Path); at && err == nil {
		o.Status, o.Problem = Running, nil
	}
}

// readLast reads how far a session without an end had come, from the last line of its log, or
// from the line before if the last one is torn.
func (o *Overview) readLast() error {
	f, err := os.Open(o.Path)
	if err != nil {
		return fmt.Errorf("open session log: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	size := o.Size
	last, bad, err := lastEntry(f, size)
	if bad != nil {
		if size, _, err = lastBounds(f, size); err == nil {
			last, _, err = lastEntry(f, size)
		}
	}
	if err != nil {
		return fmt.Errorf("read the end of session log %s: %w", wording.OSPath(o.Path), err)
	}
	if !last.At.Time.IsZero() {
		o.Duration = last.At.Time.Sub(o.Started)
	}
	o.Iterations = wholeBefore(last.Event)
	if bad == nil {
		return nil
	}
	before, err := countLines(io.NewSectionReader(f, 0, size))
	return errors.Join(err, &LineError{File: o.Path, Line: before + 1, Err: torn(bad)})
}

// lastEntry decodes the last line of a log; torn says why it cannot be decoded. A line that is
// too long to be read here gives an empty entry.
func lastEntry(f io.ReaderAt, size int64) (last Entry, torn, err error) {
	line, err := lastLine(f, size)
	if err != nil || len(line) == 0 {
		return Entry{}, nil, err
	}
	last, torn = decode(line, lean)
	return last, torn, nil
}

// wholeBefore counts the iterations that were whole when an event was logged.
func wholeBefore(e loop.Event) int {
	switch e := e.(type) {
	case loop.Started, loop.BaselineChecked:
		return 0
	case loop.Resumed:
		return e.Iterations
	case loop.IterationFinished:
		return e.Round.Iteration
	case loop.Finished:
		return e.Outcome.Iterations
	case loop.IterationStarted, loop.PhaseEntered, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured,
		loop.Inspected, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Steered:
		return loop.IterationOf(e) - 1
	case loop.TurnStarted, loop.TurnFinished, loop.Noted, loop.Activity, loop.Warned:
	}
	return UnknownIterations
}

// countLines counts the line breaks in a file.
func countLines(r io.Reader) (int, error) {
	lines := newReader(r, "", buffered).lines
	for {
		_, err := lines.next()
		if errors.Is(err, io.EOF) {
			return lines.count - 1, nil
		}
		if err != nil && !errors.Is(err, ErrLineTooLong) {
			return 0, err
		}
	}
}
