package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A branch is where a part of the strategy plays. Its work tree is opened when its first step is
// played.
type branch struct {
	forked bool // in its own fork; else in the work tree of the enclosing part

	mu   sync.Mutex // guards what follows, and the part's workplace until it is open
	open bool
	fork Fork
}

func (s *section) sub(whole Step, journal *Journal, forked bool) *Steps {
	p := &section{course: s.course, journal: journal, parent: s, whole: whole, branch: &branch{forked: forked}}
	p.baseline, p.errand = s.baseline, s.errand
	if forked {
		p.within = whole
	}
	return &Steps{p}
}

// open opens the section's work tree.
func (s *section) open(ctx context.Context) (Workplace, error) {
	b := s.branch
	if b == nil {
		return s.at, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		return s.at, nil
	}
	at, err := s.parent.open(ctx)
	if err != nil {
		return at, err
	}
	if b.forked {
		if b.fork, err = at.Forker.Fork(ctx, s.whole); err != nil {
			return at, fmt.Errorf("fork the work tree: %w", err)
		}
		at = b.fork.Workplace()
		err = s.emit(s.whole, Noted{Iteration: s.whole.Iteration(), Name: NoteForked, Text: string(s.whole)})
	}
	s.at, b.open = at, err == nil
	return at, err
}

// Fork runs a part of the strategy in a copy of the current work tree. Afterwards the changes of
// the part are applied to the tree itself, if apply says so, or discarded. The part begins
// without earlier rounds and without a conversation. If the run ends with an error in the fork,
// the fork is kept and opened again when the session is resumed.
func (s *Steps) Fork(ctx context.Context, step Step, play func(context.Context, *Steps) (apply bool, err error)) error {
	part := s.sub(step, s.journal, true)
	apply, err := play(ctx, part)
	if stop, ok := errors.AsType[*stopError](err); ok && stop.reason == StopPolicyEscalation && stop.cause == "" {
		stop.cause = string(step) // tells the person who has to decide where the work is
	}
	if err != nil {
		return err
	}
	name := NoteForkDiscarded
	if apply {
		name = NoteForkApplied
	}
	if _, ok := s.noted(step, name); !ok {
		_, err = part.playNote(ctx, step, name, func() (Noted, error) {
			n := Noted{Text: string(step)}
			if !apply {
				return n, nil
			}
			err := part.branch.fork.Apply(ctx)
			if err != nil {
				return n, fmt.Errorf("take over what was done in %s: %w", part.whole, err)
			}
			n.Change, err = s.keep(ctx, step)
			return n, err
		})
		if err == nil { // only after it is recorded: an open fork must exist
			err = part.branch.fork.Discard()
		}
	}
	s.complaint = part.complaint
	if apply {
		s.memory = part.memory
	}
	s.live = s.live || part.live
	if err != nil || !apply || s.previous == nil {
		return err
	}
	return s.RejudgeIfChanged(ctx, step.Sub(NoteRejudge))
}

// Errand runs a part of the strategy in the current work tree on a part of the task, by which
// alone its iterations are judged. The agent of a role plays its actor. It begins without earlier
// rounds and without a conversation, and leaves none behind.
func (s *Steps) Errand(ctx context.Context, step Step, task string, role Role, play func(context.Context, *Steps) error) error {
	part := s.sub(step, s.journal, false)
	part.errand = errand{within: step, prompt: s.prompt, part: task, actor: role}
	err := play(ctx, part)
	s.complaint, s.live = part.complaint, s.live || part.live
	return err
}

// RejudgeIfChanged compares the work tree with what was judged last, perhaps in an applied fork. If
// they differ, the next iteration judges the work again.
func (s *Steps) RejudgeIfChanged(ctx context.Context, step Step) error {
	if _, known := s.journal.known[step]; known {
		return s.Rejudge(ctx, step, s.previous.Attempt.Turn)
	}
	if next, more := s.journal.next(); more && next != step {
		return nil
	} else if !more {
		if err := s.goLive(ctx); err != nil {
			return err
		}
		now, err := s.at.Tree.Capture(ctx)
		if err != nil {
			return fmt.Errorf("look at the work tree: %w", err)
		}
		if s.position, s.meanwhile = now.Position, nil; now.State == s.previous.Change.State {
			return nil
		}
	}
	return s.Rejudge(ctx, step, s.previous.Attempt.Turn)
}

// Judged reports whether the last iteration's verdict is about the current work tree. It is not
// if a fork was applied to a tree that had changed meanwhile.
func (m *memory) Judged() bool { return m.again == nil }

// Together runs parts of the strategy concurrently, each with its own steps below one of the
// given steps, none of which may contain another. Parts make no iterations. The error is the
// first one; what becomes of the other parts is as in [Steps.Turns].
func (s *Steps) Together(ctx context.Context, steps []Step, play func(ctx context.Context, i int, part *Steps) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make([]*Steps, len(steps))
	for i, step := range steps {
		parts[i] = s.sub(step, s.journal.split(step), false)
	}
	s.loop.concurrently(len(parts), func(i int) {
		err := context.Cause(ctx)
		if err == nil {
			err = play(ctx, i, parts[i])
		}
		if err == nil {
			err = parts[i].journal.rest()
		}
		if err != nil {
			s.halt(err, cancel)
		}
	})
	s.live = s.live || slices.ContainsFunc(parts, func(p *Steps) bool { return p.live })
	return cmp.Or(context.Cause(ctx), s.halting())
}

// concurrently calls do n times concurrently, within the limit of Jobs.
func (l *Loop) concurrently(n int, do func(i int)) {
	var all sync.WaitGroup
	room := make(chan struct{}, cmp.Or(l.Jobs, n, 1))
	for i := range n {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			do(i)
		})
	}
	all.Wait()
}
