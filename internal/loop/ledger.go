package loop

import (
	"context"
	"maps"
)

// A ledger holds what the turns of a session have used, and what the running ones are expected to
// use. The zero value is the ledger of a new session.
type ledger struct {
	spent Spending
	roles map[Role]Spent // the same by role
	most  map[Role]Spent // the most that one turn of each role has used
	open  map[Role]int   // running turns
}

// add adds a finished turn.
func (l *ledger) add(role Role, t Turn) {
	if l.roles == nil {
		l.roles, l.most = map[Role]Spent{}, map[Role]Spent{}
	}
	cost := costOf(t)
	l.spent.add(role, cost)
	l.roles[role] = l.roles[role].Plus(cost)
	if t.Blocked() || t.Ending == EndInterrupted {
		return // it says nothing about the cost of a whole turn
	}
	most := l.most[role]
	l.most[role] = Spent{Tokens: max(most.Tokens, cost.Tokens), CostUSD: max(most.CostUSD, cost.CostUSD)}
}

// expected returns what has been used plus the estimates for the running turns.
func (l *ledger) expected() (Spending, map[Role]Spent) {
	if len(l.open) == 0 {
		return l.spent, l.roles
	}
	spent, roles := l.spent, maps.Collect(maps.All(l.roles))
	for role, turns := range l.open {
		each, known := l.most[role]
		if !known { // more than any budget, and small enough to be added up
			each = Spent{Tokens: 1 << 50, CostUSD: 1e15}
		}
		for range turns {
			spent.add(role, each)
			roles[role] = roles[role].Plus(each)
		}
	}
	return spent, roles
}

// clone returns a copy without running turns.
func (l *ledger) clone() ledger {
	return ledger{spent: l.spent, roles: maps.Clone(l.roles), most: maps.Clone(l.most), open: map[Role]int{}}
}

// admit waits until the gate permits a turn, and returns a [*stopError] if it does not. Running
// turns count with their estimates: the most that one turn of the role has used so far. While the
// gate would refuse the turn because of them, admit waits for one to finish. Concurrent turns thus
// exceed a budget by no more than a single turn would. If begins names a role, its turn counts as
// running until it is released.
func (s *section) admit(ctx context.Context, judges bool, begins Role) error {
	defer context.AfterFunc(ctx, s.wake)()
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil {
		now := s.progress
		now.Judges = judges
		now.Spent, now.Roles = s.ledger.expected()
		reason, why := s.at.Gate.Stop(now)
		switch {
		case reason == StopNone:
			if begins != "" {
				s.ledger.open[begins]++
			}
			return nil
		case len(s.ledger.open) == 0:
			return &stopError{reason: reason, sentence: why}
		}
		s.freed.Wait() // for a running turn, which may be the reason
	}
	return cancelled(ctx)
}

// wake has those who wait for the end of a turn look again.
func (c *course) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freed.Broadcast()
}

// spend adds the cost of a turn.
func (c *course) spend(role Role, t Turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.add(role, t)
}

// release ends a reservation.
func (c *course) release(role Role) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ledger.open[role]--; c.ledger.open[role] == 0 {
		delete(c.ledger.open, role)
	}
	c.freed.Broadcast()
}
