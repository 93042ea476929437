package sessionview

import (
	"fmt"
	"io"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
)

// An Audit shows which rules decided each iteration of a session, and on what evidence.
type Audit struct {
	Session    Row       `json:"session"`
	Iterations []Audited `json:"iterations"`
}

// Audited is one iteration. What the log does not hold is null.
type Audited struct {
	Iteration int    `json:"iteration"`
	Before    string `json:"before,omitempty"` // states of the work tree
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
	Rule     string   `json:"rule,omitempty"`     // the one that decided, unless it was the critic
	Unjudged bool     `json:"unjudged,omitempty"` // no critic was asked
	Stop     string   `json:"stop_reason,omitempty"`
	Why      string   `json:"reason,omitempty"`
	Score    *float64 `json:"score"`
	Severity string   `json:"severity,omitempty"`

	Risks    []loop.Risk        `json:"risks"`
	Required []loop.Requirement `json:"required_changes"` // changes that this iteration had to keep
	Demands  []string           `json:"demands"`          // required changes for the next one
	Concerns []loop.Concern     `json:"concerns"`
	Findings []loop.Finding     `json:"findings"`
	Checks   []AuditedCheck     `json:"checks"`
	Failures []string           `json:"failures,omitempty"` // of the actor's commands, and what it was not allowed
	Trace    []AuditedPhase     `json:"trace"`
}

// AuditedCheck is one of the project's own checks.
type AuditedCheck struct {
	Command string `json:"command"`
	Passed  bool   `json:"passed"`
}

// AuditedPhase is a phase and the time it took.
type AuditedPhase struct {
	State        string  `json:"state"`
	DurationSecs float64 `json:"duration_secs"`
	WaitedSecs   float64 `json:"waited_secs"` // part of them, for services
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
		Decision: v.Word(), Rule: r.Rule, Unjudged: r.Unjudged, Stop: string(r.Stop), Why: r.Why, Score: v.Score, Severity: v.Severity,
		Risks: each(v.Risks, same), Required: each(r.Inspection.Audit.Required, same), Demands: each(v.RequiredChanges, same),
		Concerns: each(r.Inspection.Concerns, func(c loop.Concern) loop.Concern {
			c.Places = each(c.Places, same)
			return c
		}),
		Findings: each(r.Findings, same),
		Checks:   each(r.Checks, func(x loop.CheckResult) AuditedCheck { return AuditedCheck{x.Command, x.Passed()} }),
		Trace: each(r.Trace, func(x loop.Phase) AuditedPhase {
			return AuditedPhase{State: x.State.String(), DurationSecs: x.Duration.Seconds(), WaitedSecs: x.Waited.Seconds(), Turns: x.Turns}
		}),
	}
	for _, f := range r.Attempt.Failures {
		one.Failures = append(one.Failures, f.String())
	}
	if own := r.Inspection.Audit; own.After != "" {
		one.Files, one.Insertions, one.Deletions, one.Bytes = &own.Files, &own.Insertions, &own.Deletions, &own.Bytes
		one.Growth, one.Similarity, one.Excerpt = own.Growth, own.Similarity, own.Excerpt
	}
	return one
}

// each applies turn to a list. Its result is never nil, so that JSON has an empty list.
func each[T, U any](list []T, turn func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = turn(x)
	}
	return out
}

func same[T any](x T) T { return x }

// Text writes the audit for a person.
func (a Audit) Text(w io.Writer, s Screen) error {
	one := a.Session
	r := auditText{id: one.ID, width: s.Width}
	fmt.Fprintf(&r.b, "%s  %s%s\n", s.strong(term.Line(one.ID)), s.outcome(term.Line(one.Outcome)), bracketed(loop.Outcome{Reason: loop.StopReason(one.StopReason)}))
	if len(a.Iterations) == 0 {
		r.b.WriteString("\nNo iteration was finished.\n")
	}
	for _, one := range a.Iterations {
		by := " by the critic"
		switch {
		case one.Rule != "":
			by = " " + words.Rule(one.Rule)
		case one.Unjudged:
			by = "; no critic was asked"
		}
		fmt.Fprintf(&r.b, "\n%s  %s%s\n", s.strong(fmt.Sprintf("Iteration %d", one.Iteration)), term.Line(one.Decision), by)
		r.ruling(one)
		r.evidence(one)
	}
	_, err := io.WriteString(w, s.own(r.b.String()))
	return err
}

