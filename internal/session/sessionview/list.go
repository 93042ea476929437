package sessionview

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
)

// A Row is one session of a list, for a program.
type Row struct {
	ID         string `json:"id"`
	Log        string `json:"log"`
	WorkingDir string `json:"working_dir"`
	RowCourse
	RowCast
	Spent
	Task       string   `json:"task,omitempty"` // of the queue, that it works on
	Confidence *float64 `json:"confidence"`
	Summary    string   `json:"summary,omitempty"`
	Prompt     string   `json:"prompt"`
	LogBytes   int64    `json:"log_bytes"`
	Problem    string   `json:"problem,omitempty"` // with the log: file, line, what is wrong
}

// A RowCourse is how the session went.
type RowCourse struct {
	Outcome      string    `json:"outcome"` // or running, crashed
	StopReason   string    `json:"stop_reason,omitempty"`
	Iterations   *int      `json:"iterations"` // whole ones; null: not known
	Started      time.Time `json:"started"`
	DurationSecs float64   `json:"duration_secs"`
}

// A RowCast is who played in it.
type RowCast struct {
	ActorAgent  string `json:"actor_agent"`
	ActorModel  string `json:"actor_model,omitempty"`
	CriticAgent string `json:"critic_agent"`
	CriticModel string `json:"critic_model,omitempty"`
}

