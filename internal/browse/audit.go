package browse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// An Audit is what a log tells of how every iteration of a session was ruled:
// what was changed, what was required, which rule decided.
type Audit struct {
	Session    Row       `json:"session"`
	Iterations []Audited `json:"iterations"`
}

// Audited is one iteration. What the log does not tell is null.
type Audited struct {
	Iteration int    `json:"iteration"`
	Before    string `json:"before,omitempty"` // the state of the work tree
	After     string `json:"after,omitempty"`

	// The iteration's own change.
	Files      *int     `json:"files"`
	Insertions *int     `json:"insertions"`
	Deletions  *int     `json:"deletions"`
	Bytes      *int64   `json:"bytes"`
	Growth     *float64 `json:"growth_percent"`
	Similarity *float64 `json:"similarity"`
	Excerpt    string   `json:"excerpt,omitempty"`

	Decision string   `json:"decision"`
	Rule     string   `json:"rule,omitempty"` // that decided, where it was not the critic
	Stop     string   `json:"stop_reason,omitempty"`
	Why      string   `json:"reason,omitempty"`
	Score    *float64 `json:"score"`
	Severity string   `json:"severity,omitempty"`

	Risks    []AuditedRisk     `json:"risks"`
	Required []AuditedRequired `json:"required_changes"` // that this iteration had to keep
	Demands  []string          `json:"demands"`          // required changes for the next one
	Concerns []AuditedConcern  `json:"concerns"`
	Findings []AuditedFinding  `json:"findings"`
	Checks   []AuditedCheck    `json:"checks"`
	Trace    []AuditedPhase    `json:"trace"`
}

// AuditedRisk is a risk that the critic named.
type AuditedRisk struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

// AuditedRequired is a required change that was looked for in the work.
type AuditedRequired struct {
	Text     string `json:"text"`
	Enforced bool   `json:"enforced"`
}

// AuditedConcern is what a rule pointed at.
type AuditedConcern struct {
	Rule   string         `json:"rule"`
	Kind   string         `json:"kind,omitempty"`
	Text   string         `json:"text"`
	Places []AuditedPlace `json:"places"`
}

// AuditedPlace is where something was found, and what.
type AuditedPlace struct {
	At   string `json:"at"`
	What string `json:"what,omitempty"`
}

// AuditedFinding is a point of the critic's, followed over the iterations.
type AuditedFinding struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	State string `json:"state"`
	Since int    `json:"since"`
}

// AuditedCheck is one of the project's own checks.
type AuditedCheck struct {
	Command string `json:"command"`
	Passed  bool   `json:"passed"`
}

// AuditedPhase is a phase with what it took.
type AuditedPhase struct {
	State        string  `json:"state"`
	DurationSecs float64 `json:"duration_secs"`
	WaitedSecs   float64 `json:"waited_secs"` // of them, for services
	Turns        int     `json:"turns"`
}

// NewAudit reads a log. Lines that cannot be read are told to bad.
func NewAudit(o session.Overview, entries Entries, bad func(error)) (Audit, error) {
	a := Audit{Session: NewRow(o), Iterations: []Audited{}}
	state := ""
	for entry, err := range entries {
		if line, ok := errors.AsType[*session.LineError](err); ok {
			bad(line)
			continue
		}
		if err != nil {
			return a, err
		}
		if e, ok := entry.Event.(loop.IterationFinished); ok {
			one := audited(e.Round)
			if one.Before == "" {
				one.Before = state
			}
			state = one.After
			a.Iterations = append(a.Iterations, one)
		}
	}
	return a, nil
}

func audited(r loop.Round) Audited {
	v := r.Verdict
	one := Audited{
		Iteration: r.Iteration, Before: r.Inspection.Audit.Before, After: r.Change.State,
		Decision: string(v.Decision), Rule: r.Rule, Stop: string(r.Stop), Why: r.Why,
		Score: v.Score, Severity: v.Severity, Demands: append([]string{}, v.RequiredChanges...),
		Risks:    each(v.Risks, func(x loop.Risk) AuditedRisk { return AuditedRisk(x) }),
		Required: each(r.Inspection.Audit.Required, func(x loop.Requirement) AuditedRequired { return AuditedRequired(x) }),
		Concerns: each(r.Inspection.Concerns, func(x loop.Concern) AuditedConcern {
			return AuditedConcern{x.Rule, x.Kind, x.Text, each(x.Places, func(p loop.Place) AuditedPlace { return AuditedPlace(p) })}
		}),
		Findings: each(r.Findings, func(x loop.Finding) AuditedFinding {
			return AuditedFinding{ID: x.ID, Text: x.Text, State: string(x.State), Since: x.Since}
		}),
		Checks: each(r.Checks, func(x loop.CheckResult) AuditedCheck { return AuditedCheck{x.Command, x.Passed()} }),
		Trace: each(r.Trace, func(x loop.Phase) AuditedPhase {
			return AuditedPhase{State: x.State.String(), DurationSecs: x.Duration.Seconds(), WaitedSecs: x.Waited.Seconds(), Turns: x.Turns}
		}),
	}
	if own := r.Inspection.Audit; own.After != "" {
		one.Files, one.Insertions, one.Deletions, one.Bytes = &own.Files, &own.Insertions, &own.Deletions, &own.Bytes
		one.Growth, one.Similarity, one.Excerpt = own.Growth, own.Similarity, own.Excerpt
	}
	return one
}

