package play

import (
	"context"
	"slices"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run"
)

// A reporter is the [loop.Sink] that updates a task's record during its run. The run never waits for it: newer
// progress replaces what has not been sent yet.
type reporter struct {
	job  *board.Job
	plan *run.Plan
	was  queue.Progress // of the task's earlier sessions
	now  news
	news chan news
	done chan struct{}
}

// news is an update of the record.
type news struct {
	queue.Progress
	cast  [][]string
	words []string // of the user, in this session
}

func newReporter(ctx context.Context, j *board.Job, plan *run.Plan) *reporter {
	r := &reporter{job: j, plan: plan, was: j.Progress, now: news{words: plan.Said()}, news: make(chan news, 1), done: make(chan struct{})}
	if plan.ID() != "" && plan.ID() == r.was.Session { // its own tally includes what it had spent
		past := plan.Tally().Spent.Total()
		r.was.Dollars -= past.CostUSD
		r.was.Tokens -= int(past.Tokens)
	}
	go r.tell(context.WithoutCancel(ctx))
	return r
}

// tell sends the updates.
func (r *reporter) tell(ctx context.Context) {
	defer close(r.done)
	for n := range r.news {
		_ = r.job.Change(ctx, func(rec *queue.Record) error { // if the hub is away, the next update does
			rec.Progress, rec.Cast = n.Progress, n.cast
			rec.Heard(n.words)
			return nil
		})
	}
}

// close waits until everything is sent.
func (r *reporter) close() {
	close(r.news)
	<-r.done
}

// Handle notes the progress of the run.
func (r *reporter) Handle(_ loop.Stamp, e loop.Event) error {
	p := r.now
	switch e := e.(type) {
	case loop.Started:
		p.Session, p.cast = e.Session.ID, queue.CastOf(e.Session.Cast)
	case loop.Resumed:
		p.Session, p.cast = r.plan.ID(), queue.CastOf(e.Session.Cast)
	case loop.IterationStarted:
		p.Iteration, p.Phase = e.Iteration, ""
	case loop.PhaseEntered:
		p.Iteration, p.Phase = e.Iteration, e.State.String()
	case loop.Finished:
		p.Phase = ""
	case loop.Steered:
		if e.Text == "" {
			return nil
		}
		p.words = append(slices.Clip(p.words), e.Text)
	case loop.Activity, loop.TurnStarted, loop.TurnFinished, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished,
		loop.DiffCaptured, loop.Inspected, loop.BaselineChecked, loop.ReviewRejected, loop.CriticFinished, loop.Warned,
		loop.ChecksFinished, loop.IterationFinished:
		return nil
	}
	spent := r.plan.Tally().Spent.Total()
	p.Dollars, p.Tokens = r.was.Dollars+spent.CostUSD, r.was.Tokens+int(spent.Tokens)
	r.now = p
	for {
		select {
		case r.news <- p:
			return nil
		default:
		}
		select {
		case <-r.news: // replaced by the newer one
		default:
		}
	}
}
