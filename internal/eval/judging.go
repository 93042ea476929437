package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/check"
	"codeloops/internal/wording"
)

// A Candidate is a critic to try out.
type Candidate struct {
	Name string // unique; with the terms on which it judges, if they are not the usual ones
	Ref  loop.AgentRef
}

// Work is the work of a case, laid out for a critic.
type Work struct {
	Case
	Candidate

	Dir     string   // the agents' working directory
	Logs    string   // where the session is logged
	Task    string   // all of it
	Words   []string // what the user had said since
	By      loop.AgentRef
	Account string // what the actor had said
	Checks  []loop.CheckResult
}

// A Judging has candidates judge cases.
type Judging struct {
	Host   *host.Host
	Runner *proc.Runner
	Book   *Book
	// Judge runs a session that judges the work, passes its events to the sink, and returns the path of its log.
	// It is called concurrently.
	Judge   func(context.Context, Work, loop.Sink) (log string, err error)
	Jobs    int     // how many at the same time
	MaxCost float64 // of all verdicts on the cases, in US dollars; 0 is no limit
	Tell    func(sentence string)
	// Judged is called after each verdict, for showing.
	Judged func(done, of int, v Verdict)
	// Checks are run on the work of each case, in its copy. A failure shows a fault. Ran is called after each.
	Checks *check.Runner
	Ran    func(Tried)

	mu     sync.Mutex // guards the book, and what follows
	budget budget
	done   int
	of     int
	failed map[string]int // in a row, by candidate
}

