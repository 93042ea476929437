package browse

import (
	"context"
	"errors"
	"fmt"

	"codeloops/internal/loop"
	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// A Step is an iteration in short.
type Step struct {
	Iteration int
	Decision  loop.Decision
	Stat      string // of all that has changed up to then
}

// ReadSteps reads the iterations of a log, as far as they can be read before ctx
// is over: it then returns its cause.
func ReadSteps(ctx context.Context, path string) ([]Step, error) {
	r, err := session.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // opened for reading
	r.Lean = true
	steps := []Step{}
	for entry, err := range r.Entries() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if _, bad := errors.AsType[*session.LineError](err); err != nil && !bad {
			return steps, err
		}
		if e, ok := entry.Event.(loop.IterationFinished); ok {
			steps = append(steps, Step{e.Round.Iteration, e.Round.Verdict.Decision, render.Stat(e.Round.Change)})
		}
	}
	return steps, nil
}

// mostSteps is how many lines of a preview tell of iterations.
const mostSteps = 4

// steps are the last iterations of a session, a line each. Those that have not
// been read yet have their lines, too: what stands below stays where it is.
func (s Screen) steps(o session.Overview, steps []Step) (lines []string) {
	faint := s.Style.NewStyle().Faint(true)
	if steps == nil {
		for range min(o.Iterations, mostSteps) {
			lines = append(lines, faint.Render("  …"))
		}
		return lines
	}
	if earlier := len(steps) - mostSteps; earlier > 0 {
		lines = append(lines, faint.Render("  … "+render.Count(earlier+1, "earlier iteration", "earlier iterations")))
		steps = steps[earlier+1:]
	}
	for _, step := range steps {
		like := "" // goes on
		switch step.Decision {
		case loop.Done:
			like = string(loop.Success)
		case loop.Error:
			like = string(loop.Failed)
		case loop.Continue:
		}
		decision := s.likeOutcome(like, padded(term.Line(string(step.Decision)), len(loop.Continue)))
		lines = append(lines, fmt.Sprintf("  %2d  %s  %s", step.Iteration, decision, term.Line(step.Stat)))
	}
	return lines
}
