package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"codeloops/internal/term"
)

// TestWaitEndsOnATerminalThatHangs: a countdown that cannot be written keeps no
// wait from ending.
func TestWaitEndsOnATerminalThatHangs(t *testing.T) {
	t.Parallel()
	unread, hangs := io.Pipe()
	defer unread.Close()
	l := &lounge{
		app:     &app{Streams: &term.Streams{In: strings.NewReader(""), Out: io.Discard, Err: hangs}, now: time.Now},
		watched: true,
	}
	_, leave := l.enter(time.Now().Add(time.Hour))
	left := make(chan struct{})
	go func() {
		leave()
		close(left)
	}()
	select {
	case <-left:
	case <-time.After(liveness):
		t.Error("the wait does not end")
	}
}