// Run has each candidate judge each case that it has not judged yet. Verdicts that a process has paid for and not kept are
// taken in first. It stops at the budget, which is no error.
func (j *Judging) Run(ctx context.Context, cases []Case, candidates []Candidate) error {
	j.failed = map[string]int{}
	j.budget = budget{limit: j.MaxCost, most: map[string]float64{}, freed: sync.NewCond(&j.mu)}
	for _, one := range candidates {
		if err := j.Book.Adopt(one.Name); err != nil {
			return err
		}
	}
	var open []Case
	for _, c := range cases {
		missing := 0
		for _, one := range candidates {
			if v, known := j.Book.Verdict(c.ID, one.Name); known {
				j.budget.paid(v)
			} else {
				missing++
			}
		}
		if j.of += missing; missing > 0 || len(j.untried(c)) > 0 {
			open = append(open, c)
		}
	}
	lanes := j.Book.path("lanes")
	if err := os.RemoveAll(lanes); err != nil { // a killed process has left them
		return fmt.Errorf("remove what an earlier one has left: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(ctx, j.wake)()
	next := make(chan Case)
	var work sync.WaitGroup
	for i := range min(j.Jobs, len(open)) {
		work.Go(func() {
			if err := j.worker(ctx, filepath.Join(lanes, strconv.Itoa(i)), next, candidates); err != nil {
				stop(err)
			}
		})
	}
	for _, c := range open {
		select {
		case next <- c:
		case <-ctx.Done():
		}
	}
	close(next)
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	j.conclude()
	return os.RemoveAll(lanes)
}

func (j *Judging) wake() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.budget.freed.Broadcast()
}

// conclude says what is missing.
func (j *Judging) conclude() {
	if j.budget.refused > 0 {
		j.Tell(fmt.Sprintf("%s not asked for: $%.2f of --max-cost %.2f are spent", wording.Count(j.budget.refused, "verdict"), j.budget.spent, j.MaxCost))
	}
	if j.MaxCost > 0 && j.budget.unpriced > 0 {
		j.Tell(wording.Count(j.budget.unpriced, "verdict") + " came without a cost, so --max-cost does not limit what they cost")
	}
}

// worker judges cases in its lanes, one for each working directory.
func (j *Judging) worker(ctx context.Context, home string, next <-chan Case, candidates []Candidate) (err error) {
	lanes := map[string]*lane{}
	defer func() {
		for _, l := range lanes {
			err = errors.Join(err, l.close())
		}
	}()
	for c := range next {
		l := lanes[c.Dir]
		if l == nil {
			if l, err = openLane(ctx, j.Host, j.Runner, filepath.Join(home, strconv.Itoa(len(lanes))), c.Dir); err != nil {
				return err
			}
			lanes[c.Dir] = l
		}
		if err := j.each(ctx, l, c, candidates); err != nil {
			return err
		}
	}
	return nil
}

// each has the candidates judge a case, whose work is laid out for the first of them.
func (j *Judging) each(ctx context.Context, l *lane, c Case, candidates []Candidate) error {
	if err := j.try(ctx, l, c); err != nil {
		return err
	}
	var w *Work
	for _, one := range candidates {
		cost, ok := j.admit(ctx, c, one)
		if !ok {
			continue
		}
		if w == nil {
			laid, err := l.layOut(ctx, c)
			if err != nil {
				return j.leaveOut(ctx, c, cost, err)
			}
			w = &laid
		}
		w.Candidate, w.Logs = one, j.Book.Logs(one.Name)
		turn, stop := context.WithCancelCause(ctx)
		log, err := j.Judge(turn, *w, &same{state: c.State, stop: stop})
		if cause := context.Cause(turn); errors.Is(cause, errOther) {
			err = cause
		}
		stop(nil)
		if err := j.take(one, c, cost, log, err); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// leaveOut says why a case cannot be judged.
func (j *Judging) leaveOut(ctx context.Context, c Case, cost float64, err error) error {
	j.mu.Lock()
	j.budget.free(cost)
	j.mu.Unlock()
	if ctx.Err() == nil {
		j.Tell(fmt.Sprintf("%s is left out: %v", c.ID, err))
	}
	return context.Cause(ctx)
}

// mostFailures is how many turns of a candidate may fail in a row.
const mostFailures = 3

// admit reports whether a candidate may judge a case now, and what that may cost. It waits for turns that the budget
// depends on.
func (j *Judging) admit(ctx context.Context, c Case, one Candidate) (cost float64, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.Book.Verdict(c.ID, one.Name); known || j.failed[one.Name] >= mostFailures {
		return 0, false
	}
	return j.budget.admit(ctx, one.Name)
}

// take keeps what came of a turn. A turn that fails is no verdict, and is repeated the next time.
func (j *Judging) take(one Candidate, c Case, cost float64, log string, failure error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.budget.free(cost)
	var v Verdict
	has := false
	if log != "" && !errors.Is(failure, errOther) {
		var err error
		if v, has, err = j.Book.take(one.Name, log); err != nil {
			return err
		}
	}
	if !has {
		if j.failed[one.Name]++; failure == nil {
			failure = errNoVerdict
		}
		j.Tell(fmt.Sprintf("%s has not judged %s: %v", one.Name, c.ID, failure))
		if j.failed[one.Name] == mostFailures {
			j.Tell(fmt.Sprintf("%s is asked no more, because its last %s failed", one.Name, wording.Count(mostFailures, "turn")))
		}
		return nil
	}
	j.failed[one.Name] = 0
	j.budget.paid(v)
	j.done++
	j.Judged(j.done, j.of, v)
	return nil
}

var (
	errOther     = errors.New("what was laid out is not what was recorded")
	errNoVerdict = errors.New("the session broke off")
)

// same is a [loop.Sink] that ends a session in which the work is not as recorded, before anybody is asked.
type same struct {
	state string
	stop  context.CancelCauseFunc
}

// Handle implements [loop.Sink].
func (s *same) Handle(_ loop.Stamp, e loop.Event) error {
	if e, is := e.(loop.DiffCaptured); is && e.Change.State != s.state {
		s.stop(errOther)
	}
	return nil
}

// A budget limits what verdicts cost. Turns that are under way count with the dearest verdict of their candidate.
type budget struct {
	limit    float64
	spent    float64
	reserved float64
	open     int
	most     map[string]float64
	refused  int
	unpriced int
	freed    *sync.Cond
}

// admit counts a turn as under way, with what it may cost, unless the budget does not allow it. As long as that is not
// known of a candidate, no other turn goes on beside its own.
func (b *budget) admit(ctx context.Context, critic string) (cost float64, ok bool) {
	for ctx.Err() == nil {
		cost, known := b.most[critic]
		left := b.limit - b.spent - b.reserved
		switch {
		case b.limit == 0, left > 0 && left >= cost && (known || b.open == 0):
			b.open, b.reserved = b.open+1, b.reserved+cost
			return cost, true
		case b.open == 0:
			b.refused++
			return 0, false
		}
		b.freed.Wait()
	}
	return 0, false
}

// free ends what admit began.
func (b *budget) free(cost float64) {
	b.open, b.reserved = b.open-1, b.reserved-cost
	b.freed.Broadcast()
}

func (b *budget) paid(v Verdict) {
	if v.CostUSD == nil {
		b.unpriced++
		b.most[v.Critic] += 0 // it is known that it tells none
		return
	}
	b.spent += *v.CostUSD
	b.most[v.Critic] = max(b.most[v.Critic], *v.CostUSD)
}
