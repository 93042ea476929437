package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A tape keeps a stream: in memory, which is authoritative, and in a file, which is a
// record and never read back. It is safe for concurrent use.
type tape struct {
	name  string // of the stream
	path  string // of the record; "": none
	now   func() time.Time
	limit int64         // bytes, for full; 0: none
	full  chan struct{} // receives a value beyond the limit, and beyond twice the limit

	mu     sync.Mutex
	record *os.File // nil: none
	fault  error    // of the record or the stream
	text   Excerpt
	grown  time.Time // when the last output arrived
}

func (t *tape) keep(chunk []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.text.Total
	_, _ = t.text.Write(chunk)
	t.grown = t.now()
	if t.record != nil {
		if _, err := t.record.Write(chunk); err != nil {
			t.fault = errors.Join(t.fault, fmt.Errorf("keep the command's %s: %w", t.name, err))
			t.stop()
		}
	}
	for _, limit := range []int64{t.limit, 2 * t.limit} {
		if limit > 0 && before <= limit && t.text.Total > limit {
			t.full <- struct{}{} // buffered: never blocks
		}
	}
}

// stop closes the record.
func (t *tape) stop() {
	if t.record != nil {
		_ = t.record.Close()
		t.record = nil
	}
}

// ends notes an unexpected error that ended the reading.
func (t *tape) ends(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = errors.Join(t.fault, fmt.Errorf("read the command's %s: %w", t.name, err))
}

// size returns the number of bytes and when the last output arrived.
func (t *tape) size() (bytes int64, grown time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Total, t.grown
}

// captured returns what is kept. Nothing may be added after it.
func (t *tape) captured() (Captured, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Captured(t.path), t.fault
}
