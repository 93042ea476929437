package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxEnd is how much of a stream's end is kept when the stream is too long to be kept
// whole, in bytes.
const maxEnd = 256 << 10

// streams are the input and the outputs of one run. Only one goroutine may use them.
type streams struct {
	stdin  *os.File      // the child's end
	feed   *os.File      // our end of a stdin pipe, or nil
	input  []byte        // what is written to feed
	more   io.ReadCloser // what is written after it, or nil
	stdout *stream
	stderr *stream // the same as stdout when the two are merged

	relay *relay // nil: nobody watches
	full  chan struct{}

	ended    bool   // the outputs have been cut
	late     []byte // output that arrived after that
	lateFile string // where to write it; "": nowhere

	temporary []string // paths that could not be unlinked while the file was open
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
		s.input, s.more = cmd.Stdin, cmd.More
		s.stdin, s.feed, err = os.Pipe()
	case cmd.Stdin == nil:
		s.stdin, err = os.Open(os.DevNull)
	default:
		if s.stdin, err = s.temporaryFile(cmd.Stdout); err == nil {
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
	o = &stream{
		name: name, sealed: cmd.Sealed && name == "stdout",
		kept: kept{path: path, limit: cmd.MaxOutput, full: s.full, text: Excerpt{Keep: int(max(cmd.Keep, 0)), End: maxEnd}},
	}
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

// newFile replaces whatever is there with a new file: an earlier command may have left
// a pipe, or a link to somewhere else.
func newFile(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// temporaryFile returns an unlinked file, or one that close removes. It is made beside
// the output's record, or in the system's temporary directory if there is none.
func (s *streams) temporaryFile(output string) (*os.File, error) {
	dir := ""
	if output != "" {
		dir = filepath.Dir(output)
	}
	made, err := os.CreateTemp(dir, "codeloops-*")
	if err != nil {
		return nil, err
	}
	_ = made.Close()
	f, err := os.OpenFile(made.Name(), os.O_RDWR, 0)
	if os.Remove(made.Name()) != nil {
		s.temporary = append(s.temporary, made.Name())
	}
	return f, err
}

// outputs returns each stream once.
func (s *streams) outputs() []*stream {
	if s.stderr == s.stdout {
		return []*stream{s.stdout}
	}
	return []*stream{s.stdout, s.stderr}
}

// begin starts reading once the child has its ends of the streams. The caller must call
// cut and finish.
func (s *streams) begin(c *child, watch func(string, []byte), now func() time.Time) {
	_ = s.stdin.Close()
	if watch != nil {
		s.relay = startRelay(watch)
	}
	began := now() // one time for all: the first may receive something before the next one listens
	for _, o := range s.outputs() {
		_ = o.theirs.Close()
		o.theirs = nil
		o.leader, o.relay, o.now, o.grown = c.leader, s.relay, now, began
		o.listen()
	}
}

// feedChild starts writing to the stdin pipe, if there is one. The caller must call end
// when the child is gone.
func (s *streams) feedChild() (end func()) {
	if s.feed == nil {
		return func() {}
	}
	var feeding sync.WaitGroup
	feeding.Go(func() {
		// A child may end, or close its stdin, without reading.
		_, _ = s.feed.Write(s.input)
		if s.more != nil {
			_, _ = io.Copy(s.feed, s.more)
		}
		_ = s.feed.Close()
	})
	return func() {
		if s.more != nil {
			_ = s.more.Close()
		}
		_ = s.feed.Close() // unblocks a write that nobody reads
		feeding.Wait()
	}
}

// cut ends the outputs when the command's own process is gone. outlived are the
// processes that outlived it. Only the first call counts.
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

// finish is called when nothing is left running. It returns the output that arrived
// after the cut, once the watch has taken everything.
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

// close may be called before begin, and after openStreams has failed halfway.
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
	for _, path := range s.temporary {
		_ = os.Remove(path)
	}
}
