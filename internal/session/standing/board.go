package standing

import (
	"cmp"
	"slices"
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

	mu       sync.Mutex
	acts     map[loop.Step]loop.Notice // the latest activity of each turn
	logged   int                       // the sequence number of the last event that is in the log
	recent   []progress.Instant
	size     int    // bytes of their texts
	question string // that has no answer yet
}

// Handle takes the next event. It never fails.
func (b *Board) Handle(at loop.Stamp, e loop.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if act, ok := e.(loop.Activity); ok {
		b.acted(at.Step, act.Notice)
		b.keep(progress.Instant{After: b.logged, At: at, Does: act})
	} else { // the turn begins, waits or is over
		delete(b.acts, at.Step)
		b.logged = at.Seq
	}
	if note, ok := e.(loop.Noted); ok {
		b.noted(note)
	}
	return b.State.Handle(at, e)
}

func (b *Board) noted(n loop.Noted) {
	switch n.Name {
	case loop.NoteQuestion:
		b.question = n.Text
	case loop.NoteAnswer:
		b.question = ""
	}
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

// How much is kept of what agents do, in bytes: of one text, and of all.
const (
	mostText   = 4 << 10
	mostRecent = 1 << 20
)

func (b *Board) keep(d progress.Instant) {
	if len(d.Does.Text) > mostText {
		d.Does.Text = cut(d.Does.Text, mostText) + "\n"
	}
	b.recent, b.size = append(b.recent, d), b.size+weight(d)
	for b.size > mostRecent {
		b.size -= weight(b.recent[0])
		b.recent = b.recent[1:]
	}
}

// weight is about how much memory it takes.
func weight(d progress.Instant) int { return 200 + len(d.Does.Text) }

// Recent returns what agents did since the event of a sequence number, as far as it is kept: whoever asks late gets
// only the latest.
func (b *Board) Recent(since int) []progress.Instant {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, _ := slices.BinarySearchFunc(b.recent, since+1, func(d progress.Instant, seq int) int { return cmp.Compare(d.At.Seq, seq) })
	return slices.Clone(b.recent[i:])
}

// Standing is where the run stands now.
func (b *Board) Standing() Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.Known
	s.from(b.State, b.acts)
	s.Now.Question = b.question
	return s
}
