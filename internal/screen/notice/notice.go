// Package notice spells what a terminal does beside showing text: it tells the user that
// something is over, and has a title.
package notice

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/screen/term"
)

// A Way is how a terminal tells.
type Way string

// The ways.
const (
	None   Way = "none"
	Bell   Way = "bell"
	OSC9   Way = "osc9"   // a notification, as iTerm2 and others have it
	OSC777 Way = "osc777" // one with a title, as rxvt, foot and others have it
)

// most is how wide a text is that a terminal shows elsewhere, in columns.
const most = 100

// Text returns what has a terminal tell a message; "" where there is no way. In tmux it is for the
// terminal around it.
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

// Title sets the title of a terminal's window. Keep and Restore are what a terminal does with the
// one that it has.
func Title(text string) string { return "\x1b]2;" + short(text) + "\x1b\\" }

// What a terminal does with the title that it has.
const (
	Keep    = "\x1b[22;2t"
	Restore = "\x1b[23;2t"
)

// Knows reports whether a terminal of this kind, as TERM has it, knows other orders than a bell.
// One that does not may show them.
func Knows(kind string) bool { return kind != "" && kind != "dumb" && kind != "linux" }

// short is a text without anything that ends an order, or begins another part of it.
func short(text string) string {
	return ansi.Truncate(strings.ReplaceAll(term.Line(text), ";", ","), most, "…")
}
