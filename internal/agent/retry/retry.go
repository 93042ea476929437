// Package retry waits for rate limits and overloaded services, and tries again.
package retry

import (
	"context"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
)

// How long to wait, and how often.
const (
	// slack is added to the stated end of a limit, because clocks differ.
	slack = 3 * time.Second
	// firstLimit is the first pause for a limit without a stated end, firstOver for one
	// whose stated end has passed. Both grow up to longestLimit.
	firstLimit   = time.Minute
	firstOver    = 2 * time.Second
	longestLimit = 30 * time.Minute
	// firstFault is the first pause when the service or the network fails. It grows up to
	// longestFault; maxFaults is the number of retries.
	firstFault   = 2 * time.Second
	longestFault = time.Minute
	maxFaults    = 5
	// glance is how often the wall clock is checked during a wait.
	glance = 10 * time.Second
)

// A Retrier is an [agent.Player] that waits for the end of a rate limit, or for an
// overloaded service, and then plays the turn again. A failed try costs no iteration. It
// is as safe for concurrent use as its Player.
type Retrier struct {
	Player agent.Player
	Now    func() time.Time
	// MaxWait is the longest that one request may wait for a rate limit; if it would take
	// longer, the limit is the reply. 0: it never waits.
	MaxWait time.Duration
	// Random returns numbers in [0, 1), so that many runs do not retry at the same
	// moment.
	Random func() float64
	// Ready is called before a wait is reported: from then on the wait can be ended
	// early, and earlier requests to do so no longer count. May be nil.
	Ready func()
	// Early ends a wait when a value arrives; may be nil.
	Early <-chan struct{}
}

// Run plays a turn, repeating it until the service accepts it. The watch is told of every
// wait. If ctx is done during a wait, the turn was interrupted.
func (x *Retrier) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	var waited time.Duration // the turns' own time does not count
	var met obstacles
	for ; ; r.Try++ {
		reply, err := x.Player.Run(ctx, r)
		if err != nil || ctx.Err() != nil {
			return reply, err
		}
		until := x.again(reply.Turn, &met)
		began := x.Now()
		if until.IsZero() || waited+until.Sub(began) > x.MaxWait {
			return reply, nil
		}
		if !x.wait(ctx, r, reply, until) {
			reply.Ending = loop.EndInterrupted
			return reply, nil
		}
		waited += x.Now().Sub(began)
	}
}

// obstacles counts the failed tries of a request by their cause.
type obstacles struct {
	limits int // without a stated end
	over   int // limits whose stated end was over
	faults int
}

// again returns when to try again: when the service says so, or after increasing pauses;
// zero if waiting is pointless. If the stated end has passed, or nearly, the pauses begin
// short: either clock may be wrong.
func (x *Retrier) again(t loop.Turn, met *obstacles) time.Time {
	now := x.Now()
	switch end := t.ResetAt.Add(slack); {
	case t.Ending == loop.EndOverloaded && met.faults < maxFaults:
		return now.Add(x.pause(firstFault, longestFault, &met.faults))
	case t.Ending != loop.EndRateLimited:
		return time.Time{}
	case t.ResetAt.IsZero():
		return now.Add(x.pause(firstLimit, longestLimit, &met.limits))
	case t.ResetAt.After(now.Add(slack)):
		return end
	default:
		return now.Add(max(end.Sub(now), x.pause(firstOver, longestLimit, &met.over)))
	}
}

// pause doubles with every try, up to longest, and adds some jitter.
func (x *Retrier) pause(first, longest time.Duration, tries *int) time.Duration {
	pause := min(first<<min(*tries, 10), longest)
	*tries++
	return pause + time.Duration(x.Random()*float64(pause)/4)
}

// wait reports whether to go on.
func (x *Retrier) wait(ctx context.Context, r agent.Request, reply agent.Reply, until time.Time) bool {
	w := loop.Wait{Agent: reply.Agent, Cause: reply.Ending, Reason: reply.Reason, Until: until}
	began := x.Now()
	if x.Ready != nil {
		x.Ready()
	}
	tell(r, w)
	w.End = x.until(ctx, until)
	w.Duration = x.Now().Sub(began)
	tell(r, w)
	return w.End != loop.WaitInterrupted
}

func tell(r agent.Request, w loop.Wait) {
	if r.Watch != nil {
		r.Watch(loop.Notice{Wait: &w})
	}
}

// until waits until end, or until the wait is cut short.
func (x *Retrier) until(ctx context.Context, end time.Time) loop.WaitEnd {
	timer := time.NewTimer(end.Sub(x.Now()))
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
			if past(x.Now(), end) {
				return loop.WaitOver
			}
		case <-x.Early:
			return loop.WaitHurried
		}
	}
}

// past compares wall clock times: timers and monotonic clocks stop while a machine
// sleeps.
func past(now, end time.Time) bool { return !now.Round(0).Before(end.Round(0)) }