// NewRow tells of a session what its overview does.
func NewRow(o session.Overview) Row {
	actor, critic := o.Session.Actor, o.Session.Critic
	r := Row{
		ID: o.ID, Log: o.Path, WorkingDir: o.Session.WorkingDir,
		RowCourse: RowCourse{Outcome: string(o.Status), Started: o.Started, DurationSecs: o.Duration.Seconds()},
		RowCast:   RowCast{actor.Agent, actor.Model, critic.Agent, critic.Model},
		Spent:     SpentBy(o), Task: o.Session.Task, Prompt: o.Session.Prompt, LogBytes: o.Size,
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

// Tabs writes a line for each session, its fields set apart by tabs: id,
// directory, outcome, iterations ("" when not known), seconds, cost (as of
// [Cost]), prompt.
func Tabs(w io.Writer, picked []session.Overview) error {
	// The prompts of thousands of sessions are megabytes: all processors lay them out.
	texts := make([]bytes.Buffer, runtime.GOMAXPROCS(0))
	for some := range slices.Chunk(picked, rowsAtOnce*len(texts)) {
		var work sync.WaitGroup
		for i := range texts {
			part := some[min(i*rowsAtOnce, len(some)):min((i+1)*rowsAtOnce, len(some))]
			work.Go(func() { tabbed(&texts[i], part) })
		}
		work.Wait()
		for i := range texts {
			if _, err := texts[i].WriteTo(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsAtOnce is how many rows a processor lays out before they are written.
const rowsAtOnce = 256

func tabbed(b *bytes.Buffer, picked []session.Overview) {
	for _, o := range picked {
		for _, field := range []string{
			term.Line(o.ID), term.Line(o.Session.WorkingDir), term.Line(string(o.Status)), iterations(o, ""),
			strconv.FormatFloat(o.Duration.Seconds(), 'f', 1, 64), Cost(o.Tally),
		} {
			b.WriteString(field)
			b.WriteByte('\t')
		}
		b.WriteString(term.Line(o.Session.Prompt))
		b.WriteByte('\n')
	}
}

// about is what a person reads of what a session was for.
func about(o session.Overview) string {
	if o.Rest {
		return "(the first line of its log cannot be read)"
	}
	return o.Session.Prompt
}

func iterations(o session.Overview, unknown string) string {
	if o.Iterations == session.UnknownIterations {
		return unknown
	}
	return strconv.Itoa(o.Iterations)
}

// A Screen is the terminal that something is shown on.
type Screen struct {
	Width int // columns
	Style *lipgloss.Renderer
	ASCII bool // it shows nothing else
}

const (
	widestProject = 20
	gap           = "  "
)

// Table writes the sessions as a table that fits the screen. The prompt has
// the room that the other columns leave; where that is too little, some of
// those are left out.
func Table(w io.Writer, picked []session.Overview, s Screen) error {
	rows := [][]string{{"ID", "PROJECT", "OUTCOME", "ITER", "DURATION", "COST", "PROMPT"}}
	for _, o := range picked {
		rows = append(rows, []string{
			term.Line(o.ID), project(o.Session.WorkingDir), shortOutcome(string(o.Status)), iterations(o, "?"),
			render.Span(o.Duration), Cost(o.Tally), lineFor(about(o), s.Width),
		})
	}
	widths := columns(rows, s.Width)
	styled := map[string]string{} // few words, many times
	for i, row := range rows {
		if _, err := fmt.Fprintln(w, s.line(row, widths, i == 0, styled)); err != nil {
			return err
		}
	}
	return nil
}

// The columns of the table.
const (
	columnID = iota
	columnProject
	columnOutcome
	columnIterations
	columnDuration
	columnCost
	columnPrompt
)

// leastPrompt is the room below which a prompt says nothing.
const leastPrompt = 16

// columns returns the width of each column, 0 for those that have no room.
func columns(rows [][]string, width int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			if len(cell) > widths[i] && widths[i] < width {
				widths[i] = max(widths[i], wide(cell))
			}
		}
	}
	prompt := widths[columnPrompt]
	left := func() int {
		left := width - widths[columnID]
		for _, w := range widths[columnID+1 : columnPrompt] {
			if w > 0 {
				left -= len(gap) + w
			}
		}
		return left - len(gap)
	}
	for _, dispensable := range []int{columnCost, columnDuration, columnIterations, columnProject} {
		if left() < min(leastPrompt, prompt) {
			widths[dispensable] = 0
		}
	}
	widths[columnPrompt] = max(0, min(prompt, left()))
	return widths
}

func (s Screen) line(row []string, widths []int, head bool, styled map[string]string) string {
	var cells []string
	for i, width := range widths {
		if width == 0 {
			continue
		}
		cell := fit(row[i], width)
		blank := strings.Repeat(" ", max(0, width-wide(cell)))
		switch {
		case head:
			cell = s.Style.NewStyle().Faint(true).Render(cell)
		case i == columnOutcome:
			if styled[cell] == "" {
				styled[cell] = s.likeOutcome(cell, cell)
			}
			cell = styled[cell]
		}
		if i == columnIterations || i == columnCost {
			cells = append(cells, blank+cell)
			continue
		}
		cells = append(cells, cell+blank)
	}
	return strings.TrimRight(strings.Join(cells, gap), " ")
}

// shortOutcome is the outcome as a table has room for it.
func shortOutcome(outcome string) string {
	short := map[loop.Result]string{loop.MaxIterations: "limit", loop.BudgetExhausted: "budget"}[loop.Result(outcome)]
	return cmp.Or(short, term.Line(outcome))
}

// outcome is one in words, in its colour.
func (s Screen) outcome(name string) string { return s.likeOutcome(name, words.Outcome(name)) }

// likeOutcome is a text in the colour of an outcome.
func (s Screen) likeOutcome(outcome, text string) string {
	colour := cmp.Or(map[session.Status]string{
		session.Status(loop.Success): "2", session.Status(loop.Failed): "1", session.Crashed: "1", session.Running: "4",
	}[session.Status(outcome)], "3") // yellow: neither done nor broken
	return s.Style.NewStyle().Foreground(lipgloss.Color(colour)).Render(text)
}

// project names a working directory, of this system or another, by its last
// part, "?" where it is not known.
func project(dir string) string {
	name := path.Base(cmp.Or(filepath.ToSlash(term.Line(dir)), "?"))
	return fit(name, widestProject)
}