// each is never nil: a program shall read an empty list.
func each[T, U any](list []T, turn func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = turn(x)
	}
	return out
}

// JSON writes the audit as one object.
func (a Audit) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(a)
}

// Text writes the audit for a person.
func (a Audit) Text(w io.Writer, screen Screen) error {
	p := &auditPage{out: w, screen: screen}
	p.head(a.Session)
	for _, one := range a.Iterations {
		p.iteration(one)
	}
	if len(a.Iterations) == 0 {
		p.sayf("\nThere is no whole iteration.")
	}
	return p.err
}

type auditPage struct {
	out    io.Writer
	screen Screen
	err    error
}

func (p *auditPage) sayf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// rowf writes a named row, on as many lines as it needs.
func (p *auditPage) rowf(name, format string, args ...any) {
	const indent = 13
	text := ansi.Wrap(term.Line(fmt.Sprintf(format, args...)), max(20, p.screen.Width-indent), "")
	for line := range strings.Lines(text) {
		p.sayf("  %-10s %s", name, strings.TrimRight(line, "\n"))
		name = ""
	}
}

func (p *auditPage) head(r Row) {
	outcome := p.screen.outcome(term.Line(r.Outcome))
	if r.StopReason != "" {
		outcome += " (" + term.Line(r.StopReason) + ")"
	}
	p.sayf("%s  %s", p.screen.Style.NewStyle().Bold(true).Render(term.Line(r.ID)), outcome)
}

func (p *auditPage) iteration(a Audited) {
	by := "by the critic"
	if a.Rule != "" {
		by = "by the rule " + a.Rule
	}
	p.sayf("\n%s  %s %s", p.screen.Style.NewStyle().Bold(true).Render(fmt.Sprintf("Iteration %d", a.Iteration)), term.Line(a.Decision), term.Line(by))
	if a.Stop != "" {
		p.rowf("stopped", "%s: %s", a.Stop, a.Why)
	} else if a.Why != "" {
		p.rowf("because", "%s", a.Why)
	}
	p.change(a)
	p.judgement(a)
	for _, c := range a.Checks {
		p.rowf("check", "%s: %s", map[bool]string{true: "passed", false: "failed"}[c.Passed], c.Command)
	}
	for _, t := range a.Trace {
		turns := ""
		if t.Turns > 0 {
			turns = ", " + render.Count(t.Turns, "turn", "turns")
		}
		p.rowf("phase", "%s  %s%s", t.State, render.Span(seconds(t.DurationSecs)), render.OfIt(seconds(t.WaitedSecs))+turns)
	}
}

func (p *auditPage) change(a Audited) {
	if a.After != "" {
		p.rowf("tree", "%s → %s", short(a.Before), short(a.After))
	}
	if a.Files == nil {
		return
	}
	text := fmt.Sprintf("%s, +%d -%d, %+d bytes", render.Count(*a.Files, "file", "files"), *a.Insertions, *a.Deletions, *a.Bytes)
	if a.Growth != nil {
		text += fmt.Sprintf(" (%+.1f %%)", *a.Growth)
	}
	if a.Similarity != nil {
		text += fmt.Sprintf(", similarity %.2f", *a.Similarity)
	}
	p.rowf("change", "%s", text)
	for line := range strings.Lines(a.Excerpt) {
		p.sayf("             %s", render.Cut(term.Line(line), p.screen.Width-13))
	}
}

func (p *auditPage) judgement(a Audited) {
	if a.Score != nil {
		p.rowf("score", "%.2f", *a.Score)
	}
	if a.Severity != "" {
		p.rowf("severity", "%s", a.Severity)
	}
	for _, r := range a.Risks {
		p.rowf("risk", "%s: %s", r.Type, r.Detail)
	}
	for _, r := range a.Required {
		p.rowf("required", "%s %s", map[bool]string{true: "kept", false: "MISSING"}[r.Enforced], r.Text)
	}
	for _, d := range a.Demands {
		p.rowf("demands", "%s", d)
	}
	for _, c := range a.Concerns {
		p.rowf("concern", "%s: %s", c.Rule, c.Text)
		for _, place := range c.Places {
			p.rowf("", "- %s", loop.Place(place))
		}
	}
	for _, f := range a.Findings {
		p.rowf("finding", "%s %s since %d: %s", f.ID, f.State, f.Since, f.Text)
	}
}

// short cuts a state to what tells it from others.
func short(state string) string {
	const most = 12
	if state == "" {
		return "-"
	}
	return state[:min(most, len(state))]
}
