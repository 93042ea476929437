package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// streams are the open files of one run.
type streams struct {
	stdin  *os.File // the child's end
	feed   *os.File // our end of a stdin pipe, or nil
	input  []byte   // what goes into feed
	stdout *stream
	stderr *stream // is stdout when both share a file

	// passing are the paths that the system did not let us unlink while open.
	passing []string
}

// A stream is a file that the child writes and we read. The file position is
// the child's; we read at offsets.
type stream struct {
	name string
	path string // "" for a file that passes with the run
	file *os.File
}

func openStreams(cmd Command) (_ *streams, err error) {
	s := &streams{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.openStdin(cmd); err != nil {
		return nil, err
	}
	if s.stdout, err = s.openOutput("stdout", cmd.Stdout); err != nil {
		return nil, err
	}
	if cmd.Stderr != "" && cmd.Stderr == cmd.Stdout {
		s.stderr = s.stdout
		return s, nil
	}
	if s.stderr, err = s.openOutput("stderr", cmd.Stderr); err != nil {
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
		if s.stdin, err = s.passingFile(beside(cmd.Stdout), 0); err == nil {
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

// openOutput opens for appending: a child that opens /dev/stdout once more, or
// empties it, then neither overwrites anything nor leaves a hole.
func (s *streams) openOutput(name, path string) (*stream, error) {
	var f *os.File
	var err error
	if path == "" {
		f, err = s.passingFile("", os.O_APPEND)
	} else {
		f, err = newFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare a file for the command's %s: %w", name, err)
	}
	return &stream{name: name, path: path, file: f}, nil
}

// newFile makes a file in the place of whatever is there: an earlier command may
// have left a link to somewhere else, or a pipe.
func newFile(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
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
func (s *streams) passingFile(dir string, flag int) (*os.File, error) {
	made, err := os.CreateTemp(dir, "codeloops-*")
	if err != nil {
		return nil, err
	}
	_ = made.Close()
	f, err := os.OpenFile(made.Name(), os.O_RDWR|flag, 0)
	if os.Remove(made.Name()) != nil {
		s.passing = append(s.passing, made.Name())
	}
	return f, err
}

// feedChild closes the child's end of stdin, as the child has its own by now,
// and begins to write into the other end if there is one. The caller must call
// end when the child is gone.
func (s *streams) feedChild() (end func()) {
	_ = s.stdin.Close()
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

// outputs returns the files to read, once each.
func (s *streams) outputs() []*stream {
	if s.stderr == s.stdout {
		return []*stream{s.stdout}
	}
	return []*stream{s.stdout, s.stderr}
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
			_ = o.file.Close()
		}
	}
	for _, path := range s.passing {
		_ = os.Remove(path)
	}
}

func (o *stream) size() (int64, error) {
	st, err := o.file.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// readAt fills buf from offset as far as the file goes.
func (o *stream) readAt(buf []byte, offset int64) (int, error) {
	n, err := o.file.ReadAt(buf, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
