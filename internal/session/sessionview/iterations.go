package sessionview

import (
	"context"
	"fmt"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

// ReadIterations reads the iterations of a log. If ctx ends first, it returns its cause.
func ReadIterations(ctx context.Context, path string) ([]progress.Iteration, error) {
	r, err := session.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // opened for reading
	r.Lean = true
	state := progress.State{Closed: []progress.Iteration{}}
	for entry, err := range r.Sound(nil) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return state.Closed, err
		}
		_ = state.Handle(entry.At, entry.Event) // never fails
	}
	return state.Closed, nil
}

// mostIterations is how many lines of a preview show iterations.
const mostIterations = 4

// iterations shows the last iterations of a session, a line each. Until they are read, it shows
// placeholders, so that the lines below do not move.
func (s Screen) iterations(o session.Overview, all []progress.Iteration) (lines []string) {
	if all == nil {
		for range min(o.Iterations, mostIterations) {
			lines = append(lines, s.faint("  …"))
		}
		return lines
	}
	if earlier := len(all) - mostIterations; earlier > 0 {
		lines = append(lines, s.faint("  … "+render.Count(earlier+1, "earlier iteration", "earlier iterations")))
		all = all[earlier+1:]
	}
	for _, one := range all {
		like := "" // CONTINUE
		switch one.Decision {
		case loop.Done:
			like = string(loop.Success)
		case loop.Error:
			like = string(loop.Failed)
		case loop.Continue:
		}
		word := string(one.Decision)
		if one.Escalated {
			word = loop.Escalate
		}
		decision := s.likeOutcome(like, padded(term.Line(word), len(loop.Continue)))
		lines = append(lines, fmt.Sprintf("  %2d  %s  %s", one.Number, decision, render.Stat(one.Change)))
	}
	return lines
}
