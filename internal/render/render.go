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
	"math"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/metrics"
	"codeloops/internal/term"
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
	Progress io.Writer // usually standard error
	Result   io.Writer // usually standard output
	Style    *lipgloss.Renderer
	Width    int            // columns; 0: it is no terminal, and no line is cut
	Live     bool           // Progress is a terminal on which a line may be written over
	Verbose  bool           // show what the agents print while they work
	Quiet    bool           // no progress, only the result
	Log      string         // where the session log is, for the result; "" when there is none
	Zone     *time.Location // of the times of day; nil is UTC
	Past     metrics.Tally  // of a session that is carried on: what it had come to
	// CarryOn is the command that carries on a session with such an end, "" when
	// there is none; nil: it is over, as one that is played back. It is no part of
	// the result.
	CarryOn func(loop.Outcome) string
}

// Whole is a width to which no line is cut.
const Whole = math.MaxInt32

// Run returns the sink that shows a run. JSON goes to Progress alone, also
// when Quiet is set: it was asked for by name.
func Run(f Format, o Options) (loop.Sink, error) {
	switch f {
	case Pretty:
		return &pretty{page: newPage(o)}, nil
	case Compact:
		return &compact{page: newPage(o)}, nil
	case JSON:
		return events{o.Progress}, nil
	}
	return nil, fmt.Errorf("no renderer for the format %q", f)
}

type styles struct {
	strong, faint, good, warn, bad lipgloss.Style
}

func newStyles(r *lipgloss.Renderer) styles {
	if r == nil {
		r = lipgloss.NewRenderer(io.Discard)
	}
	colour := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{
		strong: r.NewStyle().Bold(true),
		faint:  r.NewStyle().Faint(true),
		good:   colour("2"),
		warn:   colour("3"),
		bad:    colour("1"),
	}
}

func (s styles) decision(d loop.Decision) string {
	switch d {
	case loop.Done:
		return s.good.Render(string(d))
	case loop.Continue:
		return s.warn.Render(string(d))
	case loop.Error:
	}
	return s.bad.Render(string(d))
}

// page is what both human formats have in common: the lines they write and
// the first error that writing them met.
type page struct {
	Options
	styles

	// session and change are what the end needs of the events before it.
	session loop.Session
	playing map[loop.Role]loop.AgentRef // who has played last
	change  *loop.Change                // nil: nobody has looked since the actor worked
	tally   metrics.Tally
	waits   []loop.Wait // of the turn under way
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
	return page{Options: o, styles: newStyles(o.Style), tally: o.Past}
}

// concerns are what the rules of the run point at, a line each. The log has the
// places that are left out.
func concerns(i loop.Inspection) []string {
	const most = 500 // bytes
	lines := make([]string, len(i.Concerns))
	for n, c := range i.Concerns {
		lines[n] = c.Rule + ": " + term.Line(c.Summary(most))
	}
	return lines
}

// keep takes what the end needs of an event.
func (p *page) keep(at loop.Stamp, e loop.Event) {
	_ = p.tally.Handle(at, e) // never fails
	switch e := e.(type) {
	case loop.Started:
		p.begin(e.Session)
	case loop.Resumed:
		p.begin(e.Session)
	case loop.WaitFinished:
		p.waits = append(p.waits, e.Wait)
	case loop.ActorFinished:
		p.played(loop.RoleActor, e.Attempt.Turn)
		p.change = nil
	case loop.DiffCaptured:
		p.change = &e.Change
	case loop.ReviewRejected:
		p.played(loop.RoleCritic, e.Review.Turn)
	case loop.CriticFinished:
		p.played(loop.RoleCritic, e.Review.Turn)
	case loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.WaitStarted, loop.Inspected, loop.BaselineChecked, loop.ChecksFinished,
		loop.IterationFinished, loop.Warned, loop.Finished:
	}
}

func (p *page) begin(s loop.Session) {
	p.session, p.waits = s, nil
	p.playing = map[loop.Role]loop.AgentRef{loop.RoleActor: s.Actor, loop.RoleCritic: s.Critic}
}

func (p *page) played(role loop.Role, t loop.Turn) {
	if t.Agent.Agent != "" && p.playing != nil {
		p.playing[role] = t.Agent
	}
}

func (p *page) say(format string, args ...any) error {
	_, err := fmt.Fprintf(p.Progress, format+"\n", args...)
	return err
}
