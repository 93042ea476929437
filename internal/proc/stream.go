package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A stream is an output of a command. What the command prints goes through a
// channel, which is read as it comes: into memory, which holds what decides, and
// into a file, which is a record and never read again. The stream ends with the
// command's own process; what others put into the channel after that is late, and
// none of it.
type stream struct {
	name   string
	path   string   // of the record; "": there is none
	theirs *os.File // the command's end; nil once it has its own
	ours   *channel
	sealed bool

	leader *leader // the command's own process
	relay  *relay  // nil: nobody watches
	now    func() time.Time
	limit  int64         // bytes, for full; 0: none
	full   chan struct{} // told when there is more than the limit, and when there is twice as much

	done     chan struct{} // closed when the channel is not read any more
	doubtful []doubtful

	mu     sync.Mutex
	record *os.File // nil: there is none
	fault  error    // of the record or the channel
	text   excerpt
	grown  time.Time // when something came last
}

// doubtful is text that was read when the command's own process had ended: it may
// be that process's last, or what others have added.
type doubtful struct {
	writer int
	text   []byte
}

// pumpSize is how much is read at once, in bytes.
const pumpSize = 64 << 10

// listen begins to take in what is written. The caller must call cut.
func (s *stream) listen() {
	s.done = make(chan struct{})
	go s.pump()
}

func (s *stream) pump() {
	defer close(s.done)
	buf := make([]byte, pumpSize)
	for {
		n, writer, err := s.ours.receive(buf)
		if err != nil {
			s.ended(err)
			return
		}
		if s.sealed && s.leader.gone() {
			s.doubtful = append(s.doubtful, doubtful{writer, buf[:n]})
			return
		}
		s.add(buf[:n])
	}
}

// ended notes why the channel is not read any more, where that is a fault.
func (s *stream) ended(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = errors.Join(s.fault, fmt.Errorf("read the command's %s: %w", s.name, err))
}

// add takes in the next piece of the output.
func (s *stream) add(chunk []byte) {
	s.mu.Lock()
	s.keep(chunk)
	s.mu.Unlock()
	if s.relay != nil {
		s.relay.put(s.name, chunk)
	}
}

func (s *stream) keep(chunk []byte) {
	before := s.text.total
	s.text.write(chunk)
	s.grown = s.now()
	if s.record != nil {
		if _, err := s.record.Write(chunk); err != nil {
			s.fault = errors.Join(s.fault, fmt.Errorf("keep the command's %s: %w", s.name, err))
			_ = s.record.Close()
			s.record = nil
		}
	}
	for _, limit := range []int64{s.limit, 2 * s.limit} {
		if limit > 0 && before <= limit && s.text.total > limit {
			s.full <- struct{}{} // it has room for both
		}
	}
}

// size returns how much there is, and when something came last.
func (s *stream) size() (bytes int64, grown time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.total, s.grown
}

// cut ends the stream: what is in the channel now still belongs to it, but for
// what was written by one of the processes that have outlived the command's own,
// which it returns. It may be called once.
func (s *stream) cut(outlived map[int]bool) (late []byte) {
	s.ours.interrupt()
	<-s.done
	s.drain()
	for _, d := range s.doubtful {
		if outlived[d.writer] {
			late = append(late, d.text...)
		} else {
			s.add(d.text)
		}
	}
	s.doubtful = nil
	return late
}

// drain takes out of the channel what is in it.
func (s *stream) drain() {
	for rest := s.ours.pending(); rest > 0; {
		buf := make([]byte, min(rest, pumpSize))
		n, writer, err := s.ours.take(buf)
		if err != nil {
			s.ended(err)
			break
		}
		s.doubtful = append(s.doubtful, doubtful{writer, buf[:n]})
		rest -= n
	}
}

// close lets go of everything. The stream may have been opened in part only.
func (s *stream) close() {
	if s.theirs != nil {
		_ = s.theirs.Close()
	}
	if s.ours != nil {
		s.ours.close()
	}
	if s.record != nil {
		_ = s.record.Close()
	}
}

// captured returns what is kept of the stream, which has been cut.
func (s *stream) captured() (Captured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.captured(s.path), s.fault
}
