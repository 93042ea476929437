// Package render shows a run's events to a person or to a program.
//
// Progress, one line per step, is for standard error. The result of the run is for standard output,
// unless a document for programs takes that. Everything that an agent wrote is first cleaned of
// terminal control sequences. Nothing here reads a clock or asks the system: the display follows
// from the events alone, so that a recorded run looks as it did live.
package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
)

// A Format names a way to show a run.
type Format string

// The formats.
const (
	Pretty  Format = "pretty"
	Compact Format = "compact"
	JSON    Format = "json"
)

// Options say where and how a run is shown.
type Options struct {
	Progress io.Writer          // usually standard error
	Style    *lipgloss.Renderer // of Progress
	Width    int                // columns; 0: no terminal, lines are not cut
	Columns  func() int         // the current columns, instead of Width; nil: they do not change
	ASCII    bool               // replace signs that are not ASCII
	Zone     *time.Location     // of times of day
	Past     progress.State     // of a resumed session
	Detail
	Result
	After
}

// Detail says how much of a run is shown.
type Detail struct {
	Live    bool // steps under way are shown elsewhere
	Asks    bool // questions and answers are shown elsewhere
	Verbose bool // show what agents print while they work
	Quiet   bool // no progress, only the result
}

// Result says where and how the result of a run is shown.
type Result struct {
	Out    io.Writer          // usually standard output
	Ending *lipgloss.Renderer // of Out
	Room   int                // columns; 0: no terminal, lines are not cut
	Log    func() string      // the path of the session log
}

// After adds to the end of a run what its events do not tell. It is empty in a replay.
type After struct {
	// Now captures the current change, if nobody has since an agent last worked; nil: it is
	// unknown.
	Now func() (c loop.Change, ok bool)
	// Next returns the commands that make sense now. changed: the work tree differs from the start
	// of the session.
	Next func(o loop.Outcome, changed bool) []Step
	// Others returns the commands that look at the state of a candidate that was not taken, and
	// take it; nil: they would not work.
	Others func(state loop.Step) []Step
}

// A Step is a command that the user may want to run next.
type Step struct{ For, Command string }

// Whole is a width at which no line is cut.
const Whole = math.MaxInt32

// Run returns the sink that shows a run. JSON goes to Progress even if Quiet is set, because it was
// asked for by name.
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

// A follower shows each event before it changes the state of the run.
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
	f.tried.take(at, e)
	_ = f.state.Handle(at, e) // never fails
	if c, ok := f.state.Forks().Captured(at, e); ok {
		f.files = c.Files
	}
	return f.err
}

type styles struct {
	strong, faint, code, good, warn, bad lipgloss.Style
}

func newStyles(r *lipgloss.Renderer) styles {
	colour := func(c string) lipgloss.Style { return r.NewStyle().Foreground(term.Colour(c)) }
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

// page is what both human formats share: writing lines, and the state of the run.
type page struct {
	Options
	styles
	ends  styles // of the result
	state progress.State

	files   []loop.FileChange // that differ as of the last look
	applied []loop.Step       // whose work was applied to the user's tree
	tried   candidates
	err     error // the first one of an event; nothing is written after it
}

func newPage(o Options) page {
	if o.Quiet {
		o.Progress = io.Discard
	}
	if o.Width == 0 {
		o.Width = Whole
	}
	if o.Room == 0 {
		o.Room = Whole
	}
	p := page{Options: o, styles: newStyles(o.Style), ends: newStyles(o.Ending), state: o.Past}
	p.narrow()
	return p
}

// narrow leaves room for signs that are wider in ASCII.
func (p *page) narrow() {
	if p.ASCII && p.Width < Whole {
		p.Width -= len("...") - 1
	}
}

// noted says what a step of the strategy reported; "" if that tells a person nothing.
func (p *page) noted(e loop.Noted) string {
	if p.hidden(e) {
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
		said += ": " + endingName(c.Ending, c.ExitCode)
	} else if passed != "" {
		said += ": " + passed
	}
	if e.Name == loop.NoteCheckpoint {
		said += ", " + Stat(e.Change.Shape())
	}
	return said
}

// hidden reports whether a report says nothing, or people learn of it elsewhere.
func (p *page) hidden(e loop.Noted) bool {
	switch e.Name {
	case loop.NoteRejudge:
		return true // the next iteration shows it
	case loop.NoteForked, loop.NoteForkDiscarded:
		return loop.Step(e.Text).Name() == loop.ForkPlace // the surrounding step says it
	case loop.NoteChecks:
		return len(e.Checks) == 0 // no checks are configured
	case loop.NoteQuestion, loop.NoteAnswer:
		return p.Asks
	}
	return false
}

// Passed counts the checks that passed; "" if there were none.
func Passed(checks []loop.CheckResult) string {
	if len(checks) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d passed", len(checks)-failing(checks), len(checks))
}

// Concerns lists what the rules of the run found in the work, one line each.
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

// events writes every event as its line in the session log, and agents' output as well.
type events struct{ w io.Writer }

func (s events) Handle(at loop.Stamp, e loop.Event) error {
	_, err := s.w.Write(session.Encode(at, e))
	return err
}
