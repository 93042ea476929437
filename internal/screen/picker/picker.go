// Package picker lets a person choose one of many things on a terminal.
//
// The things stand in a list, one a line; what is typed narrows it to those
// that hold every word of it, and below stands more about the one that is
// marked. The terminal is as it was before when [Pick] returns, however it does.
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

// ErrCancelled says that nothing was chosen: Esc or Ctrl+C.
var ErrCancelled = errors.New("nothing was chosen")

// A List is what there is to choose from. Its functions are given the index of
// a thing, and the columns that there are for a line. What they return must be
// free of control characters other than those of a style.
type List struct {
	Count   int
	Search  func(i int) string // what the words that are typed are looked for in
	Line    func(i, width int) string
	Preview func(i, width int) []string
	// Load is called, in another goroutine, for what stays marked; when it
	// returns, the preview is asked for again. Its context is over when
	// something else is marked. It may be nil.
	Load func(ctx context.Context, i int)
}

// Options are where, and for what, something is chosen.
type Options struct {
	In    *os.File  // a terminal
	Out   io.Writer // the same one
	Jobs  *term.Jobs
	Style *lipgloss.Renderer
	Title string // what is to be chosen, as the words above the list
}

// Pick shows the list and returns the index of what was chosen. The error is
// [ErrCancelled], the cause of ctx, or what the terminal says.
func Pick(ctx context.Context, list List, o Options) (int, error) {
	hold := o.Jobs.Hold()
	defer hold.Release()
	return pick(ctx, newModel(list, o), hold)
}

// A holder is asked when the process is to be stopped, and stops it.
type holder interface {
	Signals() <-chan os.Signal
	Resumable() bool
	Stop(ctx context.Context, terminal *os.File) error
}

// pick shows the list until something is chosen, or nothing is to be. The terminal is given
// back for as long as the process is stopped.
func pick(ctx context.Context, m *model, hold holder) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what is still being read, too
	m.holder, m.loader = hold, newLoader(m.list.Load)
	for {
		err := m.stay(ctx)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case err != nil:
			return 0, fmt.Errorf("show what there is to choose from: %w", err)
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
		m.loader.forget()
	}
}

// stay shows the list until it is left.
func (m *model) stay(ctx context.Context) error {
	keys, err := term.TakeKeys(m.opts.In)
	if err != nil {
		return err
	}
	defer keys.Close()
	sizes := make(chan os.Signal, 1)
	term.NotifyResize(sizes) // before the first picture is drawn: none is missed
	defer signal.Stop(sizes)
	if _, err := io.WriteString(m.opts.Out, enter); err != nil {
		return err
	}
	defer io.WriteString(m.opts.Out, leave) //nolint:errcheck // it has failed before then
	for m.left == stays {
		m.loader.follow(m.marked())
		if err := m.draw(); err != nil {
			return err
		}
		if err := m.next(ctx, keys.Pressed(), sizes); err != nil {
			return err
		}
	}
	return nil
}

// next waits for something to happen, and does what that is for.
func (m *model) next(ctx context.Context, keys <-chan string, sizes <-chan os.Signal) error {
	select {
	case key, more := <-keys:
		if !more {
			return fmt.Errorf("read keys: %w", io.ErrUnexpectedEOF)
		}
		m.press(key)
		for len(keys) > 0 && m.left == stays { // one picture will do for all that are there
			m.press(<-keys)
		}
	case s := <-m.holder.Signals():
		m.signalled(s)
	case <-m.loader.rests:
		m.loader.rested(ctx)
	case <-m.loader.loaded:
	case <-sizes:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// leaving is why the list is not shown any more.
type leaving int

const (
	stays     leaving = iota
	chosen            // what is marked
	cancelled         // for good
	stopped           // until the process goes on
	resumed           // to be shown anew: the process was stopped, the terminal is another's
)

// A model is the state of the list on the screen.
type model struct {
	list   List
	opts   Options
	search []string // by index, in lower case

	filter        string
	matches       []int // indices of what the filter leaves
	at            int   // of the marked one, in matches
	width, height int
	left          leaving
	pastes        bool // what comes is text, whatever it is

	holder holder
	loader *loader
}

func newModel(list List, o Options) *model {
	m := &model{list: list, opts: o, search: make([]string, list.Count), width: 80, height: 24, loader: &loader{}}
	for i := range m.search {
		m.search[i] = strings.ToLower(list.Search(i))
	}
	m.matches = m.all()
	return m
}

// all are the indices of the list.
func (m *model) all() []int {
	all := make([]int, len(m.search))
	for i := range all {
		all[i] = i
	}
	return all
}

// matching returns those of some that hold every word of a filter.
func (m *model) matching(filter string, some []int) []int {
	words := strings.Fields(strings.ToLower(filter))
	return slices.DeleteFunc(slices.Clone(some), func(i int) bool {
		return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(m.search[i], word) })
	})
}

// narrow takes a new filter. What was marked stays so while it matches.
func (m *model) narrow(filter string) {
	if filter == m.filter {
		return
	}
	marked, some := m.marked(), m.matches
	if !strings.HasPrefix(filter, m.filter) { // else none of the others can match now
		some = m.all()
	}
	m.filter, m.matches = filter, m.matching(filter, some)
	m.at = max(0, slices.Index(m.matches, marked))
}

// marked returns what is marked, -1 when there is nothing.
func (m *model) marked() int {
	if len(m.matches) == 0 {
		return -1
	}
	return m.matches[m.at]
}

// press does what a key is for, as the terminal has sent it.
func (m *model) press(key string) {
	if m.pastes && key != term.PasteEnds {
		m.narrow(m.filter + typed(key))
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
	case "\x7f", "\b":
		if runes := []rune(m.filter); len(runes) > 0 {
			m.narrow(string(runes[:len(runes)-1]))
		}
	case "\x17": // Ctrl+W
		left := strings.TrimRight(m.filter, " ")
		m.narrow(left[:strings.LastIndex(left, " ")+1])
	case "\x15": // Ctrl+U
		m.narrow("")
	default:
		if by := m.way(key); by != 0 {
			m.move(by)
		} else if !strings.HasPrefix(key, "\x1b") {
			m.narrow(m.filter + typed(key))
		}
	}
}

// way is how far a key leads, 0 for all others.
func (m *model) way(key string) int {
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

// signalled does what a signal asks for that another process has sent.
func (m *model) signalled(s os.Signal) {
	if !term.IsStop(s) {
		m.left = resumed
		return
	}
	m.stop()
}

// stop leaves the list for as long as the process is stopped.
func (m *model) stop() {
	if m.holder.Resumable() {
		m.left = stopped
	}
}

func (m *model) move(by int) {
	m.at = max(0, min(m.at+by, len(m.matches)-1))
}
