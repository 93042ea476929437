// Package picker lets a person choose one of many items on a terminal.
//
// Each item is a line of a list. Typing narrows the list to the items that contain every word
// typed, and a preview below shows more about the marked one. [Pick] always leaves the terminal as
// it found it.
package picker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/screen/term"
)

// ErrCancelled says that nothing was chosen: the user pressed Esc or Ctrl+C.
var ErrCancelled = errors.New("nothing was chosen")

// A List holds the items to choose from. Its functions take the index of an item and the width of a
// line in columns. Their results must not contain control characters other than those of styles.
type List struct {
	Count   int
	Search  func(i int) string // the text that is searched
	Line    func(i, width int) string
	Preview func(i, width int) []string
}

// Options say where something is chosen, and for what.
type Options struct {
	In    *os.File  // a terminal
	Out   io.Writer // the same terminal
	Jobs  *term.Jobs
	Style *lipgloss.Renderer
	ASCII bool   // the terminal can show no other characters
	Title string // the question above the list
}

// Pick shows the list and returns the index of the chosen item. The error is [ErrCancelled], the
// cause of ctx, or a terminal error.
func Pick(ctx context.Context, list List, o Options) (int, error) {
	hold := o.Jobs.Hold()
	defer hold.Release()
	return pick(ctx, newModel(list, o), hold)
}

// A holder learns of requests to stop the process, and stops it.
type holder interface {
	Signals() <-chan os.Signal
	Resumable() bool
	Stop(ctx context.Context, terminal *os.File) error
}

// pick shows the list until the user chooses or cancels. While the process is stopped, the terminal
// is back in its old state.
func pick(ctx context.Context, m *model, hold holder) (int, error) {
	m.holder = hold
	for {
		err := m.show(ctx)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case err != nil:
			return 0, fmt.Errorf("show the list: %w", err)
		}
		switch m.left {
		case chosen:
			return m.matches[m.at], nil
		case stopped:
			if err = hold.Stop(ctx, m.opts.In); err != nil {
				return 0, err
			}
		case resumed:
		case stays, cancelled:
			return 0, ErrCancelled
		}
		m.left = stays
	}
}

func (m *model) show(ctx context.Context) error {
	keys, err := term.TakeKeys(m.opts.In)
	if err != nil {
		return err
	}
	defer keys.Close()
	sizes := make(chan os.Signal, 1)
	term.NotifyResize(sizes) // before the first draw, so that no resize is missed
	defer signal.Stop(sizes)
	if _, err := io.WriteString(m.opts.Out, enter); err != nil {
		return err
	}
	defer io.WriteString(m.opts.Out, leave) //nolint:errcheck // an earlier write has failed then
	for m.left == stays {
		if err := m.draw(); err != nil {
			return err
		}
		if err := m.next(ctx, keys.Pressed(), sizes); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) next(ctx context.Context, keys <-chan string, sizes <-chan os.Signal) error {
	select {
	case key, more := <-keys:
		if !more {
			return fmt.Errorf("read keys: %w", io.ErrUnexpectedEOF)
		}
		m.press(key)
		for len(keys) > 0 && m.left == stays { // draw once for all keys that are waiting
			m.press(<-keys)
		}
	case s := <-m.holder.Signals():
		m.handleSignal(s)
	case <-sizes:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// leaving says why the list is no longer shown.
type leaving int

const (
	stays     leaving = iota
	chosen            // the marked item
	cancelled         // for good
	stopped           // until the process is resumed
	resumed           // to be drawn again: the process was stopped without notice
)

type model struct {
	list   List
	opts   Options
	search []string // by index, in lower case

	filter        string
	matches       []int // indices of the items that match the filter
	at            int   // position of the marked item in matches
	width, height int
	left          leaving
	pastes        bool // a paste is under way: keys are text

	holder holder
}

func newModel(list List, o Options) *model {
	m := &model{list: list, opts: o, search: make([]string, list.Count), width: 80, height: 24}
	for i := range m.search {
		m.search[i] = strings.ToLower(list.Search(i))
	}
	m.matches = m.matching("")
	return m
}

// matching returns the indices of the items that contain every word of a filter.
func (m *model) matching(filter string) (matches []int) {
	words := strings.Fields(strings.ToLower(filter))
	for i, text := range m.search {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			matches = append(matches, i)
		}
	}
	return matches
}

// narrow sets a new filter. The marked item stays marked if it still matches.
func (m *model) narrow(filter string) {
	marked := m.marked()
	m.filter, m.matches = filter, m.matching(filter)
	m.at = max(0, slices.Index(m.matches, marked))
}

// marked returns the index of the marked item, -1 if there is none.
func (m *model) marked() int {
	if len(m.matches) == 0 {
		return -1
	}
	return m.matches[m.at]
}

// press handles a key, given as the bytes that the terminal sent.
func (m *model) press(key string) {
	if m.pastes && key != term.PasteEnds {
		m.narrow(m.filter + term.Printable(key))
		return
	}
	switch key {
	case term.PasteBegins, term.PasteEnds:
		m.pastes = key == term.PasteBegins
	case "\r", "\n":
		if len(m.matches) > 0 {
			m.left = chosen
		}
	case "\x1b", "\x03", "\x07": // Esc, Ctrl+C, Ctrl+G
		m.left = cancelled
	case "\x1a": // Ctrl+Z
		m.stop()
	default:
		if by := m.distance(key); by != 0 {
			m.move(by)
		} else {
			m.narrow(term.Edit(m.filter, key))
		}
	}
}

// distance returns how many lines a key moves the mark; 0 for other keys.
func (m *model) distance(key string) int {
	switch key {
	case "\x1b[A", "\x1bOA", "\x10": // up, Ctrl+P
		return -1
	case "\x1b[B", "\x1bOB", "\x0e": // down, Ctrl+N
		return 1
	case "\x1b[5~":
		return -m.rows()
	case "\x1b[6~":
		return m.rows()
	case "\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~": // home
		return -m.list.Count
	case "\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~": // end
		return m.list.Count
	}
	return 0
}

// handleSignal handles a job control signal from outside.
func (m *model) handleSignal(s os.Signal) {
	if !term.IsStop(s) {
		m.left = resumed
		return
	}
	m.stop()
}

// stop leaves the list while the process is stopped.
func (m *model) stop() {
	if m.holder.Resumable() {
		m.left = stopped
	}
}

func (m *model) move(by int) {
	m.at = max(0, min(m.at+by, len(m.matches)-1))
}
