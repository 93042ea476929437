// Package live shows a run on a terminal while it goes on: above, as lines that stay, what is
// over; below them what is under way, drawn anew as it changes. Nothing but a [Screen] writes
// to the terminal meanwhile.
package live

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/notice"
	"codeloops/internal/screen/term"
)

// A Terminal is where a run is shown.
type Terminal struct {
	Out     io.Writer
	Size    func() (w, h int)  // in columns and lines
	Resized <-chan os.Signal   // tells that it has another one; nil: nobody does
	Style   *lipgloss.Renderer // nil: none
	Plain   bool               // nothing is drawn: a line now and then says what is under way
	ASCII   bool               // it has no other characters
	Reflows bool               // it wraps its lines anew when it gets narrower
}

// Options say how a run is shown.
type Options struct {
	Terminal
	Now    func() time.Time                     // for clocks
	Root   string                               // the work tree; what is in it is named from there
	Past   progress.Tally                       // of a session that is carried on
	Limits Limits                               // of the run
	Asked  func() (stop, pause bool, words int) // what the user has asked for; nil: nothing can be
	Keys   bool                                 // keys do something
	Title  bool                                 // the terminal's title says where the run stands
	Diff   func() (string, error)               // looks at what differs now from the session's beginning; nil: nobody can
	Leave  func()                               // ends the watching of a run that goes on elsewhere; nil: it is this process's own
}

// Limits are those that are shown beside what was used.
type Limits struct {
	Turn, Whole time.Duration // 0: none
	Cost        float64       // US dollars; 0: none
	Tokens      int64         // 0: none
}

const (
	silence  = 30 * time.Second // after which a word is said where nothing is drawn
	mostHeld = 1 << 20          // bytes that are kept while somebody else has the terminal
)

// A Screen is the [loop.Sink] and the [io.Writer] of a terminal. It is safe for concurrent
// use. [Screen.Close] has to be called.
type Screen struct {
	Options
	frames

	mu sync.Mutex // guards what follows
	canvas
	board  board
	talk   talk
	titled string // the terminal's title; "": it is its own
}

// Fd returns the terminal's descriptor, 0 where it is none.
func (s *Screen) Fd() uintptr { return term.Fd(s.Out) }

// New begins to show a run.
func New(o Options) *Screen {
	if o.Style == nil {
		o.Style = lipgloss.NewRenderer(io.Discard)
	}
	s := &Screen{Options: o, frames: newFrames(), canvas: newCanvas(o.Terminal, o.Now)}
	s.board = board{Options: o, looks: looks{o.Style, o.ASCII, 0}, doing: map[loop.Step]*doing{}, state: progress.State{Tally: o.Past}}
	s.over.Go(func() { s.run(o.Resized, s.tick, s.redraw) })
	return s
}

// Close takes away what is drawn below, and leaves the terminal to others. What is written
// afterwards is written at once.
func (s *Screen) Close() error {
	s.end()
	s.mu.Lock()
	s.held.hidden = 0 // a pager may be there still: what waits for its end would be lost
	s.flush()
	s.draw(nil)
	if s.titled != "" {
		s.print([]byte(notice.Restore))
	}
	s.mu.Unlock()
	return s.pump.drain()
}

// Behind returns what writes to w when all that was shown stands on the terminal.
func (s *Screen) Behind(w io.Writer) io.Writer { return behind{s.pump, w} }

type behind struct {
	*pump
	then io.Writer
}

// Write implements [io.Writer].
func (b behind) Write(text []byte) (int, error) {
	_ = b.drain() // its error is the screen's
	return b.then.Write(text)
}

func (s *Screen) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board.spin++
	s.lives()
}

// redraw draws the next picture, and reports whether that has to be done once more: the terminal
// was not ready for it.
func (s *Screen) redraw() (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draw(s.picture())
}

// Write shows lines that stay. They must be free of control sequences other than those of a
// style. While somebody else has the terminal, they wait.
func (s *Screen) Write(text []byte) (int, error) {
	select {
	case <-s.stop:
		_ = s.pump.drain()
		return s.Out.Write(text)
	default:
	}
	err := s.pump.room(s.stop)
	defer s.change()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(text)
	return len(text), err
}

// lives says who is at work, where nothing is drawn and nothing was written for some time.
func (s *Screen) lives() {
	if !s.Plain || s.held.hidden+s.held.still > 0 || s.begun || s.Now().Sub(s.wrote) < silence {
		return
	}
	if line := s.board.alive(); line != "" {
		s.put([]byte(s.inASCII(line) + "\n"))
	}
}

// Hide takes away what is drawn, until what is returned is called: somebody else needs the
// terminal. What is written meanwhile comes afterwards.
func (s *Screen) Hide() (show func()) { return s.away(&s.held.hidden) }

// Still draws nothing until what is returned is called, and writes as ever: the user is asked
// something.
func (s *Screen) Still() (move func()) { return s.away(&s.held.still) }

func (s *Screen) away(count *int) (back func()) {
	s.mu.Lock()
	s.draw(nil)
	*count++
	s.mu.Unlock()
	_ = s.pump.drain() // its error is the screen's
	return sync.OnceFunc(func() {
		defer s.change()
		s.mu.Lock()
		defer s.mu.Unlock()
		*count--
		s.flush()
	})
}

// Handle takes the next event. The error is the terminal's.
func (s *Screen) Handle(at loop.Stamp, e loop.Event) error {
	defer s.change()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case loop.Activity:
		waiting, _, _, _ := s.pump.look()
		if s.board.take(at, e); s.talk.all && e.Kind == loop.NoticeOutput && s.held.hidden == 0 && waiting < mostPumped {
			width, _ := s.Size()
			s.put([]byte(s.inASCII(s.board.printed(e, width))))
		}
	case loop.WaitStarted:
		if s.Plain && s.Keys {
			s.put([]byte("  " + tryAgain + "\n"))
		}
	case loop.ActorFinished, loop.CriticFinished, loop.TurnFinished, loop.ReviewRejected:
		delete(s.board.doing, at.Step)
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.DiffCaptured, loop.Inspected, loop.BaselineChecked, loop.ChecksFinished,
		loop.IterationFinished, loop.Noted, loop.Warned, loop.Finished, loop.WaitFinished, loop.TurnStarted, loop.Steered:
	}
	s.board.did(e)
	_ = s.board.state.Handle(at, e) // never fails
	if s.board.state.Ended {
		s.draw(nil)
	}
	s.entitle()
	_, _, _, err := s.pump.look()
	return err
}

// entitle says in the title of the terminal where the run stands.
func (s *Screen) entitle() {
	title := s.board.title()
	if !s.Title || s.Plain || s.held.hidden > 0 || title == s.titled || title == "" {
		return
	}
	if s.titled == "" {
		s.print([]byte(notice.Keep))
	}
	s.titled = title
	s.print([]byte(notice.Title(title)))
}

// inASCII replaces signs that the terminal does not have.
func (s *Screen) inASCII(text string) string {
	if s.ASCII {
		return term.ASCII(text)
	}
	return text
}

// picture is what is under way, line by line, as it fits on the terminal.
func (s *Screen) picture() []string {
	width, height := s.Size()
	if s.Plain || !s.board.goesOn() || width <= 0 {
		return nil
	}
	lines := append([]string{""}, s.board.underWay()...)
	if s.talk.input != nil {
		lines = append(lines, "  "+s.talk.input.line(s.ASCII, width-3))
	} else {
		lines = append(lines, s.board.foot()...)
		lines = append(lines, s.told()...)
	}
	if room := max(1, min(height-1, 14)); len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	return fitted(lines, width, s.ASCII)
}
