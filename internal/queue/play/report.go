package play

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run"
	"codeloops/internal/wording"
)

// A reporter is the [loop.Sink] that updates a task's record during its run. The run never waits for it: newer
// progress replaces what has not been sent yet.
type reporter struct {
	job  *board.Job
	plan *run.Plan
	say  func(sentence string)
	last loop.Round     // the last whole iteration
	was  queue.Progress // of the task's earlier sessions
	now  news
	news chan news // what is to be sent
	done chan struct{}
}

// news is an update of the record.
type news struct {
	queue.Progress
	cast  [][]string
	words []string // of the user, in this session
	warns []string
}

func newReporter(ctx context.Context, j *board.Job, plan *run.Plan, say func(string)) *reporter {
	r := &reporter{job: j, plan: plan, say: say, was: j.Progress, news: make(chan news, 1), done: make(chan struct{})}
	r.now.words, r.now.warns = plan.Said(), j.Warnings
	if plan.ID() != "" && plan.ID() == r.was.Session { // its own tally includes what it had spent
		past := plan.State().Spent.Total()
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
			rec.Progress, rec.Cast, rec.Warnings = n.Progress, n.cast, n.warns[:min(len(n.warns), mostWarnings)]
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
	p := &r.now
	switch e := e.(type) { //nolint:gochecksumtype // the others are no progress
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
		if o := e.Outcome; o.ActorError != "" && o.Result == loop.Success {
			p.warns = r.warn(p.warns, "the actor's last turn failed: "+o.ActorError)
		}
	case loop.Steered:
		p.words = append(slices.Clip(p.words), e.Text)
	case loop.Warned:
		p.warns = r.warn(p.warns, e.Text)
	case loop.Inspected:
		for _, c := range e.Inspection.Concerns {
			p.warns = r.warn(p.warns, c.Summary(mostWarning))
		}
	case loop.IterationFinished:
		r.last = e.Round
		return nil
	default:
		return nil
	}
	spent := r.plan.State().Spent.Total()
	p.Dollars, p.Tokens = r.was.Dollars+spent.CostUSD, r.was.Tokens+int(spent.Tokens)
	select {
	case <-r.news:
	default:
	}
	r.news <- *p
	return nil
}

// A record has mostWarnings, each with at most mostWarning bytes.
const (
	mostWarnings = 20
	mostWarning  = 500
)

// warn adds a warning, and tells it if it is new.
func (r *reporter) warn(all []string, text string) []string {
	if text = wording.Line(text); slices.Contains(all, text) {
		return all
	}
	r.say(text)
	return append(slices.Clip(all), text)
}

// lastWords says, for people, what was wrong at the end of a run that has failed: what its checks printed, and what the
// critic said; "" is nothing.
func (r *reporter) lastWords() string {
	var all []string
	for _, c := range r.last.Checks {
		if !c.Passed() {
			all = append(all, fmt.Sprintf("the check %q fails: %s", c.Command, cmp.Or(strings.TrimSpace(end(c.Output.Text)), "(it printed nothing)")))
		}
	}
	v := r.last.Verdict
	if said := strings.TrimSpace(cmp.Or(v.Feedback, v.Analysis)); said != "" {
		all = append(all, "the critic said: "+said)
	}
	return strings.Join(all, "; ")
}
