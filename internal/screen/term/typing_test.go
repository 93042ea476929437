package term

import (
	"slices"
	"strings"
	"testing"
)

// TestTakeKeys: what is read at once is handed on at once, however many keys it
// is, and what is cut waits for its rest.
func TestTakeKeys(t *testing.T) {
	t.Parallel()
	k := newTyping()
	k.take(strings.Repeat("\x1b[C", 6) + strings.Repeat("\x1bOC", 5) + "\x1b[")
	want := slices.Concat(slices.Repeat([]string{"\x1b[C"}, 6), slices.Repeat([]string{"\x1bOC"}, 5))
	if got := k.drain(); !slices.Equal(got, want) {
		t.Errorf("taken: %q, want %q", got, want)
	}
	k.take("Bq")
	if got := k.drain(); !slices.Equal(got, []string{"\x1b[B", "q"}) {
		t.Errorf("with its rest: %q", got)
	}
}

// drain returns the keys that were pressed.
func (k *typing) drain() (keys []string) {
	for len(k.pressed) > 0 {
		keys = append(keys, <-k.pressed)
	}
	return keys
}
