package standing

import (
	"sync"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// A Board is the [loop.Sink] that knows where a run stands. It is safe for concurrent use.
type Board struct {
	// State is that of the run. Only the board uses it while the run goes on.
	State *progress.State
	// Known is what no event tells: the process, the paths, the limits.
	Known Standing

	mu   sync.Mutex
	acts map[loop.Step]loop.Notice // the latest activity of each turn
}

// Handle takes the next event. It never fails.
func (b *Board) Handle(at loop.Stamp, e loop.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if act, ok := e.(loop.Activity); ok {
		b.acted(at.Step, act.Notice)
	} else { // the turn begins, waits or is over
		delete(b.acts, at.Step)
	}
	return b.State.Handle(at, e)
}

// acted records an activity. Printed output does not replace a more telling activity.
func (b *Board) acted(step loop.Step, n loop.Notice) {
	was, known := b.acts[step]
	if n.Kind == loop.NoticeLook {
		return
	}
	if n.Kind == loop.NoticeOutput {
		if known && was.Kind != loop.NoticeOutput {
			return
		}
		n.Text = lastLine(n.Text)
	} else {
		n.Text = firstLine(n.Text)
	}
	if n.Text == "" {
		return
	}
	if b.acts == nil {
		b.acts = map[loop.Step]loop.Notice{}
	}
	b.acts[step] = loop.Notice{Kind: n.Kind, Text: cut(n.Text, mostWhat)}
}

// Standing is where the run stands now.
func (b *Board) Standing() Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.Known
	s.from(b.State, b.acts)
	return s
}
