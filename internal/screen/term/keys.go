package term

import (
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

const escape = '\x1b'

// Bracketed paste: how to switch it on and off, and the marks around pasted text (XTerm Control
// Sequences, "Bracketed Paste Mode").
const (
	PasteOn     = "\x1b[?2004h"
	PasteOff    = "\x1b[?2004l"
	PasteBegins = "\x1b[200~"
	PasteEnds   = "\x1b[201~"
)

// keyTimeout is how long to wait for the rest of a key: a lone Esc could be the beginning of an arrow
// key.
const keyTimeout = 20 * time.Millisecond

type keySplitter struct {
	pressed chan string
	begun   string // a key whose rest may still come
	stop    chan struct{}

	guesses bool // without marks, several lines at once count as a paste
	marks   bool // the terminal marks pastes
	pastes  bool // such a paste is under way
}

func newKeySplitter() keySplitter {
	return keySplitter{pressed: make(chan string, 256), stop: make(chan struct{})}
}

// Pressed returns the channel of the keys, each as the bytes it sends: a character or an escape
// sequence. It is closed when no more can come.
func (t *keySplitter) Pressed() <-chan string { return t.pressed }

// take passes on every complete key.
func (t *keySplitter) take(sent string) {
	t.marks = t.marks || strings.Contains(sent, PasteBegins)
	if t.guesses && !t.marks && !t.pastes && severalLines(sent) {
		t.pastes = true
		t.press(PasteBegins)
	}
	key, rest := cutKey(t.begun + sent)
	for ; key != ""; key, rest = cutKey(rest) {
		t.press(key)
	}
	t.begun = rest
}

// flush is called when no more input has come.
func (t *keySplitter) flush() {
	if t.begun != "" {
		t.press(t.begun)
	}
	t.begun = ""
	if t.pastes {
		t.pastes = false
		t.press(PasteEnds)
	}
}

// severalLines reports whether anything follows a line end: nobody types so fast.
func severalLines(sent string) bool {
	return strings.ContainsAny(strings.TrimRight(sent, "\r\n"), "\r\n")
}

// incomplete reports whether flush must be called if no more input comes.
func (t *keySplitter) incomplete() bool { return t.begun != "" || t.pastes }

func (t *keySplitter) press(key string) {
	select {
	case t.pressed <- key:
	case <-t.stop:
	}
}

// Edit returns a line of text after a key: it appends printable characters, and obeys the keys that
// take something back.
func Edit(text, key string) string {
	switch key {
	case "\x7f", "\b": // backspace
		_, last := utf8.DecodeLastRuneInString(text)
		return text[:len(text)-last]
	case "\x15": // Ctrl+U
		return ""
	case "\x17": // Ctrl+W
		left := strings.TrimRight(text, " \n\t")
		return left[:strings.LastIndexAny(left, " \n\t")+1]
	}
	if key[0] == escape {
		return text
	}
	return text + Printable(key)
}

// Printable returns the printable characters of a text.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// cutKey cuts the bytes of the first key off the input: a character or an escape sequence (ECMA-48,
// 5.4; the arrows of some terminals send ESC O and a letter). Any other Esc is a key of its own.
// The key is "" if its rest may still come.
func cutKey(sent string) (key, rest string) {
	n := 1
	switch {
	case sent == "":
		return "", ""
	case sent[0] != escape:
		if !utf8.FullRuneInString(sent) {
			return "", sent
		}
		_, n = utf8.DecodeRuneInString(sent)
	case len(sent) == 1:
		return "", sent
	case sent[1] == 'O':
		n = 3
	case sent[1] == '[':
		for n = 2; n < len(sent) && ' ' <= sent[n] && sent[n] <= '?'; n++ {
		}
		n++ // the final byte
	}
	if n > len(sent) {
		return "", sent
	}
	return sent[:n], sent[n:]
}

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
		h := pasteCollector{Listener: l}
		for {
			select {
			case key, more := <-keys.Pressed():
				if !more {
					return
				}
				h.handle(key)
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

type pasteCollector struct {
	Listener
	pastes bool
	text   strings.Builder
}

func (h *pasteCollector) handle(key string) {
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
