package term

import (
	"strings"
	"time"
	"unicode/utf8"
)

const escape = '\x1b'

// What a terminal is told to have pasted text between marks, and these marks (XTerm Control
// Sequences, "Bracketed Paste Mode").
const (
	PasteOn     = "\x1b[?2004h"
	PasteOff    = "\x1b[?2004l"
	PasteBegins = "\x1b[200~"
	PasteEnds   = "\x1b[201~"
)

// between is for how long the rest of a key is waited for: an Esc alone could be the
// beginning of an arrow.
const between = 20 * time.Millisecond

// A typing is what is typed on a terminal, key by key.
type typing struct {
	pressed chan string
	begun   string // of a key whose rest may be still to come
	stop    chan struct{}

	guesses bool // several lines that come at once were pasted, where the terminal marks nothing
	marks   bool // it does
	pastes  bool // such lines come
}

func newTyping() typing {
	return typing{pressed: make(chan string, 256), stop: make(chan struct{})}
}

// Pressed returns the channel of the keys, each as what it sends: a character,
// or an escape sequence. It is closed when no more can come.
func (t *typing) Pressed() <-chan string { return t.pressed }

// take hands on every key that is whole.
func (t *typing) take(sent string) {
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

// whole is called when nothing more has come.
func (t *typing) whole() {
	if t.begun != "" {
		t.press(t.begun)
	}
	t.begun = ""
	if t.pastes {
		t.pastes = false
		t.press(PasteEnds)
	}
}

// severalLines reports whether something comes behind a line end: nobody types so fast.
func severalLines(sent string) bool {
	return strings.ContainsAny(strings.TrimRight(sent, "\r\n"), "\r\n")
}

// unsettled reports whether it counts when nothing more comes.
func (t *typing) unsettled() bool { return t.begun != "" || t.pastes }

func (t *typing) press(key string) {
	select {
	case t.pressed <- key:
	case <-t.stop:
	}
}

// cutKey cuts the bytes that one key has sent off what was read: a character,
// or an escape sequence (ECMA-48, 5.4; the arrows of some terminals send ESC O
// and a letter). Any other Esc is one by itself. A key whose rest may be still to
// come is "".
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
		n++ // with the byte that ends it
	}
	if n > len(sent) {
		return "", sent
	}
	return sent[:n], sent[n:]
}
