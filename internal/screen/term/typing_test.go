package term

import (
	"slices"
	"strings"
	"testing"
)

// TestTakeKeys: keys that are read together are delivered together, and an incomplete key waits for
// the rest.
func TestTakeKeys(t *testing.T) {
	t.Parallel()
	k := newKeySplitter()
	k.take(strings.Repeat("\x1b[C", 6) + strings.Repeat("\x1bOC", 5) + "\x1b[")
	want := slices.Concat(slices.Repeat([]string{"\x1b[C"}, 6), slices.Repeat([]string{"\x1bOC"}, 5))
	if got := k.drain(); !slices.Equal(got, want) {
		t.Errorf("taken: %q, want %q", got, want)
	}
	k.take("Bq")
	if got := k.drain(); !slices.Equal(got, []string{"\x1b[B", "q"}) {
		t.Errorf("with the rest of the key: %q", got)
	}
}

// drain returns the keys that were pressed.
func (k *keySplitter) drain() (keys []string) {
	for len(k.pressed) > 0 {
		keys = append(keys, <-k.pressed)
	}
	return keys
}

// TestPastes: if pastes are wanted and the terminal does not mark them, several lines that arrive
// together are a paste, which ends when nothing more arrives.
func TestPastes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reads []string // "" means that nothing more has arrived
		want  string
	}{
		{[]string{"f", "use B\r", "s", ""}, "f use B\r s"},
		{[]string{"\r\r", ""}, "\r\r"},
		{[]string{"f", "one\rstop it\r", "", "s"}, "f <one\nstop it\n> s"},
		{[]string{"one\rtwo", "s\r", "", "q"}, "<one\ntwos\n> q"},
		{[]string{"\x1b[200~s\ti\r", "\x1b[Ap\x01\x1b[201~q", ""}, "<s\ti\np> q"},
		{[]string{"\x1b[200~one\x1b[201~", "", "s\rp", ""}, "<one> s\rp"}, // this terminal marks pastes
		{[]string{"\x1b[201~s", ""}, "s"},
	} {
		k := newKeySplitter()
		k.guesses = true
		var got strings.Builder
		h := pasteCollector{Listener: Listener{
			Press: func(key string) { got.WriteString(key) },
			Paste: func(text string) { got.WriteString(" <" + text + "> ") },
		}}
		for _, read := range c.reads {
			if got.WriteByte(' '); read == "" {
				k.flush()
			} else {
				k.take(read)
			}
			for _, key := range k.drain() {
				h.handle(key)
			}
		}
		if shown := strings.Join(strings.FieldsFunc(got.String(), func(r rune) bool { return r == ' ' }), " "); shown != c.want {
			t.Errorf("%q becomes %q, want %q", c.reads, shown, c.want)
		}
	}
}
