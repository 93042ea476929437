package countdown

import (
	"io"
	"strings"
	"testing"
	"time"

	"codeloops/internal/screen/term"
)

// TestWaitEndsOnATerminalThatHangs: a countdown that cannot be written keeps no
// wait from ending.
func TestWaitEndsOnATerminalThatHangs(t *testing.T) {
	t.Parallel()
	unread, hangs := io.Pipe()
	defer unread.Close()
	c := &Countdown{
		Streams: &term.Streams{In: strings.NewReader(""), Out: io.Discard, Err: hangs},
		Now:     time.Now, Hurry: func() {},
	}
	leave := c.Begin(time.Now().Add(time.Hour))
	left := make(chan struct{})
	go func() {
		leave()
		close(left)
	}()
	select {
	case <-left:
	case <-time.After(5 * time.Minute):
		t.Error("the wait does not end")
	}
}
