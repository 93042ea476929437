// Package live shows a run on a terminal while it goes on: above, as lines that stay, what is
// over; below them what is under way, drawn anew as it changes. Nothing but a [Screen] writes
// to the terminal meanwhile.
package live

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// Options say where a run is shown, and what is known of it.
type Options struct {
	Out     io.Writer                            // the terminal
	Size    func() (w, h int)                    // of it, in columns and lines
	Now     func() time.Time                     // for clocks
	Style   *lipgloss.Renderer                   // nil: none
	Plain   bool                                 // nothing is drawn: a line now and then says what is under way
	ASCII   bool                                 // the terminal has no other characters
	Reflows bool                                 // the terminal wraps its lines anew when it gets narrower
	Root    string                               // the work tree; what is in it is named from there
	Past    progress.Tally                       // of a session that is carried on
	Turn    time.Duration                        // the limit of a turn; 0: none
	Cost    float64                              // the budget in US dollars; 0: none
	Asked   func() (stop, pause bool, words int) // what the user has asked for; nil: nothing can be
	Keys    bool                                 // keys do something
}

const (
	frame    = 200 * time.Millisecond // between two pictures
	silence  = 30 * time.Second       // after which a word is said where nothing is drawn
	mostHeld = 1 << 20                // bytes that are kept while somebody else has the terminal
)

// A Screen is the [loop.Sink] and the [io.Writer] of a terminal. It is safe for concurrent
// use. [Screen.Close] has to be called.
type Screen struct {
	Options
	stop chan struct{}
	over sync.WaitGroup

	mu     sync.Mutex
	state  progress.State
	doing  map[loop.Step]*doing
	drawn  []string // the lines below, as they stand on the terminal
	width  int      // the terminal's when they were drawn
	begun  bool     // what was written last has no end yet
	hidden int      // so many have the terminal for themselves
	still  int      // so many want nothing drawn
	held   bytes.Buffer
	lost   int    // bytes that were not kept
	spin   int    // of the picture
	asked  *input // what the user is typing; nil: nothing
	notice string // a word on what a key has done
	until  time.Time
	all    bool // what agents print is shown
	help   bool
	change loop.Change
	wrote  time.Time // something, the last time
	err    error
}

// Fd returns the terminal's descriptor, 0 where it is none.
func (s *Screen) Fd() uintptr {
	if f, ok := s.Out.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return 0
}

// New begins to show a run.
func New(o Options) *Screen {
	if o.Style == nil {
		o.Style = lipgloss.NewRenderer(io.Discard)
	}
	s := &Screen{Options: o, stop: make(chan struct{}), doing: map[loop.Step]*doing{}, state: progress.State{Tally: o.Past}}
	s.wrote = s.Now()
	s.over.Go(s.run)
	return s
}

// Close takes away what is drawn below, and leaves the terminal to others.
func (s *Screen) Close() error {
	close(s.stop)
	s.over.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.draw(nil)
	return s.err
}

func (s *Screen) run() {
	next := time.NewTicker(frame)
	defer next.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-next.C:
			s.mu.Lock()
			s.spin++
			s.draw(s.picture())
			s.lives()
			s.mu.Unlock()
		}
	}
}

// Write shows lines that stay. They must be free of control sequences other than those of a
// style. While somebody else has the terminal, they wait.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hidden > 0 {
		if room := mostHeld - s.held.Len(); len(text) > room {
			s.lost += len(text) - room
			s.held.Write(text[:room])
		} else {
			s.held.Write(text)
		}
		return len(text), s.err
	}
	s.put(text)
	return len(text), s.err
}

// lives says who is at work, where nothing is drawn and nothing was written for some time.
func (s *Screen) lives() {
	if !s.Plain || s.hidden+s.still > 0 || s.begun || s.Now().Sub(s.wrote) < silence {
		return
	}
	if line := s.alive(); line != "" {
		s.put([]byte(line + "\n"))
	}
}

// put writes text above what is drawn.
func (s *Screen) put(text []byte) {
	if len(text) == 0 {
		return
	}
	s.draw(nil)
	s.begun = text[len(text)-1] != '\n'
	s.print(text)
}

func (s *Screen) print(text []byte) {
	s.wrote = s.Now()
	if _, err := s.Out.Write(text); err != nil && s.err == nil {
		s.err = err
	}
}

// Hide takes away what is drawn, until what is returned is called: somebody else needs the
// terminal. What is written meanwhile comes afterwards.
func (s *Screen) Hide() (show func()) { return s.away(&s.hidden) }

// Still draws nothing until what is returned is called, and writes as ever: the user is asked
// something.
func (s *Screen) Still() (move func()) { return s.away(&s.still) }

func (s *Screen) away(count *int) (back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw(nil)
	*count++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		*count--
		s.flush()
	})
}

// flush writes what has waited.
func (s *Screen) flush() {
	if s.hidden > 0 {
		return
	}
	text := bytes.Clone(s.held.Bytes())
	s.held.Reset()
	if s.lost > 0 {
		text = fmt.Appendf(text, "\n… %d bytes are not shown here: the log has them\n", s.lost)
		s.lost = 0
	}
	s.put(text)
}

// draw replaces what is drawn below by other lines.
func (s *Screen) draw(lines []string) {
	if s.hidden > 0 || lines != nil && (s.begun || s.still > 0) {
		return
	}
	width, _ := s.Size()
	same := len(lines) == len(s.drawn) && width == s.width
	for i := 0; same && i < len(lines); i++ {
		same = lines[i] == s.drawn[i]
	}
	if same {
		return
	}
	var out strings.Builder
	if n := s.rows(width); n > 0 {
		out.WriteString("\r")
		if n > 1 {
			fmt.Fprintf(&out, "\x1b[%dA", n-1)
		}
		out.WriteString("\x1b[J")
	}
	out.WriteString(strings.Join(lines, "\n"))
	s.drawn, s.width = lines, width
	s.print([]byte(out.String()))
}

// rows is how many rows of a terminal of this width hold what is drawn.
func (s *Screen) rows(width int) (n int) {
	for _, line := range s.drawn {
		n++
		if w := ansi.StringWidth(line); s.Reflows && width > 0 && w > width {
			n += (w - 1) / width
		}
	}
	return n
}

// Handle takes the next event. The error is the terminal's.
func (s *Screen) Handle(at loop.Stamp, e loop.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case loop.Activity:
		s.take(at, e)
	case loop.WaitStarted:
		if s.Plain && s.Keys {
			s.put([]byte("  " + tryAgain + "\n"))
		}
	case loop.DiffCaptured:
		s.change = e.Change
	case loop.ActorFinished, loop.CriticFinished, loop.TurnFinished, loop.ReviewRejected:
		delete(s.doing, at.Step)
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Inspected, loop.BaselineChecked, loop.ChecksFinished,
		loop.IterationFinished, loop.Noted, loop.Warned, loop.Finished, loop.WaitFinished, loop.TurnStarted, loop.Steered:
	}
	_ = s.state.Handle(at, e) // never fails
	if s.state.Ended {
		s.draw(nil)
	}
	return s.err
}

// Change is the last one that was captured.
func (s *Screen) Change() loop.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}
