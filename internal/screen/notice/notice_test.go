package notice

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b\\b\a;c\x9c\nd"
	for _, c := range []struct {
		by   Way
		tmux bool
		want string
	}{
		{None, false, ""},
		{Bell, true, "\a"},
		{OSC9, false, "\x1b]9;ab,c d\x1b\\"},
		{OSC777, false, "\x1b]777;notify;codeloops;ab,c d\x1b\\"},
		{OSC9, true, "\x1bPtmux;\x1b\x1b]9;ab,c d\x1b\x1b\\\x1b\\"},
	} {
		// How term.Line replaces the sequence in the middle is not tested here.
		got := strings.ReplaceAll(Text(c.by, hostile, c.tmux), "\ufffd", "")
		if got != c.want {
			t.Errorf("%s, tmux %t: %q, want %q", c.by, c.tmux, got, c.want)
		}
	}
	if got := Title(strings.Repeat("x", 500)); len(got) > 120 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestKnows(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"": false, "dumb": false, "linux": false, "xterm-256color": true, "tmux": true} {
		if SupportsEscapes(kind) != want {
			t.Errorf("%q: %t", kind, !want)
		}
	}
}
