package loop

import (
	"context"
	"maps"
)

// A ledger is what the turns of a session have used, and what those under way are expected to
// use. The zero value is that of a session that has not begun.
type ledger struct {
	spent Spending
	roles roleSpending
	most  map[Role]Spent // the most that one turn of each role has used
	open  map[Role]int   // turns under way
	freed chan struct{}  // closed when one of them is over; nil: nobody waits
}

// allThereIs is what a turn is expected to use while none of its role is over: more than any
// budget holds, and little enough to be added up.
func allThereIs() Spent { return Spent{Tokens: 1 << 50, CostUSD: 1e15} }

// add adds a turn that is over.
func (l *ledger) add(role Role, t Turn) {
	cost := costOf(t)
	l.spent.add(role, cost)
	l.roles.add(role, cost)
	if t.Blocked() || t.Ending == EndInterrupted {
		return // it says nothing of what a whole one uses
	}
	if l.most == nil {
		l.most = map[Role]Spent{}
	}
	most := l.most[role]
	l.most[role] = Spent{Tokens: max(most.Tokens, cost.Tokens), CostUSD: max(most.CostUSD, cost.CostUSD)}
}

// expected adds what the turns under way are expected to use to what has been used.
func (l *ledger) expected() (Spending, map[Role]Spent) {
	if len(l.open) == 0 {
		return l.spent, l.roles
	}
	spent, roles := l.spent, maps.Clone(l.roles)
	for role, turns := range l.open {
		each, known := l.most[role]
		if !known {
			each = allThereIs()
		}
		for range turns {
			spent.add(role, each)
			roles.add(role, each)
		}
	}
	return spent, roles
}

// clone returns the figures of a ledger, with no turn under way.
func (l *ledger) clone() ledger {
	return ledger{spent: l.spent, roles: maps.Clone(l.roles), most: maps.Clone(l.most)}
}

// begin notes that a turn is under way.
func (l *ledger) begin(role Role) {
	if l.open == nil {
		l.open = map[Role]int{}
	}
	l.open[role]++
}

// end notes that it is no more, and wakes those who wait for it.
func (l *ledger) end(role Role) {
	if l.open[role]--; l.open[role] == 0 {
		delete(l.open, role)
	}
	if l.freed != nil {
		close(l.freed)
		l.freed = nil
	}
}

// nextEnd is closed when a turn that is under way now is over.
func (l *ledger) nextEnd() <-chan struct{} {
	if l.freed == nil {
		l.freed = make(chan struct{})
	}
	return l.freed
}

// mayGoOn asks the context and the gate whether the run ends before the next turn, and
// returns the [*stopError] with which it does.
func (s *section) mayGoOn(ctx context.Context, next Role) error {
	return s.admit(ctx, Progress{Next: next, Judges: next == RoleCritic}, false)
}

// reserve waits until a turn may begin, which is under way from then on, until it is spent or
// released. The turns under way count as if each had used what it is expected to: the most that
// one of its role has used in the session. While the gate would not let the turn begin beside
// them it waits for them. Turns at the same time use no more beyond a budget than one turn would.
func (s *section) reserve(ctx context.Context, next Role, judges bool) error {
	return s.admit(ctx, Progress{Next: next, Judges: judges}, true)
}

// admit waits for the turn that the progress names.
func (s *section) admit(ctx context.Context, next Progress, begins bool) error {
	for {
		over, err := s.admits(ctx, next, begins)
		if over == nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-over:
		}
	}
}

// admits asks once. Where a turn that is under way may be what stands in the way, over is closed
// when that is over.
func (s *section) admits(ctx context.Context, next Progress, begins bool) (over <-chan struct{}, err error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.progress
	now.Next, now.Judges = next.Next, next.Judges
	now.Spent, now.Roles = s.ledger.expected()
	reason, why := s.at.Gate.Stop(now)
	switch {
	case reason == StopNone:
		if begins {
			s.ledger.begin(next.Next)
		}
		return nil, nil
	case len(s.ledger.open) > 0:
		return s.ledger.nextEnd(), nil
	}
	return nil, &stopError{reason: reason, sentence: why}
}

// spend adds what a turn has cost.
func (c *course) spend(role Role, t Turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.add(role, t)
}

// release ends what was reserved for a turn.
func (c *course) release(role Role) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.end(role)
}
