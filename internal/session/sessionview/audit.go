package sessionview

import (
	"cmp"
	"encoding/json"
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
	Session Row `json:"session"`
	// Iterations are lines of the log, without what agents wrote and the patches.
	Iterations []json.RawMessage `json:"iterations"`

	rounds []loop.Round
}

// NewAudit reads a log.
func NewAudit(o session.Overview, entries Entries) (Audit, error) {
	a := Audit{Session: NewRow(o), Iterations: []json.RawMessage{}}
	for entry, err := range entries {
		if err != nil {
			return a, err
		}
		if e, ok := entry.Event.(loop.IterationFinished); ok {
			r := e.Round.Outline()
			entry.Event = loop.IterationFinished{Round: r}
			a.Iterations, a.rounds = append(a.Iterations, line(entry)), append(a.rounds, r)
		}
	}
	return a, nil
}

// Text writes the audit for a person.
func (a Audit) Text(w io.Writer, s Screen) error {
	one := a.Session
	r := auditText{id: one.ID, width: s.Width}
	fmt.Fprintf(&r.b, "%s  %s%s\n", s.Strong(term.Line(one.ID)), s.Outcome(term.Line(one.Outcome)), bracketed(loop.Outcome{Reason: loop.StopReason(one.StopReason)}))
	if len(a.rounds) == 0 {
		r.b.WriteString("\nNo iteration was finished.\n")
	}
	state := "-"
	for _, one := range a.rounds {
		by := " by the critic"
		switch {
		case one.Rule != "":
			by = " " + words.Rule(one.Rule)
		case one.Unjudged:
			by = "; no critic was asked"
		}
		fmt.Fprintf(&r.b, "\n%s  %s%s\n", s.Strong(fmt.Sprintf("Iteration %d", one.Iteration)), term.Line(one.Verdict.Word()), by)
		r.ruling(one, state)
		r.evidence(one)
		state = one.Change.State
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

// ruling shows what was changed, since a state, and how it was ruled.
func (r *auditText) ruling(one loop.Round, since string) {
	r.rowf("rule", "%s", one.Rule)
	if one.Stop != loop.StopNone {
		r.rowf("stopped", "%s: %s", words.Stop(one.Stop), one.Why)
	} else {
		r.rowf("because", "%s", one.Why)
	}
	if is := one.Change.State; is != "" {
		r.rowf("tree", "%.12s → %.12s", cmp.Or(one.Inspection.Audit.Before, since), is)
	}
	if own := one.Inspection.Audit; !own.IsZero() {
		r.rowf("change", "%s", sizeOf(own))
		r.excerpt(one.Iteration, own)
	}
	if one.Verdict.Score != nil {
		r.rowf("score", "%.2f", *one.Verdict.Score)
	}
	r.rowf("severity", "%s", one.Verdict.Severity)
}

// excerpt shows the beginning of a change, with long lines cut, and says how much of it there is.
func (r *auditText) excerpt(iteration int, own loop.Audit) {
	left := own.Insertions + own.Deletions
	for l := range loop.PatchLines(own.Excerpt) {
		if l.Op == '+' || l.Op == '-' {
			left--
		}
	}
	for line := range strings.Lines(own.Excerpt) {
		text, whole := strings.CutSuffix(line, "\n")
		if text = term.Clean(text); !whole {
			text += "…"
		}
		fmt.Fprintf(&r.b, "%*s%s\n", auditIndent, "", render.Cut(text, r.width-auditIndent))
	}
	if own.Excerpt != "" && left > 0 {
		r.rowf("", "… %s changed: codeloops sessions diff %s --iteration %d shows them", render.Count(left, "more line", "more lines"), r.id, iteration)
	}
}

// evidence shows what the ruling rests on.
func (r *auditText) evidence(one loop.Round) {
	for _, x := range one.Verdict.Risks {
		r.rowf("risk", "%s: %s", x.Type, x.Detail)
	}
	for _, x := range one.Inspection.Audit.Required {
		r.rowf("required", "%s %s", either(x.Enforced, "kept", "MISSING"), x.Text)
	}
	for _, x := range one.Verdict.RequiredChanges {
		r.rowf("demands", "%s", x)
	}
	for _, x := range one.Inspection.Concerns {
		r.rowf("concern", "%s: %s", x.Rule, x.Text)
		for _, at := range x.Places {
			r.rowf("", "- %s", at)
		}
	}
	for _, x := range one.Findings {
		r.rowf("finding", "%s %s%s since %d: %s", x.ID, either(x.May, "may, ", ""), x.State, x.Since, x.Text)
	}
	for _, x := range one.Checks {
		r.rowf("check", "%s: %s", either(x.Passed(), "passed", "failed"), x.Command)
	}
	for _, x := range one.Attempt.Failures {
		r.rowf("failed", "%s", x)
	}
	for _, x := range one.Trace {
		turns := ""
		if x.Turns > 0 {
			turns = ", " + render.Count(x.Turns, "turn", "turns")
		}
		r.rowf("phase", "%s  %s%s%s", words.Phase(x.State), render.Span(x.Duration), render.WaitNote(x.Waited), turns)
	}
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
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

// sizeOf says how much an iteration changed.
func sizeOf(a loop.Audit) string {
	return fmt.Sprintf("%s, +%d -%d, %+d bytes", render.Count(a.Files, "file", "files"), a.Insertions, a.Deletions, a.Bytes)
}
