package live

import (
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// TestKeysOfResumed: the log of a session that was resumed has an end before it goes on; keys are read then, too.
func TestKeysOfResumed(t *testing.T) {
	t.Parallel()
	s := newScreen(Options{Terminal: Terminal{Out: &fakeTerminal{}, Size: func() (int, int) { return 70, 24 }}, Now: time.Now, Keys: true})
	k := &Keyboard{Screen: s, Streams: &term.Streams{}, To: &steers{}}
	reads := func(want bool) {
		t.Helper()
		if k.end != nil != want {
			t.Errorf("keys are read: %t", !want)
		}
	}
	k.Open()
	reads(true)
	for range 2 {
		_ = k.Handle(loop.Stamp{}, loop.Finished{})
		reads(false)
		_ = k.Handle(loop.Stamp{}, loop.Resumed{})
		reads(true)
	}
	k.Close()
	reads(false)
	_ = s.Close()
}
