// Package notice builds terminal sequences for notifications and window titles.
package notice

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/term"
)

// A Way is how a terminal notifies the user.
type Way string

// The ways.
const (
	None   Way = "none"
	Bell   Way = "bell"
	OSC9   Way = "osc9"   // a notification, as in iTerm2 and others
	OSC777 Way = "osc777" // a notification with a title, as in rxvt, foot and others
)

// most is the width of a notification or title, in columns.
const most = 100

// Text returns the sequence that shows a message; "" for None. With tmux set it is wrapped for the
// terminal around tmux.
func Text(by Way, message string, tmux bool) string {
	order := ""
	switch by {
	case Bell:
		return "\a"
	case OSC9:
		order = "\x1b]9;" + short(message) + "\x1b\\"
	case OSC777:
		order = "\x1b]777;notify;codeloops;" + short(message) + "\x1b\\"
	case None:
	}
	if order != "" && tmux {
		return "\x1bPtmux;" + strings.ReplaceAll(order, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return order
}

// Title returns the sequence that sets the window title.
func Title(text string) string { return "\x1b]2;" + short(text) + "\x1b\\" }

// Keep saves the current window title, and Restore brings it back.
const (
	Keep    = "\x1b[22;2t"
	Restore = "\x1b[23;2t"
)

// SupportsEscapes reports whether a terminal of this kind, the value of TERM, understands more than a bell.
// Others may print the sequences.
func SupportsEscapes(kind string) bool { return kind != "" && kind != "dumb" && kind != "linux" }

// short removes what would end a sequence or begin its next parameter.
func short(text string) string {
	return ansi.Truncate(strings.ReplaceAll(term.Line(text), ";", ","), most, "…")
}
