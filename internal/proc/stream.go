package proc

import "os"

// A stream is one output of a command. What the command prints goes through a channel
// to a tape. The stream ends with the command's own process; what other processes write
// to the channel after that is late and not part of it.
type stream struct {
	tape
	theirs *os.File // the command's end; nil once the command has it
	ours   *channel
	sealed bool

	leader *leader // the command's own process
	relay  *relay  // nil: nobody watches

	done     chan struct{} // closed when the channel is no longer read
	doubtful []doubtful
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
			s.ends(err)
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

// cut ends the stream. What is in the channel now still belongs to it, except for what
// was written by the processes that outlived the command's own: cut returns that. It
// may be called once.
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

// drain reads what is in the channel now.
func (s *stream) drain() {
	for rest := s.ours.pending(); rest > 0; {
		buf := make([]byte, min(rest, pumpSize))
		n, writer, err := s.ours.take(buf)
		if err != nil {
			s.ends(err)
			break
		}
		s.doubtful = append(s.doubtful, doubtful{writer, buf[:n]})
		rest -= n
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
	s.stop()
}
