package agent

import (
	"io"
	"sync"
)

// A mailbox is a pipe whose writer never waits.
type mailbox struct {
	mu     sync.Mutex
	more   sync.Cond
	text   []byte
	closed bool
}

func newMailbox() *mailbox {
	m := &mailbox{}
	m.more.L = &m.mu
	return m
}

// send adds to what is read.
func (m *mailbox) send(text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = append(m.text, text...)
	m.more.Signal()
}

// Read implements [io.Reader]. It waits for more until the mailbox is closed.
func (m *mailbox) Read(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.text) == 0 && !m.closed {
		m.more.Wait()
	}
	if len(m.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, m.text)
	m.text = m.text[n:]
	return n, nil
}

// Close ends what is read, after what has been sent. It never fails.
func (m *mailbox) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.more.Signal()
	return nil
}
