package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// steps are what the steps of a strategy came to: candidates, attempts, rounds. Its turns and
// iterations are shown elsewhere.
type steps struct {
	all []*step
}

type step struct {
	path  loop.Step
	facts []string
}

// noted takes the next note of the session. kept maps checkpoints to steps.
func (s *steps) noted(path loop.Step, e loop.Noted, kept map[string]loop.Step) {
	whole := cmp.Or(path.Parent(), path)
	switch e.Name {
	case loop.NoteCheckpoint, loop.NoteForked, loop.NoteRejudge, loop.NoteQuestion: // nothing to show
	case loop.NoteRestored:
		if from := kept[e.Text]; from != "" {
			s.add(whole, "goes on from "+string(from))
		}
	case loop.NoteApplied:
		s.add(cmp.Or(kept[e.Text], whole), "applied")
	case loop.NoteForkApplied, loop.NoteForkDiscarded:
		s.closed(path, e.Name == loop.NoteForkApplied)
	case loop.NoteChecks:
		if said := render.Passed(e.Checks); said != "" {
			s.add(whole, "checks: "+said)
		}
	default:
		name := ""
		if whole != path {
			name = path.Name() + " "
		}
		s.add(whole, name+e.Text)
	}
}

// closed takes the end of a fork. One named [loop.ForkPlace] is only a place for the step around it, and one of which
// parts were applied was not thrown away.
func (s *steps) closed(fork loop.Step, applied bool) {
	switch {
	case fork.Name() == loop.ForkPlace:
	case applied:
		s.add(fork, "applied")
	case !slices.ContainsFunc(s.all, func(x *step) bool { return x.path.In(fork) && slices.Contains(x.facts, "applied") }):
		s.add(fork, "thrown away")
	}
}

// add adds a fact, once: a resumed session may report it again.
func (s *steps) add(path loop.Step, fact string) {
	i := slices.IndexFunc(s.all, func(x *step) bool { return x.path == path })
	if i < 0 {
		i = len(s.all)
		s.all = append(s.all, &step{path: path})
	}
	if fact = strings.TrimSpace(term.Line(fact)); fact != "" && !slices.Contains(s.all[i].facts, fact) {
		s.all[i].facts = append(s.all[i].facts, fact)
	}
}

// lines are the steps, wrapped at a width.
func (s *steps) lines(width int) (lines []string) {
	for _, x := range s.all {
		text := term.Line(string(x.path)) + "  " + strings.Join(x.facts, ", ")
		for i, line := range strings.Split(term.Wrap(text, max(20, width-4)), "\n") {
			lines = append(lines, fmt.Sprintf("  %*s%s", min(2, 2*i), "", line))
		}
	}
	return lines
}
