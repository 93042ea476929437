// Package render shows a run's events to a person or to a program.
//
// What goes where: progress is for standard error, one line as each step
// ends; the end of a run is its result and is for standard output, unless
// that is taken by a document for programs. Everything that an agent wrote is
// cleaned of terminal control sequences first. Nothing here reads a clock or
// asks the system: what is shown follows from the events alone, so that a
// recorded run looks as it did live.
package render

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

// A Format names a way to show a run.
type Format string

// The formats.
const (
	Pretty  Format = "pretty"
	Compact Format = "compact"
	JSON    Format = "json"
)

// Options say where a run is shown, and how.
type Options struct {
	Progress io.Writer            // usually standard error
	Style    *lipgloss.Renderer   // of progress
	Width    int                  // columns; 0: it is no terminal, and no line is cut
	Columns  func() int           // the columns now, in place of Width; nil: they do not change
	ASCII    bool                 // signs that are no ASCII are replaced by some that are
	Live     bool                 // what is under way is shown elsewhere
	Asks     bool                 // so are the questions of the run, and what is answered
	Verbose  bool                 // show what the agents print while they work
	Quiet    bool                 // no progress, only the result
	Zone     *time.Location       // of the times of day; nil is UTC
	Past     progress.Tally       // of a session that is carried on: what it had come to
	Kept     map[string]loop.Step // of which steps it had kept the state, by checkpoint
	Result
	After
}

// Result says where the result of a run is shown, and how.
type Result struct {
	Out    io.Writer          // usually standard output
	Ending *lipgloss.Renderer // its styles
	Room   int                // columns; 0: it is no terminal, and no line is cut
	Log    func() string      // where the session log is; nil: there is none
}

// After is what there is to say at the end of a run beside what its events tell; of one that
// is played back there is nothing.
type After struct {
	// Now looks at what has changed, where nobody has since an agent was at work; nil: nobody can.
	Now func() (c loop.Change, ok bool)
	// Next are the commands that make sense now. Changed is whether the work tree is another
	// than it was when the session began.
	Next func(o loop.Outcome, changed bool) []Step
}

// A Step is a command that the user may want to go on with.
type Step struct{ For, Command string }

// Whole is a width to which no line is cut.
const Whole = math.MaxInt32

// Run returns the sink that shows a run. JSON goes to Progress alone, also
// when Quiet is set: it was asked for by name.
func Run(f Format, o Options) (loop.Sink, error) {
	switch f {
	case Pretty:
		p := &pretty{page: newPage(o)}
		return follower{&p.page, p.show}, nil
	case Compact:
		c := &compact{page: newPage(o)}
		return follower{&c.page, c.show}, nil
	case JSON:
		return events{o.Progress}, nil
	}
	return nil, fmt.Errorf("no renderer for the format %q", f)
}

// A follower shows each event to whoever sees where the run stood when it came.
type follower struct {
	*page
	show func(loop.Stamp, loop.Event)
}

func (f follower) Handle(at loop.Stamp, e loop.Event) error {
	f.err = nil
	if f.Columns != nil {
		f.Width = f.Columns()
		f.narrow()
	}
	f.show(at, e)
	_ = f.state.Handle(at, e) // never fails
	if c, ok := f.state.Forks().Captured(at, e); ok {
		f.looked(c)
	}
	return f.err
}

type styles struct {
	strong, faint, code, good, warn, bad lipgloss.Style
}

func newStyles(r *lipgloss.Renderer) styles {
	if r == nil {
		r = lipgloss.NewRenderer(io.Discard)
	}
	colour := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{
		strong: r.NewStyle().Bold(true),
		faint:  r.NewStyle().Faint(true),
		code:   colour("6"),
		good:   colour("2"),
		warn:   colour("3"),
		bad:    colour("1"),
	}
}

func (s styles) decision(v loop.Verdict) string {
	switch {
	case v.Escalation != "":
	case v.Decision == loop.Done:
		return s.good.Render(v.Word())
	case v.Decision == loop.Continue:
		return s.warn.Render(v.Word())
	}
	return s.bad.Render(v.Word())
}

// page is what both human formats have in common: how lines are written, and where the
// run stands.
type page struct {
	Options
	styles
	ends  styles // of the result
	state progress.State

	files   []loop.FileChange // that differ as of the last look, without their texts
	applied []loop.Step       // whose work was made the user's
	err     error             // the first of an event; what comes after it is not written
}

func newPage(o Options) page {
	if o.Quiet {
		o.Progress = io.Discard
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Width == 0 {
		o.Width = Whole
	}
	if o.Room == 0 {
		o.Room = Whole
	}
	p := page{Options: o, styles: newStyles(o.Style), ends: newStyles(o.Ending), state: progress.State{Tally: o.Past, Kept: maps.Clone(o.Kept)}}
	p.narrow()
	return p
}

// narrow leaves room for what is wider in ASCII.
func (p *page) narrow() {
	if p.ASCII && p.Width < Whole {
		p.Width -= len("...") - 1
	}
}

// noted says what a step of the strategy came to; "" where that tells a person nothing.
func (p *page) noted(e loop.Noted) string {
	if p.known(e) {
		return ""
	}
	said, text := words.Note(e.Name), e.Text
	of := p.state.Kept[text]
	if e.Name == loop.NoteApplied || e.Name == loop.NoteRestored { // people know steps, not commits
		text = string(of)
	}
	if e.Name == loop.NoteApplied {
		p.applied = append(p.applied, of)
	}
	part := func(step loop.Step) bool { return step.In(loop.Step(text)) }
	if e.Name == loop.NoteForkDiscarded && slices.ContainsFunc(p.applied, part) {
		text += ", of which what is done was applied"
	}
	if text != "" {
		said += ": " + term.Line(text)
	}
	if passed := Passed(e.Checks); e.Name == loop.NoteCommand && len(e.Checks) == 1 {
		c := e.Checks[0]
		said += ": " + fate(c.Ending, c.ExitCode)
	} else if passed != "" {
		said += ": " + passed
	}
	if e.Name == loop.NoteCheckpoint {
		said += ", " + Stat(e.Change.Shape())
	}
	return said
}

// known reports whether what a step came to is nothing, or people learn of it elsewhere.
func (p *page) known(e loop.Noted) bool {
	switch e.Name {
	case loop.NoteRejudge:
		return true // the next iteration
	case loop.NoteForked, loop.NoteForkDiscarded:
		return loop.Step(e.Text).Name() == loop.ForkPlace // the step around it tells all
	case loop.NoteChecks:
		return len(e.Checks) == 0 // there are none to run
	case loop.NoteQuestion, loop.NoteAnswer:
		return p.Asks
	}
	return false
}

// Passed says how many of some checks have passed; "" where there are none.
func Passed(checks []loop.CheckResult) string {
	if len(checks) == 0 {
		return ""
	}
	passed := 0
	for _, c := range checks {
		if c.Passed() {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d passed", passed, len(checks))
}

// Concerns says, a line each, what the rules of the run point at in the work.
func Concerns(i loop.Inspection) []string {
	const most = 500 // bytes
	lines := make([]string, len(i.Concerns))
	for n, c := range i.Concerns {
		lines[n] = term.Line(c.Summary(most))
	}
	return lines
}

func (p *page) sayf(format string, args ...any) {
	p.print(p.Progress, fmt.Sprintf(format, args...)+"\n")
}

func (p *page) print(w io.Writer, text string) {
	if p.ASCII {
		text = term.ASCII(text)
	}
	if p.err == nil {
		_, p.err = io.WriteString(w, text)
	}
}
