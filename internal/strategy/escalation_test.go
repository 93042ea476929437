package strategy_test

import (
	"context"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// TestEscalation: where the critic wants a person to decide the run ends, whoever drives the base. The
// work stays in its copy, and goes on there when the session is carried on.
func TestEscalation(t *testing.T) {
	t.Parallel()
	reflexion := strategy.Reflexion{Base: strategy.ActorCritic{}, MaxAttempts: 2, Threshold: 0.8, Reset: true}
	inPlace := reflexion
	inPlace.Reset = false
	plan := strategy.PlanAndExecute{Base: strategy.ActorCritic{}, MaxSteps: 3, StepRounds: 3, MaxReplans: 1}
	over := reflexion
	over.Base = plan
	for name, c := range map[string]struct {
		strategy loop.Strategy
		at       string // the copy
		tree     string // in the end
	}{
		"reflexion":           {reflexion, "attempt_1", "1.actor 2.actor"},
		"reflexion in place":  {inPlace, "", "1.actor 2.actor"},
		"plan-and-execute":    {plan, "work", "1.actor 2.actor 3.actor"},
		"reflexion over plan": {over, "attempt_1.work", "1.actor 2.actor 3.actor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			say("plan_1.planner", twoSteps, "attempt_1.plan_1.planner", twoSteps, "attempt_1.evaluator", "score: 0.9")(w)
			w.person = "1.critic"
			out, err := w.loop(c.strategy).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"})
			if err != nil || out.Reason != loop.StopPolicyEscalation || out.Summary != "who knows?" || out.Cause != c.at || out.Iterations != 1 {
				t.Fatalf("%+v, %v\n%v", out, err, w.notes)
			}
			out, err = w.loop(c.strategy).Resume(t.Context(), loop.Session{ID: "s", Prompt: "do it"}, w.journal.Clone())
			got := strings.Join(w.trees[""], " ")
			if err != nil || out.Reason != loop.StopDone || got != c.tree || len(w.trees) != 1 || len(w.twice) > 0 {
				t.Errorf("carried on: %+v, %v; the tree has %q; played again: %v\n%v", out, err, got, w.twice, w.notes)
			}
		})
	}
}

// formerly is what an earlier version did.
type formerly func(context.Context, *loop.Steps) error

func (f formerly) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	return loop.Outcome{Reason: loop.StopInterrupted}, f(ctx, steps)
}

func earlierEvaluator() loop.Call {
	return loop.Call{Step: "attempt_1.evaluator", Role: strategy.RoleEvaluator, Case: &loop.Case{}}
}

func earlierPlan() strategy.PlanAndExecute {
	return strategy.PlanAndExecute{Base: strategy.ActorCritic{}, MaxSteps: 3, StepRounds: 3, MaxReplans: 1}
}

// scoredFormerly scores work that a person was to decide on.
func scoredFormerly(ctx context.Context, s *loop.Steps) error {
	return s.Fork(ctx, "attempt_1", func(ctx context.Context, in *loop.Steps) (bool, error) {
		if _, err := (strategy.ActorCritic{}).Run(ctx, in); err != nil {
			return false, err
		}
		if _, err := in.Turns(ctx, earlierEvaluator()); err != nil {
			return false, err
		}
		return false, loop.Stop(loop.StopInterrupted, "", "by the user")
	})
}

// thrownAwayFormerly throws the step away that a person was to decide on, and has the rest scored.
func thrownAwayFormerly(ctx context.Context, s *loop.Steps) error {
	return s.Fork(ctx, "attempt_1", func(ctx context.Context, in *loop.Steps) (bool, error) {
		_, err := in.Turns(ctx, loop.Call{Step: "attempt_1.plan_1.planner", Role: strategy.RolePlanner, Case: &loop.Case{}})
		if err == nil {
			err = in.Note(ctx, "attempt_1.plan_1.made", strategy.NotePlan, "1. one\n2. two")
		}
		if err != nil {
			return false, err
		}
		err = in.Fork(ctx, "attempt_1.work", func(ctx context.Context, work *loop.Steps) (bool, error) {
			if _, err := work.Checkpoint(ctx, "attempt_1.work.start"); err != nil {
				return false, err
			}
			_, err := strategy.ActorCritic{}.Run(ctx, work)
			return false, err
		})
		if err != nil {
			return false, err
		}
		if _, err := in.Turns(ctx, earlierEvaluator()); err != nil {
			return false, err
		}
		return false, loop.Stop(loop.StopInterrupted, "", "by the user")
	})
}

// doneAgainFormerly does anew what was only to be judged again.
func doneAgainFormerly(ctx context.Context, s *loop.Steps) error {
	err := s.Fork(ctx, "attempt_1", func(ctx context.Context, in *loop.Steps) (bool, error) {
		if _, err := earlierPlan().Run(ctx, in); err != nil {
			return false, err
		}
		if _, err := in.Turns(ctx, earlierEvaluator()); err != nil {
			return false, err
		}
		return true, in.Note(ctx, "attempt_1.score", strategy.NoteScore, "0.90, done: true")
	})
	if err == nil {
		_, err = s.Turns(ctx, loop.Call{Step: "plan_1.planner", Role: strategy.RolePlanner, Case: &loop.Case{}})
	}
	return err
}

// TestEarlierVersions: a log in which work was scored that a person was to decide on, or done again
// that was only to be judged again, is carried on as it was begun.
func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	plan := earlierPlan()
	for name, c := range map[string]struct {
		base   loop.Strategy
		before formerly
		world  func(*world)
		reason loop.StopReason
		tree   string
	}{
		"scored":      {strategy.ActorCritic{}, scoredFormerly, func(w *world) { w.person = "1.critic" }, loop.StopDone, "2.actor"},
		"thrown away": {plan, thrownAwayFormerly, func(w *world) { w.person = "1.critic" }, loop.StopDone, "2.actor 3.actor"},
		"done again":  {plan, doneAgainFormerly, func(w *world) { w.beside, w.replies["attempt_1.evaluator"] = true, "score: 0.9" }, loop.StopDone, "1.actor 2.actor mine 4.actor 5.actor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			say("plan_1.planner", twoSteps, "attempt_1.plan_1.planner", twoSteps, "attempt_2.plan_1.planner", twoSteps, "attempt_2.evaluator", "score: 0.9")(w)
			c.world(w)
			if out, err := w.loop(c.before).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"}); err != nil {
				t.Fatalf("%+v, %v\n%v", out, err, w.notes)
			}
			r := strategy.Reflexion{Base: c.base, MaxAttempts: 2, Threshold: 0.8, Reset: true}
			out, err := w.loop(r).Resume(t.Context(), loop.Session{ID: "s", Prompt: "do it"}, w.journal.Clone())
			if got := strings.Join(w.trees[""], " "); err != nil || out.Reason != c.reason || got != c.tree || len(w.twice) > 0 {
				t.Errorf("%+v, %v; the tree has %q; played again: %v\n%v", out, err, got, w.twice, w.notes)
			}
		})
	}
}
