package sessionview

import (
	_ "embed" // the text
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
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
	AuditedChange
	AuditedRuling

	Risks    []AuditedRisk     `json:"risks"`
	Required []AuditedRequired `json:"required_changes"` // that this iteration had to keep
	Demands  []string          `json:"demands"`          // required changes for the next one
	Concerns []AuditedConcern  `json:"concerns"`
	Findings []AuditedFinding  `json:"findings"`
	Checks   []AuditedCheck    `json:"checks"`
	Trace    []AuditedPhase    `json:"trace"`
}

// AuditedChange is the iteration's own change.
type AuditedChange struct {
	Files      *int     `json:"files"`
	Insertions *int     `json:"insertions"`
	Deletions  *int     `json:"deletions"`
	Bytes      *int64   `json:"bytes"`
	Growth     *float64 `json:"growth_percent"`
	Similarity *float64 `json:"similarity"`
	Excerpt    string   `json:"excerpt,omitempty"`
}

// AuditedRuling is what counts of it.
type AuditedRuling struct {
	Decision string   `json:"decision"`
	Rule     string   `json:"rule,omitempty"` // that decided, where it was not the critic
	Stop     string   `json:"stop_reason,omitempty"`
	Why      string   `json:"reason,omitempty"`
	Score    *float64 `json:"score"`
	Severity string   `json:"severity,omitempty"`
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
	May   bool   `json:"may,omitempty"` // the task is done without it
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

// NewAudit reads a log.
func NewAudit(o session.Overview, entries Entries) (Audit, error) {
	a := Audit{Session: NewRow(o), Iterations: []Audited{}}
	state := ""
	for entry, err := range entries {
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
		AuditedRuling: AuditedRuling{Decision: string(v.Decision), Rule: r.Rule, Stop: string(r.Stop), Why: r.Why, Score: v.Score, Severity: v.Severity},
		Demands:       append([]string{}, v.RequiredChanges...),
		Risks:         each(v.Risks, func(x loop.Risk) AuditedRisk { return AuditedRisk(x) }),
		Required:      each(r.Inspection.Audit.Required, func(x loop.Requirement) AuditedRequired { return AuditedRequired(x) }),
		Concerns: each(r.Inspection.Concerns, func(x loop.Concern) AuditedConcern {
			return AuditedConcern{x.Rule, x.Kind, x.Text, each(x.Places, func(p loop.Place) AuditedPlace { return AuditedPlace(p) })}
		}),
		Findings: each(r.Findings, func(x loop.Finding) AuditedFinding {
			return AuditedFinding{ID: x.ID, Text: x.Text, State: string(x.State), Since: x.Since, May: x.May}
		}),
		Checks: each(r.Checks, func(x loop.CheckResult) AuditedCheck { return AuditedCheck{x.Command, x.Passed()} }),
		Trace: each(r.Trace, func(x loop.Phase) AuditedPhase {
			return AuditedPhase{State: x.State.String(), DurationSecs: x.Duration.Seconds(), WaitedSecs: x.Waited.Seconds(), Turns: x.Turns}
		}),
	}
	if own := r.Inspection.Audit; own.After != "" {
		one.AuditedChange = AuditedChange{&own.Files, &own.Insertions, &own.Deletions, &own.Bytes, own.Growth, own.Similarity, own.Excerpt}
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

//go:embed audit.txt
var auditText string

// Text writes the audit for a person.
func (a Audit) Text(w io.Writer, screen Screen) error {
	return template.Must(template.New("audit").Funcs(template.FuncMap{
		"strong":  func(text string) string { return screen.Style.NewStyle().Bold(true).Render(text) },
		"outcome": screen.outcome,
		"line":    term.Line,
		"short":   short,
		"span":    func(secs float64) string { return render.Span(seconds(secs)) },
		"waiting": func(secs float64) string { return render.OfIt(seconds(secs)) },
		"turns":   func(n int) string { return render.Count(n, "turn", "turns") },
		"figure":  func(n *float64) string { return fmt.Sprintf("%.2f", *n) },
		"place":   func(p AuditedPlace) string { return loop.Place(p).String() },
		"row":     func(name, format string, args ...any) string { return screen.row(name, fmt.Sprintf(format, args...)) },
		"excerpt": func(line string) string { return render.Cut(term.Line(line), screen.Width-auditIndent) },
		"lines":   strings.Lines,
		"rule":    words.Rule,
		"stop":    func(reason string) string { return words.Stop(loop.StopReason(reason)) },
		"why":     func(reason string) string { return bracketed(loop.StopReason(reason)) },
		"phase": func(name string) string {
			state, _ := loop.ParseState(name)
			return words.Phase(state)
		},
	}).Parse(auditText)).Execute(w, a)
}

// auditIndent is where the text of a row begins.
const auditIndent = 13

// row is a named row, on as many lines as it needs.
func (s Screen) row(name, text string) string {
	var b strings.Builder
	for line := range strings.Lines(ansi.Wrap(term.Line(text), max(20, s.Width-auditIndent), "")) {
		fmt.Fprintf(&b, "  %-10s %s\n", name, strings.TrimRight(line, "\n"))
		name = ""
	}
	return b.String()
}

// Size says how much an iteration has changed, "" where the log does not tell.
func (a Audited) Size() string {
	if a.Files == nil {
		return ""
	}
	text := fmt.Sprintf("%s, +%d -%d, %+d bytes", render.Count(*a.Files, "file", "files"), *a.Insertions, *a.Deletions, *a.Bytes)
	if a.Growth != nil {
		text += fmt.Sprintf(" (%+.1f %%)", *a.Growth)
	}
	if a.Similarity != nil {
		text += fmt.Sprintf(", similarity %.2f", *a.Similarity)
	}
	return text
}

// short cuts a state to what tells it from others.
func short(state string) string {
	const most = 12
	if state == "" {
		return "-"
	}
	return state[:min(most, len(state))]
}
