package sessionview

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

// A Row is one session of a list, for a program.
type Row struct {
	ID         string `json:"id"`
	Log        string `json:"log"`
	WorkingDir string `json:"working_dir"`

	Outcome      string    `json:"outcome"` // or running, crashed
	StopReason   string    `json:"stop_reason,omitempty"`
	Iterations   *int      `json:"iterations"` // finished ones; null: unknown
	Started      time.Time `json:"started"`
	DurationSecs float64   `json:"duration_secs"`

	ActorAgent  string `json:"actor_agent"`
	ActorModel  string `json:"actor_model,omitempty"`
	CriticAgent string `json:"critic_agent"`
	CriticModel string `json:"critic_model,omitempty"`

	Spent
	Task       string   `json:"task,omitempty"` // the queue's task that it worked on
	Confidence *float64 `json:"confidence"`
	Summary    string   `json:"summary,omitempty"`
	Prompt     string   `json:"prompt"`
	LogBytes   int64    `json:"log_bytes"`
	Problem    string   `json:"problem,omitempty"` // with the log: file, line, what is wrong
}

// NewRow returns the row of a session.
func NewRow(o session.Overview) Row {
	actor, critic := o.Session.Actor, o.Session.Critic
	r := Row{
		ID: o.ID, Log: o.Path, WorkingDir: o.Session.WorkingDir,
		Outcome: string(o.Status), Started: o.Started, DurationSecs: o.Duration.Seconds(),
		ActorAgent: actor.Agent, ActorModel: actor.Model, CriticAgent: critic.Agent, CriticModel: critic.Model,
		Spent: spentBy(o.Tally), Task: o.Session.Task, Prompt: o.Session.Prompt, LogBytes: o.Size,
	}
	if o.Iterations != session.UnknownIterations {
		r.Iterations = &o.Iterations
	}
	if problem := cmp.Or(o.Err, o.Problem); problem != nil {
		r.Problem = problem.Error()
	}
	if o.Outcome != nil {
		r.StopReason, r.Confidence, r.Summary = string(o.Outcome.Reason), o.Outcome.Confidence, o.Outcome.Summary
	}
	return r
}

// Rows returns the rows of sessions.
func Rows(picked []session.Overview) []Row {
	rows := make([]Row, len(picked)) // JSON has an empty list
	for i, o := range picked {
		rows[i] = NewRow(o)
	}
	return rows
}

// Tabs writes a line of tab-separated fields for each session: id, directory, outcome,
// iterations ("" if unknown), seconds, cost (see [Cost]), prompt.
func Tabs(w io.Writer, picked []session.Overview) error {
	for _, o := range picked {
		fields := []string{
			term.Line(o.ID), term.Line(o.Session.WorkingDir), term.Line(string(o.Status)), iterations(o, ""),
			strconv.FormatFloat(o.Duration.Seconds(), 'f', 1, 64), Cost(o.Tally), term.Line(o.Session.Prompt),
		}
		if _, err := fmt.Fprintln(w, strings.Join(fields, "\t")); err != nil {
			return err
		}
	}
	return nil
}

func purpose(o session.Overview) string {
	if o.Err != nil {
		return "(the first line of its log cannot be read)"
	}
	return o.Session.Prompt
}

// beginning puts the beginning of a text on one line that is at least width columns wide, if there
// is enough text. Prompts may be long, and lists have many; few begin with what is not shown.
func beginning(text string, width int) string {
	for most := 8 * width; ; most *= 8 { // bytes
		line := term.Line(strings.ToValidUTF8(text[:min(most, len(text))], ""))
		if most >= len(text) || ansi.StringWidth(line) >= width {
			return line
		}
	}
}

func iterations(o session.Overview, unknown string) string {
	if o.Iterations == session.UnknownIterations {
		return unknown
	}
	return strconv.Itoa(o.Iterations)
}

const (
	widestProject = 20
	leastPrompt   = 16 // with less room, the prompt is useless
	gap           = "  "
)

