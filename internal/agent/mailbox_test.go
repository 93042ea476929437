package agent

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestMailbox: a writer never waits, and all that it has sent before the end is read, in order.
func TestMailbox(t *testing.T) {
	t.Parallel()
	m := newMailbox()
	large := strings.Repeat("0123456789", 1<<17)
	m.send([]byte("first "))
	m.send([]byte(large))
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(iotest.HalfReader(m))
		read <- string(text)
	}()
	m.send([]byte(" last"))
	_ = m.Close()
	if got := <-read; got != "first "+large+" last" {
		t.Errorf("read %d bytes", len(got))
	}
}
