package proc

import "os"

// A stream is an output of a command. What the command prints goes through a
// channel, which is read as it comes, onto a tape. The stream ends with the
// command's own process; what others put into the channel after that is late, and
// none of it.
type stream struct {
	tape
	theirs *os.File // the command's end; nil once it has its own
	ours   *channel
	sealed bool

	leader *leader // the command's own process
	relay  *relay  // nil: nobody watches

	done     chan struct{} // closed when the channel is not read any more
	doubtful []doubtful
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

// add takes in the next piece of the output.
func (s *stream) add(chunk []byte) {
	s.keep(chunk)
	if s.relay != nil {
		s.relay.put(s.name, chunk)
	}
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
			s.ends(err)
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
	s.stop()
}