const (
	columnID = iota
	columnProject
	columnOutcome
	columnIterations
	columnDuration
	columnCost
	columnPrompt
)

// Table writes the sessions as a table that fits the screen.
func Table(w io.Writer, picked []session.Overview, s Screen) error {
	rows := [][]string{{"ID", "PROJECT", "OUTCOME", "ITER", "DURATION", "COST", "PROMPT"}}
	for _, o := range picked {
		rows = append(rows, []string{
			term.Line(o.ID), project(o.Session.WorkingDir), shortOutcome(string(o.Status)), iterations(o, "?"),
			render.Span(o.Duration), Cost(o.Tally), term.Fit(beginning(purpose(o), s.Width), s.Width),
		})
	}
	t := term.Table{
		Rows: rows, Least: leastPrompt, ASCII: s.ASCII,
		Right: []int{columnIterations, columnCost},
		Drop:  []int{columnCost, columnDuration, columnIterations, columnProject},
		Cut:   []int{columnOutcome, columnID}, // the beginning of an ID is enough for commands
		Style: func(row, column int, cell string) string {
			switch {
			case row == 0:
				return s.Faint(cell)
			case column == columnOutcome:
				return s.inColourOf(cell, cell)
			}
			return cell
		},
	}
	for _, line := range t.Lines(s.Width) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// shortOutcome is the outcome, short enough for a table.
func shortOutcome(outcome string) string {
	short := map[loop.Result]string{loop.MaxIterations: "limit", loop.BudgetExhausted: "budget"}[loop.Result(outcome)]
	return cmp.Or(short, term.Line(outcome))
}

// project is the last part of a working directory of any system, "?" if it is unknown.
func project(dir string) string {
	name := path.Base(cmp.Or(filepath.ToSlash(term.Line(dir)), "?"))
	return term.Fit(name, widestProject)
}

// Spent is what a session has cost, as far as its agents report it.
type Spent struct {
	CostUSD *float64 `json:"cost_usd"`               // nil: no agent reports it
	Partly  bool     `json:"cost_partial,omitempty"` // the cost of some turn is unknown
	Tokens  *int64   `json:"tokens"`                 // input, cache and output; nil: no agent reports them
}

func spentBy(t *progress.Tally) (s Spent) {
	if t == nil {
		return s
	}
	sum := t.Spent.Total()
	told := func(b loop.Basis) bool { return b == loop.Reported || b == loop.Estimated }
	if sum.CostUSD > 0 || told(sum.CostBasis) {
		s.CostUSD, s.Partly = new(math.Round(sum.CostUSD*1e6)/1e6), sum.CostBasis == loop.Unknown // sums of rounded numbers are not round
	}
	if sum.Tokens > 0 || told(sum.TokensBasis) {
		s.Tokens = &sum.Tokens
	}
	return s
}

// Cost writes what a session has cost: "-" if unknown, with a leading "≥" if the cost of some turn
// is unknown. t is nil if nothing is known of the session.
func Cost(t *progress.Tally) string {
	spent := spentBy(t)
	if spent.CostUSD == nil {
		return "-"
	}
	text := render.Dollars(*spent.CostUSD)
	if spent.Partly {
		return "≥" + text
	}
	return text
}

// Spending says what a session has cost, in money and tokens, and how reliable that is.
func Spending(t *progress.Tally) string {
	cost := Cost(t)
	if spent := spentBy(t); spent.Tokens != nil {
		cost += ", " + render.Tokens(*spent.Tokens) + " tokens"
	}
	if cost != "-" {
		cost += ", " + CostBasis(t)
	}
	return cost
}

// CostBasis says how reliable the figures of a session's cost are, at the end of a sentence.
func CostBasis(t *progress.Tally) string {
	if t == nil {
		return ""
	}
	sum, spent := t.Spent.Total(), spentBy(t)
	basis := loop.NoBasis
	if spent.CostUSD != nil {
		basis = basis.And(sum.CostBasis)
	}
	if spent.Tokens != nil {
		basis = basis.And(sum.TokensBasis)
	}
	return render.BasisNote(basis)
}
