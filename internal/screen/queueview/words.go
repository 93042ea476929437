package queueview

import (
	"cmp"
	"fmt"
	"time"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

// statusLine says where a task stands; "" if that is not worth a line.
func statusLine(r *queue.Record) string {
	switch {
	case r.State == queue.Running && r.Progress.Phase != "":
		return fmt.Sprintf("iteration %d, %s", r.Progress.Iteration, phase(r))
	case r.State == queue.Running && (r.Progress.Iteration > 0 || !r.NotBefore.IsZero()):
		return "" // between two phases, or about to be retried after a wait, perhaps in vain
	case r.State == queue.Running:
		return fmt.Sprintf("attempt %d", r.Attempt)
	case r.Why != "":
		return string(r.State) + ": " + term.Line(r.Why)
	}
	return string(r.State)
}

// permanentLine is the permanent line about a task; "" while it is under way.
func permanentLine(r *queue.Record) string {
	if r.State == queue.Running || r.AwaitsMerge() || r.State == queue.Waiting && r.Why == "" {
		return ""
	}
	return statusLine(r)
}

func inColour(style *lipgloss.Renderer, s queue.State, text string) string {
	colour := cmp.Or(map[queue.State]string{
		queue.Merged: "2", queue.Failed: "1", queue.Dead: "1", queue.NeedsHuman: "1", queue.Running: "4", queue.Finished: "4",
	}[s], "3")
	return style.NewStyle().Foreground(term.Colour(colour)).Render(text)
}

func phase(r *queue.Record) string {
	s, ok := loop.ParseState(r.Progress.Phase)
	if !ok {
		return term.Line(r.Progress.Phase) // of another version
	}
	return words.Phase(s)
}

func since(r *queue.Record, now time.Time) string {
	d := max(0, now.Sub(r.Since))
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return render.Span(d)
}

func dollars(d float64) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.2f", d)
}

// counts counts the tasks in each state, and says what holds up those that wait.
func counts(number map[queue.State]int, held string) (parts []string) {
	for _, s := range queue.States() {
		if n := number[s]; n > 0 {
			said := fmt.Sprintf("%d %s", n, s)
			if s == queue.Waiting && held != "" {
				said += " (" + held + ")"
			}
			parts = append(parts, said)
		}
	}
	return parts
}
