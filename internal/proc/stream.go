package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A stream is one output of a command. What the command prints goes through a channel
// and is kept: in memory, which is authoritative, and in a record, which is never read
// back. The stream ends with the command's own process; what other processes write to
// the channel after that is late and not part of it.
type stream struct {
	name   string
	sealed bool
	theirs *os.File // the command's end; nil once the command has it
	ours   *channel

	leader *leader // the command's own process
	relay  *relay  // nil: nobody watches
	now    func() time.Time

	reading  sync.WaitGroup
	doubtful []doubtful
	kept
}

// kept is what is kept of a stream.
type kept struct {
	path  string        // of the record; "": none
	limit int64         // bytes, for full; 0: none
	full  chan struct{} // receives a value beyond the limit, and beyond twice the limit

	mu     sync.Mutex
	record *os.File // nil: none
	fault  error    // of the record or the channel
	text   Excerpt
	grown  time.Time // when the last output arrived
}

// doubtful is text that was read after the command's own process had ended: the process
// may have written it before it ended, or another one after that.
type doubtful struct {
	writer int
	text   []byte
}

// pumpSize is the size of one read, in bytes.
const pumpSize = 64 << 10

// listen starts reading. The caller must call cut.
func (s *stream) listen() { s.reading.Go(s.pump) }

func (s *stream) pump() {
	buf := make([]byte, pumpSize)
	for {
		n, writer, err := s.ours.receive(buf)
		if err != nil {
			s.failed(err)
			return
		}
		if s.sealed && s.leader.gone() {
			s.doubtful = append(s.doubtful, doubtful{writer, buf[:n]})
			return
		}
		s.add(buf[:n])
	}
}

func (s *stream) add(chunk []byte) {
	s.keep(chunk)
	if s.relay != nil {
		s.relay.put(s.name, chunk)
	}
}

func (s *stream) keep(chunk []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.text.Total
	_, _ = s.text.Write(chunk)
	s.grown = s.now()
	if s.record != nil {
		if _, err := s.record.Write(chunk); err != nil {
			s.fault = errors.Join(s.fault, fmt.Errorf("keep the command's %s: %w", s.name, err))
			s.closeRecord()
		}
	}
	for _, limit := range []int64{s.limit, 2 * s.limit} {
		if limit > 0 && before <= limit && s.text.Total > limit {
			s.full <- struct{}{} // buffered: never blocks
		}
	}
}

// failed notes the error that ended the reading, if it is unexpected.
func (s *stream) failed(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = errors.Join(s.fault, fmt.Errorf("read the command's %s: %w", s.name, err))
}

// cut ends the stream. What is in the channel now still belongs to it, except for what
// was written by the processes that outlived the command's own: cut returns that. It
// may be called once.
func (s *stream) cut(outlived map[int]bool) (late []byte) {
	s.ours.interrupt()
	s.reading.Wait()
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

// drain reads what is in the channel now.
func (s *stream) drain() {
	for rest := s.ours.pending(); rest > 0; {
		buf := make([]byte, min(rest, pumpSize))
		n, writer, err := s.ours.take(buf)
		if err != nil {
			s.failed(err)
			break
		}
		s.doubtful = append(s.doubtful, doubtful{writer, buf[:n]})
		rest -= n
	}
}

// size returns the number of bytes and when the last output arrived.
func (k *kept) size() (bytes int64, grown time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Total, k.grown
}

// captured returns what is kept. Nothing may be added after it.
func (k *kept) captured() (Captured, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Captured(k.path), k.fault
}

func (k *kept) closeRecord() {
	if k.record != nil {
		_ = k.record.Close()
		k.record = nil
	}
}

// close releases everything, even of a stream that was opened only in part.
func (s *stream) close() {
	if s.theirs != nil {
		_ = s.theirs.Close()
	}
	if s.ours != nil {
		s.ours.close()
	}
	s.closeRecord()
}
