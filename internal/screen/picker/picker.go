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
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
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
	Env   []string  // of the process
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

// pick shows the list until something is chosen, or nothing is to be. Each stay on
// the terminal, from one stop of the process to the next, is a program of its own: in
// bubbletea 2.0.9, one that lets go of the terminal and takes it again may never draw
// anything more, as what ends the drawing can come after its new beginning.
func pick(ctx context.Context, m model, hold holder) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil) // what is still being read, too
	m.holder, m.loader = hold, newLoader(ctx, m.list.Load)
	for {
		end, err := m.stay(ctx, cancel)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case err != nil:
			return 0, fmt.Errorf("show what there is to choose from: %w", err)
		}
		switch m = end; m.left {
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
		m.loader.forget() // its answer would come to the program that is over
	}
}

// stay shows the list once, and returns how it was left. It listens for other sizes
// before the library asks for the first one: bubbletea 2.0.9 listens only after that,
// and misses what comes in between.
func (m model) stay(ctx context.Context, cancel context.CancelCauseFunc) (model, error) {
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(keyboard{m.opts.In, cancel}), tea.WithOutput(m.opts.Out),
		tea.WithEnvironment(m.opts.Env),
		// Styles know what the terminal may have; signals are the caller's.
		tea.WithColorProfile(colorprofile.ANSI), tea.WithoutSignalHandler())
	over := make(chan struct{})
	sizes := make(chan os.Signal, 1)
	term.NotifyResize(sizes)
	defer signal.Stop(sizes)
	var heard sync.WaitGroup
	heard.Go(func() {
		for {
			select {
			case s := <-m.holder.Signals():
				program.Send(signalMsg{s})
			case <-sizes:
				program.Send(m.size())
			case <-over:
				return
			}
		}
	})
	end, err := program.Run()
	close(over)
	heard.Wait()
	if end, ok := end.(model); ok {
		m = end
	}
	return m, err
}

// A keyboard tells when its terminal is gone: the library would wait for keys
// for ever.
type keyboard struct {
	*os.File
	gone context.CancelCauseFunc
}

func (k keyboard) Read(keys []byte) (int, error) {
	n, err := k.File.Read(keys)
	if errors.Is(err, io.EOF) {
		k.gone(fmt.Errorf("read keys: %w", io.ErrUnexpectedEOF))
	}
	return n, err
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
	all    []int    // the indices

	filter        string
	matches       []int // indices of what the filter leaves
	at            int   // of the marked one, in matches
	width, height int
	left          leaving

	holder holder
	loader *loader
}

func newModel(list List, o Options) model {
	m := model{list: list, opts: o, search: make([]string, list.Count), width: 80, height: 24, loader: &loader{}}
	for i := range m.search {
		m.search[i] = strings.ToLower(list.Search(i))
		m.all = append(m.all, i)
	}
	m.matches = m.all
	return m
}

// matching returns those of some that hold every word of a filter.
func (m model) matching(filter string, some []int) []int {
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
	marked, some := m.marked(), m.all
	if strings.HasPrefix(filter, m.filter) { // none of the others can match now
		some = m.matches
	}
	m.filter, m.matches = filter, m.matching(filter, some)
	m.at = max(0, slices.Index(m.matches, marked))
}

// marked returns what is marked, -1 when there is nothing.
func (m model) marked() int {
	if len(m.matches) == 0 {
		return -1
	}
	return m.matches[m.at]
}

// Init implements [tea.Model].
func (m model) Init() tea.Cmd { return m.loader.follow(m.marked()) }

// Update implements [tea.Model]. What comes when the list is being left does not
// change what was chosen.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.left != stays {
		return m, nil
	}
	switch msg := msg.(type) {
	case restedMsg:
		return m, m.loader.rested(int(msg))
	case tea.WindowSizeMsg:
		if m.resize(msg) {
			return m, m.size
		}
	case tea.PasteMsg:
		m.narrow(m.filter + typed(msg.Content))
	case signalMsg:
		m.signalled(msg.Signal)
	case tea.KeyPressMsg:
		if known := m.press(msg.String()); !known {
			m.narrow(m.filter + typed(msg.Text))
		}
	}
	if m.left != stays {
		return m, tea.Quit
	}
	return m, m.loader.follow(m.marked())
}

// size is how large the terminal is now. The library's own question for that writes, in
// bubbletea 2.0.9, what its listener may be writing at the same time.
func (m model) size() tea.Msg {
	width, height, err := term.Size(m.opts.In)
	if err != nil {
		return nil // whoever reads from the terminal says what is wrong with it
	}
	return tea.WindowSizeMsg{Width: width, Height: height}
}

// resize takes a size, and reports whether it is another one. If so, it has to be
// asked for again: one that was found earlier may come later.
func (m *model) resize(to tea.WindowSizeMsg) bool {
	known := m.width == to.Width && m.height == to.Height
	m.width, m.height = to.Width, to.Height
	return !known
}

// press does what a key is for; known is false for one that is text.
func (m *model) press(key string) (known bool) {
	switch key {
	case "enter", "ctrl+j":
		if len(m.matches) > 0 {
			m.left = chosen
		}
	case "esc", "ctrl+c", "ctrl+g":
		m.left = cancelled
	case "ctrl+z":
		m.stop()
	case "up", "ctrl+p":
		m.move(-1)
	case "down", "ctrl+n":
		m.move(1)
	case "pgup":
		m.move(-m.rows())
	case "pgdown":
		m.move(m.rows())
	case "home":
		m.move(-len(m.matches))
	case "end":
		m.move(len(m.matches))
	case "backspace", "ctrl+h":
		if runes := []rune(m.filter); len(runes) > 0 {
			m.narrow(string(runes[:len(runes)-1]))
		}
	case "ctrl+w":
		left := strings.TrimRight(m.filter, " ")
		m.narrow(left[:strings.LastIndex(left, " ")+1])
	case "ctrl+u":
		m.narrow("")
	default:
		return false
	}
	return true
}

// A signalMsg is a signal that another process has sent.
type signalMsg struct{ os.Signal }

// signalled does what it asks for.
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
