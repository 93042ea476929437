// Package live shows a run on a terminal while it goes on: finished steps as permanent lines and,
// below them, what is under way, redrawn as it changes. Until it is closed, only a [Screen] may
// write to the terminal.
package live

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/term"
)

// A Terminal is where a run is shown.
type Terminal struct {
	Out     io.Writer
	Size    func() (w, h int) // columns and lines
	Resized <-chan os.Signal  // a resize; nil: never
	Style   *lipgloss.Renderer
	Plain   bool // nothing is redrawn: a line now and then says what is under way
	ASCII   bool // it cannot show other characters
	Reflows bool // it wraps lines again when it gets narrower
}

// Over returns the terminal on standard error, and streams that reach it past whatever is put in front of it, until it
// is released.
func Over(s *term.Streams) (t Terminal, own *term.Streams, release func()) {
	own = &term.Streams{In: s.In, Out: s.Err, Err: s.Err, OutTTY: s.ErrTTY, ErrTTY: s.ErrTTY, Columns: s.Columns}
	resized := make(chan os.Signal, 1)
	term.NotifyResize(resized)
	return Terminal{
		Out: own.Err, Size: own.Size, Resized: resized, Style: s.ErrRenderer(),
		ASCII: s.ASCII, Plain: s.Plain || !s.ErrTTY, Reflows: s.Reflows,
	}, own, func() { signal.Stop(resized) }
}

// Fd returns the terminal's descriptor.
func (t Terminal) Fd() uintptr { return term.Fd(t.Out) }

// Options say how a run is shown.
type Options struct {
	Terminal
	Now    func() time.Time                     // for clocks
	Root   string                               // the work tree: paths in it are shown relative to it
	Past   progress.State                       // of a resumed session
	Limits Limits                               // of the run
	Asked  func() (stop, pause bool, words int) // requests that are pending
	Keys   bool                                 // keys are read
	Title  bool                                 // show the state of the run in the terminal's title
	Diff   func() (string, error)               // returns the current change
	Leave  func()                               // stops watching a run of another process; nil: it is this process's own
}

// Limits are shown beside what was used; 0 is none.
type Limits struct {
	Turn, Whole time.Duration
	Cost        float64 // US dollars
	Tokens      int64
}

const (
	silence  = 30 * time.Second // of a plain display before it says that it is alive
	mostHeld = 1 << 20          // bytes kept while somebody else uses the terminal
)

// A Screen is the [loop.Sink] and the [io.Writer] of a terminal. It is safe for concurrent use.
// [Screen.Close] must be called.
type Screen struct {
	Options
	*Lines // its mutex guards what follows

	board board
	talk  talk
}

// New begins to show a run.
func New(o Options) *Screen {
	s := &Screen{Options: o, board: board{Options: o, doing: map[loop.Step]*doing{}, state: o.Past}}
	s.Lines = newLines(o.Terminal, o.Now, s.picture)
	s.begin()
	return s
}

// SyncedWriter returns a writer to w, which may be the terminal, too. It first waits until everything shown is on the
// terminal, and keeps what is written while somebody else uses that.
func (s *Screen) SyncedWriter(w io.Writer) io.Writer { return syncedWriter{s.Lines, w} }

type syncedWriter struct {
	*Lines
	then io.Writer
}

func (b syncedWriter) Write(text []byte) (int, error) {
	b.mu.Lock()
	kept := b.held.hidden > 0
	if kept {
		b.held.late = append(b.held.late, late{b.then, bytes.Clone(text)})
	}
	b.mu.Unlock()
	if kept {
		return len(text), nil
	}
	_ = b.pump.drain() // the screen reports its error
	return b.then.Write(text)
}

// Write shows permanent lines. They must not contain control sequences other than styles. While
// somebody else uses the terminal, they wait. After Close they go straight to the terminal.
func (s *Screen) Write(text []byte) (int, error) {
	select {
	case <-s.stop:
		_ = s.pump.drain()
		return s.Out.Write(text)
	default:
	}
	err := s.pump.room(s.stop)
	_, _ = s.Lines.Write(text) // never fails
	return len(text), err
}

// signOfLife says who is at work if a plain display has been silent for some time.
func (s *Screen) signOfLife() {
	if !s.Plain || s.held.hidden+s.held.still > 0 || s.begun || s.Now().Sub(s.wrote) < silence {
		return
	}
	if line := s.board.aliveLine(); line != "" {
		s.put([]byte(s.inASCII(line) + "\n"))
	}
}

// Handle takes the next event. The error is the terminal's.
func (s *Screen) Handle(at loop.Stamp, e loop.Event) error {
	defer s.Change()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) { //nolint:gochecksumtype // the others show in the picture alone
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
	}
	s.board.finished(e)
	_ = s.board.state.Handle(at, e) // never fails
	if s.board.state.Outcome != nil {
		s.draw(nil)
	}
	if s.Title && !s.Plain {
		s.entitle(s.board.title())
	}
	_, _, _, err := s.pump.look()
	return err
}

func (s *Screen) picture(width, height, beat int) []string {
	s.board.beat = beat
	s.signOfLife()
	if s.Plain || !s.board.goesOn() || width <= 0 {
		return nil
	}
	lines := append([]string{""}, s.board.task()...)
	lines = append(lines, s.board.underWay()...)
	room := max(1, min(height-1, 14))
	if s.talk.input != nil {
		lines = append(lines, "  "+s.talk.input.line(s.ASCII, width-3))
	} else {
		lines = append(lines, s.board.foot()...)
		lines = append(lines, s.footer(room-len(lines))...)
	}
	if len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	return lines
}
