package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// A branch says where a part of the strategy plays. Its work tree is opened when the first
// step in it is played.
type branch struct {
	forked bool // in a fork of its own; else where the part around it plays

	mu   sync.Mutex // guards what follows, and the part's own workplace until it is open
	open bool
	fork Fork
}

// sub returns the steps of a part of the strategy.
func (s *section) sub(whole Step, journal *Journal, forked bool) *Steps {
	p := &section{course: s.course, journal: journal, parent: s, whole: whole, branch: &branch{forked: forked}}
	p.baseline, p.errand = s.baseline, s.errand
	if forked {
		p.within = whole
	}
	return &Steps{p}
}

// open opens the work tree that the steps play in.
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

// Fork has a part of the strategy play in a copy of the work tree as it is now. Then what
// the part has changed is made in the tree itself, if apply says so, or thrown away. The
// part begins with no earlier rounds and no conversation. A fork that the run leaves by an
// error is there again when the session is carried on.
func (s *Steps) Fork(ctx context.Context, step Step, play func(context.Context, *Steps) (apply bool, err error)) error {
	part := s.sub(step, s.journal, true)
	apply, err := play(ctx, part)
	if stop, ok := errors.AsType[*stopError](err); ok && stop.reason == StopPolicyEscalation && stop.cause == "" {
		stop.cause = string(step) // where the person who is to decide finds the work
	}
	if err != nil {
		return err
	}
	name := NoteForkDiscarded
	if apply {
		name = NoteForkApplied
	}
	if _, ok := s.noted(step, name); !ok {
		_, err = part.make(ctx, step, func() (Noted, error) {
			n := Noted{Name: name, Text: string(step)}
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
		if err == nil { // not before it is noted: a fork that is open is there
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
	return s.stands(ctx, step.Sub(NoteRejudge))
}

// Errand has a part of the strategy play where the rest of it does, about a part of the task:
// its iterations are judged by that alone. The agent of a role plays its actor. It begins with
// no earlier rounds and no conversation, and leaves none behind.
func (s *Steps) Errand(ctx context.Context, step Step, task string, role Role, play func(context.Context, *Steps) error) error {
	part := s.sub(step, s.journal, false)
	part.errand = errand{within: step, prompt: s.prompt, part: task, actor: role}
	err := play(ctx, part)
	s.complaint, s.live = part.complaint, s.live || part.live
	return err
}

// stands looks whether the work tree is now what was judged in a fork that was applied. Where
// it is not, the next iteration judges it again.
func (s *Steps) stands(ctx context.Context, step Step) error {
	if _, known := s.journal.known[step]; known {
		return s.rejudge(ctx, step, s.previous.Attempt)
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
	return s.rejudge(ctx, step, s.previous.Attempt)
}

// Judged reports whether the last iteration's verdict is about the work tree as it is: not
// where a fork was applied to a tree that others had changed.
func (m *memory) Judged() bool { return m.again == nil }

// Together has parts of the strategy play at the same time, each with its own steps below one of
// those given, which have to be apart from each other. No iterations are made in them. The
// error is the first one; the other parts are ended then.
func (s *Steps) Together(ctx context.Context, steps []Step, play func(ctx context.Context, i int, part *Steps) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make([]*Steps, len(steps))
	for i, step := range steps {
		parts[i] = s.sub(step, s.journal.split(step), false)
	}
	s.loop.atOnce(len(parts), func(i int) {
		err := context.Cause(ctx)
		if err == nil {
			err = play(ctx, i, parts[i])
		}
		if err == nil {
			err = parts[i].journal.rest()
		}
		if err != nil {
			cancel(err)
		}
	})
	s.live = s.live || slices.ContainsFunc(parts, func(p *Steps) bool { return p.live })
	return context.Cause(ctx)
}

// atOnce does n things at the same time, as many of them as may be.
func (l *Loop) atOnce(n int, do func(i int)) {
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
