package live

import (
	"errors"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// A Steerer carries out what keys ask for.
type Steerer interface {
	Steer(kind loop.SteerKind, text string) error
	Hurry() // ends a wait for a service
}

func (b *board) helpLines() []string {
	last := "Ctrl+C  stop now; twice: at once"
	if b.Leave != nil {
		last = "q       leave; the run goes on (as Ctrl+C does)"
	}
	return []string{
		"s       stop after this iteration; again: do not",
		"p       pause after this turn; again: go on",
		"f       tell the actor something in its next turn",
		"i       interrupt the actor's turn, and tell it something",
		"o       show all that agents print; again: do not",
		"d       the changes so far",
		"w       try again now, in a wait",
		last,
	}
}

// said is how long the message about a key is shown.
const said = 4 * time.Second

// A talk is the state of the dialogue with the user.
type talk struct {
	input  *input // the line being typed; nil: none
	notice string // a message about the last key
	until  time.Time
	all    bool // show what agents print
	help   bool
	looks  bool // the work tree is being read for a diff
	left   bool // the user has left: keys do nothing more
}

// Press handles a key: a character or an escape sequence, as the terminal sent it. pager is called
// in another goroutine with a text to read.
func (s *Screen) Press(key string, to Steerer, pager func(text string)) {
	defer s.Change()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.talk.left {
		return
	}
	if s.talk.input != nil {
		if sent := s.talk.press(key); sent != nil {
			s.steer(to, sent.kind, strings.TrimSpace(sent.text))
		}
		return
	}
	key = strings.ToLower(key)
	if s.Plain && !strings.Contains("spowq", key) { // there is no place to type or read
		return
	}
	s.obey(key, to, pager)
}

// obey does what a key is for.
func (s *Screen) obey(key string, to Steerer, pager func(text string)) {
	switch key {
	case "s":
		s.toggle(to, func(stop, _ bool) bool { return stop }, loop.SteerStop)
	case "p":
		s.toggle(to, func(_, pause bool) bool { return pause }, loop.SteerPause)
	case "f":
		s.talk.input = &input{kind: loop.SteerSay, label: "tell the actor in its next turn"}
	case "i":
		s.talk.input = &input{kind: loop.SteerInterrupt, label: "interrupt the turn, and tell the actor"}
	case "o":
		s.talk.all = !s.talk.all
		s.say(map[bool]string{true: "all that agents print is shown", false: "what agents print is not shown any more"}[s.talk.all])
	case "d":
		s.showDiff(pager)
	case "w":
		to.Hurry()
	case "q":
		if s.Leave != nil {
			s.talk.left = true
			s.Leave()
		}
	case "?", "h":
		s.talk.help, s.talk.notice = !s.talk.help, ""
	}
}

// Paste adds pasted text to the line being typed. Without one it is ignored: it was not meant as
// keys.
func (s *Screen) Paste(text string) {
	defer s.Change()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.talk.input != nil:
		s.talk.input.put(text)
	case s.Plain:
		s.say("pasted text is not read as keys")
	default:
		s.say("pasted text is not read as keys; press f first to send it to the actor")
	}
}

// showDiff pages the current change or, if that cannot be read, the last captured one.
func (s *Screen) showDiff(pager func(text string)) {
	if s.talk.looks {
		return
	}
	s.talk.looks = true
	s.say("looking at the work tree")
	text, as := s.board.change.Patch(), ", as of the last look"
	go func() {
		if now, err := s.Diff(); err == nil {
			text, as = now, ""
		}
		if s.diffRead(text, as) {
			pager(text)
		}
	}()
}

// diffRead ends a look at the work tree, and reports whether there is something to page.
func (s *Screen) diffRead(text, as string) bool {
	defer s.Change()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.talk.looks, s.talk.notice = false, ""
	if text == "" {
		s.say("nothing has changed so far" + as)
	}
	return text != "" && s.board.state.Outcome == nil
}

// toggle asks for something, or takes it back.
func (s *Screen) toggle(to Steerer, is func(stop, pause bool) bool, kind loop.SteerKind) {
	if stop, pause, _ := s.Asked(); is(stop, pause) {
		kind = loop.SteerGoOn
	}
	s.steer(to, kind, "")
}

