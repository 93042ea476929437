package progress

import (
	"time"

	"codeloops/internal/loop"
)

// A Tally is a [loop.Sink] that adds up a run. The zero value is ready to use. It is not safe for
// concurrent use; a copy is a snapshot.
//
// Some logs only contain whole iterations, without their turns: what was not counted from a turn
// is taken from its iteration.
type Tally struct {
	Iterations int // finished ones
	Errors     int // finished ones that count as errors
	Actor      Part
	Critic     Part // including rejected replies
	CheckTime  time.Duration
	Leftovers  int // processes left running by agents
	Waits      int // for services
	Raised
	// Spent is compared with the budgets.
	Spent loop.Spending
	Diff  // of the user's own work tree at the last look

	forks Forks
	told  told
}

// Raised counts the findings of critics: those that bind the actor, and those that do not.
type Raised struct {
	Musts int `json:"findings_must,omitzero"`
	Mays  int `json:"findings_may,omitzero"`
}

// A Diff is what differs since the session began.
type Diff struct {
	FilesChanged int `json:"git_files_changed"`
	Insertions   int `json:"insertions"`
	Deletions    int `json:"deletions"`
}

// A Part is the sum of one role's turns.
type Part struct {
	Turns int
	Time  time.Duration
	Wait  time.Duration // for services; not included in Time
	Usage Usage
}

// told says which parts of the last iteration had events of their own: its beginning, for which
// [loop.Start] stands, and its phases.
type told struct {
	iteration int
	of        [loop.Ended]bool
}

func (t *Tally) tell(iteration int, s loop.State) {
	if t.told.iteration != iteration {
		t.told = told{iteration: iteration}
	}
	t.told.of[s] = true
}

// Told reports whether a phase, or for [loop.Start] the beginning of an iteration, had an event
// of its own. Some logs only have whole iterations.
func (t *Tally) Told(iteration int, s loop.State) bool {
	return t.told.iteration == iteration && t.told.of[s]
}

// Handle adds an event. It never fails.
func (t *Tally) Handle(at loop.Stamp, e loop.Event) error {
	switch e := e.(type) {
	case loop.IterationStarted:
		t.tell(e.Iteration, loop.Start)
	case loop.WaitFinished:
		t.waited(e)
	case loop.ActorFinished:
		t.tell(e.Iteration, loop.ActorExecuting)
		t.actor(e.Attempt)
	case loop.DiffCaptured:
		t.tell(e.Iteration, loop.CapturingDiff)
	case loop.ChecksFinished:
		t.tell(e.Iteration, loop.Verifying)
		t.checks(e.Checks)
	case loop.ReviewRejected:
		t.critic(e.Review)
	case loop.CriticFinished:
		t.tell(e.Iteration, loop.CriticEvaluating)
		t.critic(e.Review)
	case loop.IterationFinished:
		t.round(e.Round)
	case loop.TurnFinished:
		if e.Review != nil {
			t.turn(&t.Critic, loop.RoleCritic, e.Reply.Turn)
		} else {
			t.Spent.Add(e.Role, e.Reply.Turn)
		}
	case loop.Noted:
		t.forks.Follow(e)
	case loop.Started, loop.Resumed, loop.PhaseEntered, loop.TurnStarted, loop.Activity, loop.WaitStarted,
		loop.Inspected, loop.BaselineChecked, loop.Warned, loop.Finished, loop.Steered:
	}
	if c, ok := t.forks.Captured(at, e); ok {
		t.FilesChanged, t.Insertions, t.Deletions = c.Shape().Files, c.Insertions, c.Deletions
	}
	return nil
}

func (t *Tally) round(r loop.Round) {
	t.Iterations++
	t.findings(r.Findings)
	if r.Failure != loop.StopNone {
		t.Errors++
	}
	if !t.Told(r.Iteration, loop.ActorExecuting) {
		t.actor(r.Attempt)
	}
	if !t.Told(r.Iteration, loop.Verifying) {
		t.checks(r.Checks)
	}
	if !t.Told(r.Iteration, loop.CriticEvaluating) && !r.Unjudged {
		t.critic(r.Review)
	}
}

// findings counts the findings of the session; each ruling lists all of them.
func (t *Tally) findings(all []loop.Finding) {
	if len(all) == 0 { // a round without a critic
		return
	}
	t.Musts, t.Mays = 0, 0
	for _, f := range all {
		if f.May {
			t.Mays++
		} else {
			t.Musts++
		}
	}
}

func (t *Tally) waited(e loop.WaitFinished) {
	t.Waits++
	switch e.Role {
	case loop.RoleActor:
		t.Actor.Wait += e.Wait.Duration
	case loop.RoleCritic:
		t.Critic.Wait += e.Wait.Duration
	}
}

// Forks returns the open forks.
func (t *Tally) Forks() Forks { return t.forks }

// Waited returns how long actor and critic have waited for services.
func (t *Tally) Waited() time.Duration { return t.Actor.Wait + t.Critic.Wait }

func (t *Tally) actor(a loop.Attempt) {
	if !a.Rejudged {
		t.turn(&t.Actor, loop.RoleActor, a.Turn)
	}
}

// critic counts a review. For a panel, the members' turns are counted instead.
func (t *Tally) critic(r loop.Review) {
	if len(r.Votes) == 0 {
		t.turn(&t.Critic, loop.RoleCritic, r.Turn)
	}
}

func (t *Tally) turn(p *Part, role loop.Role, turn loop.Turn) {
	p.Turns++
	p.Time += turn.Duration
	p.Usage.turn(turn)
	t.Spent.Add(role, turn)
	t.Leftovers += len(turn.Leftovers)
}

func (t *Tally) checks(results []loop.CheckResult) {
	for _, c := range results {
		t.CheckTime += c.Duration
	}
}

// A Usage is the sum of what one role's turns reported. It is a lower bound: interrupted turns
// and silent agents have costs, too.
type Usage struct {
	Tokens  loop.Tokens `json:"tokens"`
	CostUSD float64     `json:"cost_usd"`
	Rounds  int         `json:"rounds"` // requests to the model

	Counted int `json:"counted"` // turns with known tokens
	Priced  int `json:"priced"`  // turns with known cost
}

// turn adds a turn including its misses, which do not count as turns.
func (u *Usage) turn(t loop.Turn) {
	counted, priced := u.Counted, u.Priced
	for _, m := range t.Misses {
		u.add(m.Usage)
	}
	u.Counted, u.Priced = counted, priced
	u.add(t.Usage)
}

func (u *Usage) add(turn loop.Usage) {
	if t := turn.Tokens; t != nil {
		u.Counted++
		u.Tokens = u.Tokens.Plus(*t)
	}
	if turn.CostUSD != nil {
		u.Priced++
		u.CostUSD += *turn.CostUSD
	}
	if turn.Rounds != nil {
		u.Rounds += *turn.Rounds
	}
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	u.Tokens = u.Tokens.Plus(v.Tokens)
	u.CostUSD += v.CostUSD
	u.Rounds += v.Rounds
	u.Counted += v.Counted
	u.Priced += v.Priced
	return u
}
