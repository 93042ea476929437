package term

import (
	"strings"
	"sync"
)

// A Listener receives single keys while something else goes on.
type Listener struct {
	Press func(key string)
	// Paste receives pasted text, without control characters other than line breaks and tabs. If it
	// is nil, a paste arrives as keys.
	Paste func(text string)
	// Mark is called with [PasteOn] when single-key mode begins and with [PasteOff] before it ends.
	// It has to write these to the terminal, and may be nil.
	Mark func(sequence string)
	// Stops is called before the process is stopped, and its result when the process is resumed. It
	// may be nil.
	Stops func() (goesOn func())
}

// OnKeys passes on each key that is pressed until end is called.
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

// mostPasted is how many bytes of a paste are kept.
const mostPasted = 1 << 20

// A hearing collects pasted text.
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

// pasted is the text that a key of a paste stands for.
func pasted(key string) string {
	switch {
	case key == "\r":
		return "\n" // terminals send it for a line break
	case key == "\n" || key == "\t":
		return key
	case key[0] == escape:
		return ""
	}
	return Clean(key)
}
