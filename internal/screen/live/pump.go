package live

import (
	"cmp"
	"io"
	"sync"
	"time"
)

const (
	mostPumped = 1 << 20     // bytes that may wait for a slow terminal
	stall      = time.Second // without progress, after which a terminal counts as hung
)

// A pump writes to a terminal that may be slow or hang, so that nobody who holds a lock waits for
// it.
type pump struct {
	out io.Writer

	mu    sync.Mutex
	text  []byte        // not written yet
	busy  bool          // a write is under way
	moved chan struct{} // closed when a write has ended
	err   error
}

// put queues text. It never blocks.
func (p *pump) put(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text = append(p.text, text...); !p.busy && len(p.text) > 0 {
		p.busy = true
		go p.write()
	}
}

func (p *pump) write() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.text) > 0 {
		text := p.text
		p.text = nil
		p.mu.Unlock()
		_, err := p.out.Write(text)
		p.mu.Lock()
		p.err = cmp.Or(p.err, err)
		p.tell()
	}
	p.busy = false
	p.tell()
}

func (p *pump) tell() {
	close(p.moved)
	p.moved = make(chan struct{})
}

// look returns the state of the queue, and a channel that is closed when it changes.
func (p *pump) look() (waiting int, idle bool, moved <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.text), !p.busy, p.moved, p.err
}

// room waits until there is room, and returns the terminal's error.
func (p *pump) room(over <-chan struct{}) error {
	for {
		waiting, _, moved, err := p.look()
		if waiting < mostPumped || err != nil {
			return err
		}
		select {
		case <-moved:
		case <-over:
			return err
		}
	}
}

// drain waits until everything is written or the terminal hangs.
func (p *pump) drain() error {
	for {
		_, idle, moved, err := p.look()
		if idle {
			return err
		}
		select {
		case <-moved:
		case <-time.After(stall):
			return io.ErrShortWrite
		}
	}
}