// An auditText is an audit for a person, in rows that are wrapped at a width.
type auditText struct {
	id    string // of the session
	b     strings.Builder
	width int // columns
}

// ruling shows what was changed and how it was ruled.
func (r *auditText) ruling(a Audited) {
	r.rowf("rule", "%s", a.Rule)
	if a.Stop != "" {
		r.rowf("stopped", "%s: %s", words.Stop(loop.StopReason(a.Stop)), a.Why)
	} else {
		r.rowf("because", "%s", a.Why)
	}
	if a.After != "" {
		r.rowf("tree", "%s → %s", short(a.Before), short(a.After))
	}
	if size := a.size(); size != "" {
		r.rowf("change", "%s", size)
		r.excerpt(a)
	}
	if a.Score != nil {
		r.rowf("score", "%.2f", *a.Score)
	}
	r.rowf("severity", "%s", a.Severity)
}

// excerpt shows the beginning of a change, with long lines cut, and says how much of it there is.
func (r *auditText) excerpt(a Audited) {
	left := *a.Insertions + *a.Deletions
	inHunk := false
	for line := range strings.Lines(a.Excerpt) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case strings.HasPrefix(line, "diff --git "):
			inHunk = false
		case inHunk && (line[0] == '+' || line[0] == '-'):
			left--
		}
		text, whole := strings.CutSuffix(line, "\n")
		if text = term.Clean(text); !whole {
			text += "…"
		}
		fmt.Fprintf(&r.b, "%*s%s\n", auditIndent, "", render.Cut(text, r.width-auditIndent))
	}
	if a.Excerpt != "" && left > 0 {
		r.rowf("", "… %s changed: codeloops sessions diff %s --iteration %d shows them", render.Count(left, "more line", "more lines"), r.id, a.Iteration)
	}
}

// evidence shows what the ruling rests on.
func (r *auditText) evidence(a Audited) {
	for _, x := range a.Risks {
		r.rowf("risk", "%s: %s", x.Type, x.Detail)
	}
	for _, x := range a.Required {
		r.rowf("required", "%s %s", either(x.Enforced, "kept", "MISSING"), x.Text)
	}
	for _, x := range a.Demands {
		r.rowf("demands", "%s", x)
	}
	for _, x := range a.Concerns {
		r.rowf("concern", "%s: %s", x.Rule, x.Text)
		for _, at := range x.Places {
			r.rowf("", "- %s", at)
		}
	}
	for _, x := range a.Findings {
		r.rowf("finding", "%s %s%s since %d: %s", x.ID, either(x.May, "may, ", ""), x.State, x.Since, x.Text)
	}
	for _, x := range a.Checks {
		r.rowf("check", "%s: %s", either(x.Passed, "passed", "failed"), x.Command)
	}
	r.rowf("failed", "%s", render.Cut(strings.Join(a.Failures, "; "), 4*max(20, r.width-auditIndent)))
	for _, x := range a.Trace {
		state, _ := loop.ParseState(x.State)
		r.rowf("phase", "%s  %s%s%s", words.Phase(state), render.Span(seconds(x.DurationSecs)), render.WaitNote(seconds(x.WaitedSecs)), x.turns())
	}
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func (p AuditedPhase) turns() string {
	if p.Turns == 0 {
		return ""
	}
	return ", " + render.Count(p.Turns, "turn", "turns")
}

// auditIndent is the column where the text of a row begins.
const auditIndent = 13

// rowf writes a named row, wrapped; nothing if there is no text.
func (r *auditText) rowf(name, format string, args ...any) {
	text := term.Line(fmt.Sprintf(format, args...))
	for line := range strings.Lines(term.Wrap(text, max(20, r.width-auditIndent))) {
		fmt.Fprintf(&r.b, "  %-10s %s\n", name, strings.TrimRight(line, "\n"))
		name = ""
	}
}

// size says how much an iteration changed, "" if the log does not tell.
func (a Audited) size() string {
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

func short(state string) string {
	const most = 12
	if state == "" {
		return "-"
	}
	return state[:min(most, len(state))]
}
