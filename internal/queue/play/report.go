package play

import (
	"context"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run"
)

// A reporter is the [loop.Sink] that keeps the record of a task up to date with its run. The run
// never waits for it: what comes while the board is told takes the place of what was not told yet.
type reporter struct {
	job  *board.Job
	plan *run.Plan
	was  queue.Progress // of earlier sessions of the task
	now  queue.Progress
	cast [][]string
	news chan news
	done chan struct{}
}

// news are what the board is to be told.
type news struct {
	queue.Progress
	cast [][]string
}

func newReporter(ctx context.Context, j *board.Job, plan *run.Plan) *reporter {
	r := &reporter{job: j, plan: plan, was: j.Progress, news: make(chan news, 1), done: make(chan struct{})}
	if plan.ID() != "" && plan.ID() == r.was.Session { // it is carried on, and its tally knows what it has spent
		past := plan.Tally().Spent.Total()
		r.was.Dollars -= past.CostUSD
		r.was.Tokens -= int(past.Tokens)
	}
	go r.tell(context.WithoutCancel(ctx))
	return r
}

// tell tells the board.
func (r *reporter) tell(ctx context.Context) {
	defer close(r.done)
	for n := range r.news {
		_ = r.job.Change(ctx, func(rec *queue.Record) error { // a hub that is away is told the next time
			rec.Progress, rec.Cast = n.Progress, n.cast
			return nil
		})
	}
}

// close waits until all is told.
func (r *reporter) close() {
	close(r.news)
	<-r.done
}

// Handle takes down how far the run has come.
func (r *reporter) Handle(_ loop.Stamp, e loop.Event) error {
	p := r.now
	switch e := e.(type) {
	case loop.Started:
		p.Session, r.cast = e.Session.ID, queue.CastOf(e.Session.Cast)
	case loop.Resumed:
		p.Session, r.cast = r.plan.ID(), queue.CastOf(e.Session.Cast)
	case loop.IterationStarted:
		p.Iteration, p.Phase = e.Iteration, ""
	case loop.PhaseEntered:
		p.Iteration, p.Phase = e.Iteration, e.State.String()
	case loop.Finished:
		p.Phase = ""
	case loop.Activity, loop.TurnStarted, loop.TurnFinished, loop.Noted, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished,
		loop.DiffCaptured, loop.Inspected, loop.BaselineChecked, loop.ReviewRejected, loop.CriticFinished, loop.Warned, loop.Steered,
		loop.ChecksFinished, loop.IterationFinished:
		return nil
	}
	spent := r.plan.Tally().Spent.Total()
	p.Dollars, p.Tokens = r.was.Dollars+spent.CostUSD, r.was.Tokens+int(spent.Tokens)
	r.now = p
	for {
		select {
		case r.news <- news{p, r.cast}:
			return nil
		default:
		}
		select {
		case <-r.news: // older
		default:
		}
	}
}
