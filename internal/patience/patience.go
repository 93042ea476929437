// Package patience asks an agent again when its service was in the way.
package patience

import (
	"context"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
)

// A Player plays one turn; [agent.Agent] is one.
type Player interface {
	Run(context.Context, agent.Request) (agent.Reply, error)
}

// How long to wait, and how often.
const (
	// slack is added to a stated end of a limit: clocks differ.
	slack = 3 * time.Second
	// firstLimit is before the next try while a limit has no stated end, firstOver
	// where that is over; both grow up to longestLimit.
	firstLimit   = time.Minute
	firstOver    = 2 * time.Second
	longestLimit = 30 * time.Minute
	// firstFault and longestFault are between tries while the service or the
	// network fails, maxFaults is how often it is tried again.
	firstFault   = 2 * time.Second
	longestFault = time.Minute
	maxFaults    = 5
	// glance is how often the clock is looked at during a wait.
	glance = 10 * time.Second
)

// An Agent is a Player that waits: for the end of a rate limit, for a service
// that is overloaded. The turn that could not be played costs no iteration. It
// is as safe for concurrent use as its Player.
type Agent struct {
	Player Player
	Now    func() time.Time
	// MaxWait is the longest that one request may wait for a rate limit; when
	// it would take longer, the limit is the reply. 0: it never waits.
	MaxWait time.Duration
	// Random is in [0, 1), so that many runs do not come back at once.
	Random func() float64
	// Ready is called before a wait is told, so that whoever hears of it can end it
	// at once: what somebody asked for before counts no longer. May be nil.
	Ready func()
	// Enter is called when a wait begins, for a time known by then. The wait ends
	// early when something can be received from hurry; leave is called when it is
	// over, on every path. nil: nobody can end a wait.
	Enter func(until time.Time) (hurry <-chan struct{}, leave func())
}

// Run plays a turn, as often as it takes for the service to let it. The watch
// is told of every wait. When ctx is done during a wait, the turn was
// interrupted.
func (a *Agent) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	began := a.Now()
	var met obstacles
	for ; ; r.Try++ {
		reply, err := a.Player.Run(ctx, r)
		if err != nil || ctx.Err() != nil {
			return reply, err
		}
		until := a.again(reply.Turn, &met)
		if until.IsZero() || until.Sub(began) > a.MaxWait {
			return reply, nil
		}
		if !a.wait(ctx, r, reply, until) {
			reply.Ending = loop.EndInterrupted
			return reply, nil
		}
	}
}

// obstacles counts what has been in the way of a request.
type obstacles struct {
	limits int // without a stated end
	over   int // limits whose stated end was over
	faults int
}

// again says when to try again: when the service says so, or after ever longer
// pauses; zero when there is nothing to wait for. They are short where the stated
// end is over, or as good as: nobody knows whose clock is wrong.
func (a *Agent) again(t loop.Turn, met *obstacles) time.Time {
	now := a.Now()
	switch end := t.ResetAt.Add(slack); {
	case t.Ending == loop.EndOverloaded && met.faults < maxFaults:
		return now.Add(a.pause(firstFault, longestFault, &met.faults))
	case t.Ending != loop.EndRateLimited:
		return time.Time{}
	case t.ResetAt.IsZero():
		return now.Add(a.pause(firstLimit, longestLimit, &met.limits))
	case t.ResetAt.After(now.Add(slack)):
		return end
	default:
		return now.Add(max(end.Sub(now), a.pause(firstOver, longestLimit, &met.over)))
	}
}

// pause doubles with every try, up to a longest one, and is a little longer by
// chance.
func (a *Agent) pause(first, longest time.Duration, tries *int) time.Duration {
	pause := min(first<<min(*tries, 10), longest)
	*tries++
	return pause + time.Duration(a.Random()*float64(pause)/4)
}

// wait reports whether to go on.
func (a *Agent) wait(ctx context.Context, r agent.Request, reply agent.Reply, until time.Time) bool {
	w := loop.Wait{Agent: reply.Agent, Cause: reply.Ending, Reason: reply.Reason, Until: until}
	began := a.Now()
	if a.Ready != nil {
		a.Ready()
	}
	tell(r, w)
	w.End = a.until(ctx, until)
	w.Duration = a.Now().Sub(began)
	tell(r, w)
	return w.End != loop.WaitInterrupted
}

func tell(r agent.Request, w loop.Wait) {
	if r.Watch != nil {
		r.Watch(loop.Notice{Wait: &w})
	}
}

// until lets the time pass, or what is left of it when the wait is cut short.
func (a *Agent) until(ctx context.Context, end time.Time) loop.WaitEnd {
	var hurry <-chan struct{}
	if a.Enter != nil {
		var leave func()
		hurry, leave = a.Enter(end)
		defer leave()
	}
	timer := time.NewTimer(end.Sub(a.Now()))
	defer timer.Stop()
	look := time.NewTicker(glance)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return loop.WaitInterrupted
		case <-timer.C:
			return loop.WaitOver
		case <-look.C:
			if past(a.Now(), end) {
				return loop.WaitOver
			}
		case <-hurry:
			return loop.WaitHurried
		}
	}
}

// past reports whether a time of day has come, whatever has been measured since:
// timers stand still while a machine sleeps.
func past(now, end time.Time) bool { return !now.Round(0).Before(end.Round(0)) }
