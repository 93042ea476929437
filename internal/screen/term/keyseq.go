package term

import (
	"time"
	"unicode/utf8"
)

const escape = '\x1b'

// between is for how long the rest of a key is waited for: an Esc alone could be the
// beginning of an arrow.
const between = 20 * time.Millisecond

// A typing is what is typed on a terminal, key by key.
type typing struct {
	pressed chan string
	begun   string // of a key whose rest may be still to come
	stop    chan struct{}
}

func newTyping() typing {
	return typing{pressed: make(chan string, 256), stop: make(chan struct{})}
}

// Pressed returns the channel of the keys, each as what it sends: a character,
// or an escape sequence. It is closed when no more can come.
func (t *typing) Pressed() <-chan string { return t.pressed }

// take hands on every key that is whole.
func (t *typing) take(sent string) {
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
}

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
