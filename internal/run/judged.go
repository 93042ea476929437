package run

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/strategy"
)

// Judged is work that was done before the run, by somebody else: a run with it plays no actor, and judges once.
type Judged struct {
	// Since is the commit, or the checkpoint of [Begin], that the work is measured from. A resumed session has its own.
	Since string
	// Kept: Since is a checkpoint.
	Kept bool
	// By is who did the work, and Account what they say about it.
	By      loop.AgentRef
	Account string
	// Recorded is work that a session has judged before; nil: none has.
	Recorded *Recorded
}

// Recorded is the work of an iteration that is judged once more. Its states are kept already, and its checks have been run.
type Recorded struct {
	Of         string // the iteration, as in the log
	Store      string // the private repository of its session, as a path
	Checkpoint string // of the work
	Checks     []loop.CheckResult
}

var (
	_ loop.Actor   = (*Judged)(nil)
	_ loop.Checker = (*Recorded)(nil)
	_ loop.Tree    = keptTree{}
)

// recorded is the work that the run judges once more; nil: it is new.
func (p *Plan) recorded() *Recorded {
	if p.options.Judge == nil {
		return nil
	}
	return p.options.Judge.Recorded
}

// keptTree is a work tree with recorded work, which is not kept a second time.
type keptTree struct {
	*worktree.Tree

	was *Recorded
}

// Checkpoint implements [loop.Tree].
func (t keptTree) Checkpoint(context.Context, loop.Step, loop.Change) (string, error) {
	return t.was.Checkpoint, nil
}

// Act implements [loop.Actor]: the work is there.
func (j *Judged) Act(_ context.Context, b loop.Brief, _ loop.Watch) (loop.Attempt, error) {
	turn := loop.Turn{ID: b.ID, Try: loop.Try{Agent: j.By, Ending: loop.EndCompleted, Usage: loop.Usage{Tokens: &loop.Tokens{}, CostUSD: new(0.0), Rounds: new(0)}}}
	turn.Stdout = loop.Output{Text: j.Account, Total: int64(len(j.Account))}
	return loop.Attempt{Turn: turn}, nil
}

// Check implements [loop.Checker]: the checks have been run.
func (was *Recorded) Check(context.Context, loop.Step) iter.Seq2[loop.CheckResult, error] {
	return func(yield func(loop.CheckResult, error) bool) {
		for _, result := range was.Checks {
			if !yield(result, nil) {
				return
			}
		}
	}
}

// judgeOnly leaves out of a configuration what would play an actor.
func (p *Plan) judgeOnly() {
	if p.options.Judge == nil {
		return
	}
	p.Config.CheckBefore = false // its checks would see the work
	if p.recorded() != nil {
		p.Config.Checks, p.Config.Policy.Witness = nil, "off"
	}
	p.Config.Strategy.Name = strategy.NameActorCritic
	p.Config.MaxIterations, p.Config.MaxConsecutiveErrors = 1, 1 // no verdict is no rejection
	if p.earlier != nil {
		p.Config.MaxIterations += len(p.earlier.Journal.Rounds())
	}
}

// actor returns who plays the actor of a site.
func (r *running) actor(worker loop.Actor, seen onlooker) loop.Actor {
	if r.options.Judge != nil {
		return r.options.Judge
	}
	return seenActor{worker, seen}
}

// base takes the state that the change is measured from.
func (r *running) base(ctx context.Context) error {
	switch judge := r.options.Judge; {
	case judge == nil && r.options.Since != "":
		return r.tree.BaselineAt(ctx, r.options.Since)
	case judge == nil:
		return r.tree.Baseline(ctx)
	case judge.Kept:
		return r.tree.Resume(ctx, judge.Since)
	default:
		return r.tree.BaselineAt(ctx, judge.Since)
	}
}

// Begin keeps the present state of a work tree under a name, for as long as those of a session that begins now, and returns the
// checkpoint that later work can be measured from, and the state as [Look] returns it.
func Begin(ctx context.Context, o Options, name string) (checkpoint, state string, err error) {
	err = beside(ctx, o, func(r *running) error {
		if err := cmp.Or(r.keepIn(ctx), r.tree.Baseline(ctx)); err != nil {
			return err
		}
		r.tree.Begin(session.Dated(o.Host.Now(), name))
		state = r.tree.BaseState()
		checkpoint, err = r.tree.Checkpoint(ctx, worktree.Start, loop.Change{State: state})
		return err
	})
	return checkpoint, state, err
}

// Look returns the present state of a work tree. Like git, it takes a file for what is in the index if all stats say
// so.
func Look(ctx context.Context, o Options) (state string, err error) {
	err = beside(ctx, o, func(r *running) error {
		state, err = r.tree.Look(ctx)
		return err
	})
	return state, err
}

// Differs reports whether a work tree differs from what the options' work is measured from.
func Differs(ctx context.Context, o Options) (changed bool, err error) {
	err = beside(ctx, o, func(r *running) error {
		if err := cmp.Or(r.keepIn(ctx), r.base(ctx)); err != nil {
			return err
		}
		c, err := r.tree.Capture(ctx)
		changed = !c.Empty()
		return err
	})
	return changed, err
}

// beside uses a work tree outside of a run.
func beside(ctx context.Context, o Options, do func(*running) error) (err error) {
	p, err := open(ctx, o, o.Host.Path(o.Dir))
	if err != nil {
		return err
	}
	p.settings = o.Settings
	r := &running{Plan: p}
	defer func() {
		if r.kept.shared != nil {
			_ = r.kept.shared.Close() // the system releases it in any case
		}
		err = errors.Join(err, p.Close())
	}()
	if err := p.load(); err != nil {
		return err
	}
	return do(r)
}