func (s *Screen) steer(to Steerer, kind loop.SteerKind, text string) {
	err := to.Steer(kind, text)
	switch {
	case errors.Is(err, loop.ErrNoTurn):
		s.say("the actor is not at work; f tells it something in its next turn")
	case err != nil:
		s.say(term.Line(err.Error())) // it may come from another process
	case s.Plain:
		s.say(map[loop.SteerKind]string{
			loop.SteerStop: "stops after this iteration", loop.SteerPause: "pauses after this turn", loop.SteerGoOn: "goes on",
		}[kind])
	}
}

func (s *Screen) say(notice string) {
	if s.Plain {
		s.put([]byte("  " + notice + "\n"))
	}
	s.talk.notice, s.talk.until = notice, s.Now().Add(said)
}

// footer shows requests that have not taken effect yet, the last message, and the keys, or, if room
// lines are not enough for them, how to see the keys.
func (s *Screen) footer(room int) (lines []string) {
	if asked := s.board.pending(); len(asked) > 0 {
		asked[0] = "  " + asked[0]
		for _, line := range s.flow(asked, 2) {
			lines = append(lines, s.Style.NewStyle().Foreground(term.Colour(yellow)).Render(line))
		}
	}
	switch {
	case s.talk.notice != "" && s.Now().Before(s.talk.until):
		return append(lines, "  "+s.talk.notice)
	case s.talk.help:
		for _, line := range s.board.helpLines() {
			lines = append(lines, s.faint("  "+line))
		}
	case s.Keys:
		keys := []string{"  s stop", "p pause", "f feedback", "i interrupt", "d diff", "? help"}
		if s.Leave != nil {
			keys = append(keys, "q leave")
		}
		shown := s.flow(keys, 2)
		if len(lines)+len(shown) > room {
			shown = []string{"  ? help"}
		}
		for _, line := range shown {
			lines = append(lines, s.faint(line))
		}
	}
	return lines
}

// pending lists the user's requests that have not taken effect yet.
func (b *board) pending() (asked []string) {
	stop, pause, words := b.Asked()
	if stop {
		asked = append(asked, "stops after this iteration (s: no)")
	}
	switch {
	case pause && b.state.Paused:
		asked = append(asked, "paused (p: go on)")
	case pause:
		asked = append(asked, "pauses after this turn (p: no)")
	}
	if words > 0 {
		asked = append(asked, "your words go to the actor's next turn")
	}
	return asked
}

// An input is a line that the user types.
type input struct {
	kind  loop.SteerKind
	label string
	text  string
	full  bool // some of what was typed did not fit
}

// leastInput is how many columns a text to be typed needs.
const leastInput = 16

// line shows what was typed so far, or the end of it if there is little room.
func (i *input) line(ascii bool, width int) string {
	cursor, label, cut := "▏", i.label, "…"
	if ascii {
		cursor, cut = "_", "~"
	}
	if ansi.StringWidth(label) > width-leastInput {
		label = "actor" // or there would be no room for the text
	}
	if i.full {
		label += " (no more fits)"
	}
	text := strings.NewReplacer("\n", " ", "\t", " ").Replace(i.text)
	line := label + ": " + text + cursor
	if over := ansi.StringWidth(line) - width; over > 0 {
		return label + ": " + ansi.TruncateLeft(text, over+1, cut) + cursor
	}
	return line + "   (Enter sends, Esc leaves)"
}

const mostTyped = 64 << 10 // bytes

func (i *input) put(text string) {
	room := mostTyped - len(i.text)
	i.full = len(text) > room
	i.text += strings.ToValidUTF8(text[:min(len(text), room)], "")
}

// press handles a key while a line is typed, and returns the line if it is to be sent.
func (t *talk) press(key string) (sent *input) {
	in := t.input
	switch key {
	case "\x1b":
		t.input = nil
	case "\r", "\n":
		t.input = nil
		if in.kind == loop.SteerInterrupt || strings.TrimSpace(in.text) != "" {
			return in
		}
	default:
		switch edited := term.Edit(in.text, key); {
		case len(edited) > len(in.text):
			in.put(edited[len(in.text):])
		case len(edited) < len(in.text):
			in.text, in.full = edited, false
		}
	}
	return nil
}
