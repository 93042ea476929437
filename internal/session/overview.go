package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
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

var (
	// ErrEmpty is an empty log.
	ErrEmpty = errors.New("the file is empty")

	errNoStart   = errors.New("the first line is not a session_start")
	errBareStart = errors.New("the session_start says nothing of the session")
	errNoFile    = errors.New("it is not a file")
)

// UnknownIterations stands for a count that the end of a log does not tell.
const UnknownIterations = -1

// An Overview is what the first and the last line of a log tell.
type Overview struct {
	ID      string
	Path    string
	Size    int64 // bytes
	Session loop.Session
	Started time.Time
	Status  Status
	Outcome *loop.Outcome // nil: the log has no end
	// Tally adds up the session; nil if the whole log would have to be read for it. [Count] does that.
	Tally *progress.Tally
	// Iterations counts the whole ones, or is [UnknownIterations].
	Iterations int
	// Duration reaches to the end of the session or, without one, to its last
	// line.
	Duration time.Duration
	// Err says why the log does not tell more.
	Err error
	// Problem is what is wrong with the end of the log; the rest can be relied on.
	Problem error
}

// Tells reports whether the log tells anything of the session: where its first line cannot be read,
// the last one may.
func (o Overview) Tells() bool { return o.Err == nil || o.Outcome != nil }

// Look returns the overview of the log at path.
func Look(path string) (o Overview) {
	for range 3 {
		var then file.Stamp
		if o, then = look(path); o.Status != Crashed || o.Err != nil || file.At(path) == then {
			break
		}
		// The log has changed since: the session may have ended meanwhile.
	}
	if o.Started.IsZero() {
		o.Started, _ = Began(o.ID)
	}
	return o
}

// look reads the first line of a log and its end; the stamp is that of the file it read.
func look(path string) (o Overview, now file.Stamp) {
	o = Overview{ID: strings.TrimSuffix(filepath.Base(path), logEnding), Path: path, Iterations: UnknownIterations, Status: Crashed}
	f, now, err := openLog(path)
	if err != nil {
		o.Err = fmt.Errorf("open session log: %w", err)
		return o, now
	}
	defer f.Close() //nolint:errcheck // only read
	o.Size = now.Size
	o.Err = o.readStart(f)
	torn, start, err := o.readEnd(f)
	if err != nil {
		o.Err = errors.Join(o.Err, fmt.Errorf("read the end of session log %s: %w", wording.OSPath(path), err))
	}
	if o.Outcome != nil {
		return o, now
	}
	if at, err := running(path); at && err == nil { // its last line may be half-written
		o.Status = Running
	} else if torn != nil && o.Err == nil {
		before, err := countLines(io.NewSectionReader(f, 0, start))
		o.Problem = errors.Join(err, &LineError{File: path, Line: before + 1, Err: torn})
	}
	return o, now
}

// openLog opens a regular file: reading a pipe might wait for ever.
func openLog(path string) (*os.File, file.Stamp, error) {
	f, st, err := file.Open(path, file.Options{Max: math.MaxInt64})
	if errors.Is(err, file.ErrNotRegular) {
		err = &fs.PathError{Op: "open", Path: path, Err: errNoFile}
	}
	return f, st, err
}

func (o *Overview) readStart(f *os.File) error {
	why := errNoStart
	if o.Size == 0 {
		why = ErrEmpty
	}
	for entry, err := range newReader(f, o.Path, blockSize).Entries() {
		if err != nil {
			return err
		}
		if start, ok := entry.Event.(loop.Started); ok {
			o.Session, o.Started = start.Session, entry.At.Time
			if said := o.Session.Prompt + o.Session.WorkingDir + o.Session.Actor.Agent + o.Session.Critic.Agent; said != "" || !o.Started.IsZero() {
				return nil
			}
			why = errBareStart
		}
		break
	}
	return &LineError{File: o.Path, Line: 1, Err: why}
}

// readEnd reads how far the session had come, from the last line of its log, or from the line before if the last one is
// torn: then it says why that cannot be read, and where it begins.
func (o *Overview) readEnd(f *os.File) (torn error, start int64, err error) {
	last, torn, err := lastEntry(f, o.Size)
	if torn != nil {
		if start, _, err = lastBounds(f, o.Size); err == nil {
			last, _, err = lastEntry(f, start)
		}
	}
	end, over := last.Event.(loop.Finished)
	switch {
	case err != nil:
	case over && torn == nil:
		o.Outcome, o.Status, o.Iterations, o.Duration = &end.Outcome, Status(end.Outcome.Result), end.Outcome.Iterations, end.Outcome.Duration
		if o.Tally = last.Totals; o.Tally != nil {
			o.Tally.Iterations = end.Outcome.Iterations
		}
	case o.Err == nil:
		o.Iterations = wholeBefore(last.Event)
		if !last.At.Time.IsZero() {
			o.Duration = last.At.Time.Sub(o.Started)
		}
	}
	return torn, start, err
}

// wholeBefore counts the iterations that were whole when an event was logged.
func wholeBefore(e loop.Event) int {
	switch e := e.(type) { //nolint:gochecksumtype // the others belong to an iteration, or tell nothing
	case loop.Started, loop.BaselineChecked:
		return 0
	case loop.Resumed:
		return e.Iterations
	case loop.IterationFinished:
		return e.Round.Iteration
	case loop.Finished:
		return e.Outcome.Iterations
	}
	if e != nil && loop.IterationOf(e) > 0 {
		return loop.IterationOf(e) - 1
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

// Survey returns the overviews of all sessions, the newest first. A file that is not a log is included, with the reason
// in Err.
func (s *Store) Survey() ([]Overview, error) {
	ids, err := s.list()
	if err != nil {
		return nil, err
	}
	all := make([]Overview, len(ids))
	readEach(len(ids), func(i int) { all[i] = Look(s.Path(ids[i])) })
	slices.SortFunc(all, func(a, b Overview) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	return all, nil
}

// readEach calls read for the indexes of so many logs, some at the same time: a disk answers many requests as fast as
// one.
func readEach(logs int, read func(i int)) {
	var work sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range logs {
		slots <- struct{}{}
		work.Go(func() {
			read(i)
			<-slots
		})
	}
	work.Wait()
}

// Count adds up the sessions whose end does not tell their tally: those that crashed, and those of
// earlier versions. Their logs are read in full. A line that cannot be read is left out.
func Count(all []Overview) {
	readEach(len(all), func(i int) {
		o := &all[i]
		if o.Err != nil || o.Tally != nil || o.Status == Running {
			return
		}
		sum := &progress.Tally{}
		for entry, err := range Sound(Read(o.Path), nil) {
			if err != nil {
				return
			}
			_ = sum.Handle(entry.At, entry.Event) // never fails
			if n := wholeBefore(entry.Event); o.Outcome == nil && n != UnknownIterations {
				o.Iterations = n
			}
		}
		o.Tally = sum
	})
}
