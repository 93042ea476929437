package term

import (
	"strings"
	"sync"
)

// A Listener is who reads single keys beside what else goes on.
type Listener struct {
	Press func(key string)
	// Paste is handed what was pasted, with its line breaks and tabs, and no other control
	// character. Where it is nil, a paste is the keys that it comes to.
	Paste func(text string)
	// Mark is called with [PasteOn] when the terminal begins to hand over single keys, and with
	// [PasteOff] before it is put back, for whoever writes to it. It may be nil.
	Mark func(sequence string)
	// Stops is called before the process is stopped, and what it returns when that goes on. It
	// may be nil.
	Stops func() (goesOn func())
}

// OnKeys hands each key that is pressed over, until the returned function is called.
func (s *Streams) OnKeys(l Listener) (end func()) {
	keys, ok := s.ReadKeys(l)
	if !ok {
		return func() {}
	}
	over := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		h := hearing{Listener: l}
		for {
			select {
			case key, more := <-keys.Pressed():
				if !more {
					return
				}
				h.hear(key)
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		done.Wait()
		keys.Close()
	}
}

// mostPasted is how many bytes are kept of what is pasted at once.
const mostPasted = 1 << 20

// A hearing gathers what is pasted.
type hearing struct {
	Listener
	pastes bool
	text   strings.Builder
}

func (h *hearing) hear(key string) {
	switch {
	case h.Paste == nil:
		h.Press(key)
	case key == PasteBegins:
		h.pastes = true
	case key == PasteEnds:
		if h.pastes {
			h.Paste(h.text.String())
		}
		h.pastes = false
		h.text.Reset()
	case !h.pastes:
		h.Press(key)
	case h.text.Len() < mostPasted:
		h.text.WriteString(pasted(key))
	}
}

// pasted is what a key of a paste stands for in a text.
func pasted(key string) string {
	switch {
	case key == "\r":
		return "\n" // as terminals send a line break
	case key == "\n" || key == "\t":
		return key
	case key[0] == escape:
		return ""
	}
	return Clean(key)
}
