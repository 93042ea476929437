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
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/lipgloss"
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
	In    io.Reader // a terminal
	Out   io.Writer // the same one
	Env   []string  // of the process
	Style *lipgloss.Renderer
	Title string // what is to be chosen, as the words above the list
}

// Pick shows the list and returns the index of what was chosen. The error is
// [ErrCancelled], the cause of ctx, or what the terminal says.
func Pick(ctx context.Context, list List, o Options) (int, error) {
	m := newModel(list, o)
	m.loader = newLoader(ctx, list.Load)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env),
		// Styles know what the terminal may have; signals are the caller's.
		tea.WithColorProfile(colorprofile.ANSI), tea.WithoutSignalHandler())
	defer func() { m.loader.cancel() }()
	defer m.stopper.serve(program)()
	end, err := program.Run()
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, fmt.Errorf("show what there is to choose from: %w", err)
	}
	if m = end.(model); !m.chosen {
		return 0, ErrCancelled
	}
	return m.matches[m.at], nil
}

// A model is the state of the list on the screen.
type model struct {
	list   List
	opts   Options
	search []string // by index, in lower case

	filter        string
	matches       []int // indices of what the filter leaves
	at            int   // of the marked one, in matches
	width, height int
	chosen        bool

	stopper *stopper
	loader  *loader
}

func newModel(list List, o Options) model {
	m := model{list: list, opts: o, search: make([]string, list.Count), width: 80, height: 24, stopper: &stopper{}, loader: &loader{}}
	for i := range m.search {
		m.search[i] = strings.ToLower(list.Search(i))
	}
	m.matches = m.matching("", nil)
	return m
}

// matching returns those of some, nil being all, that hold every word of a
// filter.
func (m model) matching(filter string, some []int) []int {
	words := strings.Fields(strings.ToLower(filter))
	fits := func(i int) bool {
		for _, word := range words {
			if !strings.Contains(m.search[i], word) {
				return false
			}
		}
		return true
	}
	matches := make([]int, 0, 64)
	if some != nil {
		for _, i := range some {
			if fits(i) {
				matches = append(matches, i)
			}
		}
		return matches
	}
	for i := range m.search {
		if fits(i) {
			matches = append(matches, i)
		}
	}
	return matches
}

// narrow takes a new filter. What was marked stays so while it matches.
func (m *model) narrow(filter string) {
	if filter == m.filter {
		return
	}
	marked := m.marked()
	var some []int
	if strings.HasPrefix(filter, m.filter) { // none of the others can match now
		some = m.matches
	}
	m.filter, m.matches = filter, m.matching(filter, some)
	m.at = 0
	for at, i := range m.matches {
		if i == marked {
			m.at = at
		}
	}
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

// Update implements [tea.Model].
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case restedMsg:
		return m, m.loader.rested(int(msg))
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.PasteMsg:
		m.narrow(m.filter + typed(msg.Content))
	case tea.KeyPressMsg:
		cmd, known := m.press(msg.String())
		if cmd != nil {
			return m, cmd
		}
		if !known {
			m.narrow(m.filter + typed(msg.Text))
		}
	}
	return m, m.loader.follow(m.marked())
}

// press does what a key is for; known is false for one that is text.
func (m *model) press(key string) (cmd tea.Cmd, known bool) {
	switch key {
	case "enter", "ctrl+j":
		if m.chosen = len(m.matches) > 0; m.chosen {
			return tea.Quit, true
		}
	case "esc", "ctrl+c", "ctrl+g":
		return tea.Quit, true
	case "ctrl+z":
		return m.stopper.stop, true
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
		return nil, false
	}
	return nil, true
}

func (m *model) move(by int) {
	m.at = max(0, min(m.at+by, len(m.matches)-1))
}
