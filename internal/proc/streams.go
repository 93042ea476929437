package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxEnd bounds what is kept of a stream's end when it is too long to be kept
// whole, in bytes.
const maxEnd = 256 << 10

// streams are the input and the outputs of one run. One goroutine uses them.
type streams struct {
	stdin  *os.File // the child's end
	feed   *os.File // our end of a stdin pipe, or nil
	input  []byte   // what goes into feed
	stdout *stream
	stderr *stream // is stdout when both are one

	relay *relay // nil: nobody watches
	full  chan struct{}

	ended    bool   // the outputs have been cut
	late     []byte // what came behind them
	lateFile string // where that goes; "": nowhere

	// passing are the paths that the system did not let us unlink while open.
	passing []string
}

func openStreams(cmd Command) (_ *streams, err error) {
	s := &streams{full: make(chan struct{}, 4), lateFile: cmd.Late}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.openStdin(cmd); err != nil {
		return nil, err
	}
	if s.stdout, err = s.openOutput("stdout", cmd.Stdout, cmd); err != nil {
		return nil, err
	}
	if cmd.Stderr != "" && cmd.Stderr == cmd.Stdout {
		s.stderr = s.stdout
		return s, nil
	}
	if s.stderr, err = s.openOutput("stderr", cmd.Stderr, cmd); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *streams) openStdin(cmd Command) (err error) {
	switch {
	case cmd.StdinPipe:
		s.input = cmd.Stdin
		s.stdin, s.feed, err = os.Pipe()
	case cmd.Stdin == nil:
		s.stdin, err = os.Open(os.DevNull)
	default:
		if s.stdin, err = s.passingFile(beside(cmd.Stdout)); err == nil {
			_, err = s.stdin.Write(cmd.Stdin)
		}
		if err == nil {
			_, err = s.stdin.Seek(0, io.SeekStart)
		}
	}
	if err != nil {
		return fmt.Errorf("prepare the command's input: %w", err)
	}
	return nil
}

func (s *streams) openOutput(name, path string, cmd Command) (o *stream, err error) {
	o = &stream{sealed: cmd.Sealed && name == "stdout"}
	o.name, o.path, o.limit, o.full = name, path, cmd.MaxOutput, s.full
	o.text = Excerpt{Keep: int(max(cmd.Keep, 0)), End: maxEnd}
	if path != "" {
		o.record, err = newFile(path)
	}
	if err == nil {
		o.ours, o.theirs, err = openChannel(o.sealed)
	}
	if err != nil {
		o.close()
		return nil, fmt.Errorf("prepare for the command's %s: %w", name, err)
	}
	return o, nil
}

// newFile makes a file instead of whatever is there: an earlier command may
// have left a link to somewhere else, or a pipe.
func newFile(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// beside returns the directory of an output's file, where there is one: what goes
// into a command then needs no other place than what comes out of it.
func beside(output string) string {
	if output == "" {
		return ""
	}
	return filepath.Dir(output)
}

// passingFile returns a file without a name, or one that close removes. It is made
// in dir; "" is the system's directory for such files.
func (s *streams) passingFile(dir string) (*os.File, error) {
	made, err := os.CreateTemp(dir, "codeloops-*")
	if err != nil {
		return nil, err
	}
	_ = made.Close()
	f, err := os.OpenFile(made.Name(), os.O_RDWR, 0)
	if os.Remove(made.Name()) != nil {
		s.passing = append(s.passing, made.Name())
	}
	return f, err
}

// outputs returns the streams to read, once each.
func (s *streams) outputs() []*stream {
	if s.stderr == s.stdout {
		return []*stream{s.stdout}
	}
	return []*stream{s.stdout, s.stderr}
}

// begin is called when the child has its ends of the streams. The caller must call
// cut and finish.
func (s *streams) begin(c *child, watch func(string, []byte), now func() time.Time) {
	_ = s.stdin.Close()
	if watch != nil {
		s.relay = startRelay(watch)
	}
	began := now() // for all of them: the first may tell of something before the next one listens
	for _, o := range s.outputs() {
		_ = o.theirs.Close()
		o.theirs = nil
		o.leader, o.relay, o.now, o.grown = c.leader, s.relay, now, began
		o.listen()
	}
}

// feedChild begins to write into a stdin pipe, if there is one. The caller must
// call end when the child is gone.
func (s *streams) feedChild() (end func()) {
	if s.feed == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A child may well end, or close its stdin, without reading.
		_, _ = s.feed.Write(s.input)
		_ = s.feed.Close()
	}()
	return func() {
		_ = s.feed.Close() // ends a write that nobody reads
		<-done
	}
}

// cut ends the outputs, once: the command's own process is gone, and these are
// those that have outlived it.
func (s *streams) cut(outlived map[int]bool) {
	if s.ended {
		return
	}
	s.ended = true
	if s.relay != nil {
		s.relay.rush()
	}
	for _, o := range s.outputs() {
		s.late = append(s.late, o.cut(outlived)...)
	}
}

// finish is called when nobody is left. It returns what came behind the cut, and
// when the watch has taken everything.
func (s *streams) finish() (Late, error) {
	for _, o := range s.outputs() {
		o.drain()
		for _, d := range o.doubtful {
			s.late = append(s.late, d.text...)
		}
	}
	if s.relay != nil {
		s.relay.finish()
	}
	late := Late{Total: int64(len(s.late))}
	if s.lateFile == "" || len(s.late) == 0 {
		return late, nil
	}
	late.File = s.lateFile
	f, err := newFile(s.lateFile)
	if err == nil {
		_, err = f.Write(s.late)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return late, fmt.Errorf("keep what came after the command's end: %w", err)
	}
	return late, nil
}

// close may come before start and after any part of openStreams.
func (s *streams) close() {
	for _, f := range []*os.File{s.stdin, s.feed} {
		if f != nil {
			_ = f.Close()
		}
	}
	for _, o := range []*stream{s.stdout, s.stderr} {
		if o != nil {
			o.close()
		}
	}
	for _, path := range s.passing {
		_ = os.Remove(path)
	}
}
