package strategy

import (
	"context"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/verdict"
)

// PlanAndExecute has a planner break the task down into steps, and a base carry out each of them,
// judged separately. The steps are carried out in a copy of the work tree; when one is done, its
// changes are applied to the user's tree. A step that is not done within its rounds is discarded,
// and the rest is planned anew. In the end the whole is judged against the whole prompt. (Wang et
// al. 2023, Plan-and-Solve Prompting, arXiv:2305.04091.)
type PlanAndExecute struct {
	Base       loop.Strategy
	MaxSteps   int
	StepRounds int
	MaxReplans int
	Approve    bool // the user is asked about each plan
}

// RolePlanner writes the plan.
const RolePlanner loop.Role = "planner"

// The notes of [PlanAndExecute].
const (
	NotePlan       = "plan.made"
	NoteStepDone   = "plan.step_done"
	NoteStepFailed = "plan.step_failed"
)

func planAndExecute() Kind {
	k := Kind{
		Name: NamePlan, About: "a planner breaks the task down; each step is worked on and judged by itself, then the whole",
		When: "the task is larger than what an agent keeps in mind", Turns: "the base's for each step, 1 of the planner for each plan",
		Base: NameActorCritic,
		Parameters: []Parameter{
			maxSteps(), baseOf(),
			{Key: keyStepRounds, Default: 3, Least: 1},
			{Key: keyMaxReplans, Default: 2},
			{Key: KeyApprove, Default: false, Flag: "--approve-plan"},
			maxTurns(),
		},
		Roles: map[loop.Role]loop.Access{RolePlanner: loop.ReadOnly},
		Most: func(v Values, n int) int {
			return plus(max(times(n, 2), v.mostOfBase(v.count("max_steps"), n)), 1+v.count(keyMaxReplans))
		},
	}
	k.make = func(v Values) (loop.Strategy, error) {
		over, err := v.over(k)
		return PlanAndExecute{
			Base: over, MaxSteps: v.count("max_steps"), StepRounds: v.count(keyStepRounds),
			MaxReplans: v.count(keyMaxReplans), Approve: v.on(KeyApprove),
		}, err
	}
	return k
}

// A project is a task that is carried out by plan.
type project struct {
	PlanAndExecute
	user        *loop.Steps // the steps in the user's tree
	whole, from string      // the task; the checkpoint at which the next step starts
	made        int         // plans
	plan        []verdict.PlanStep
	done        []string
	last        loop.Turn     // of the last step that is done
	over        *loop.Outcome // set: the end of the run
}

// Run implements [loop.Strategy].
func (p PlanAndExecute) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	if err := steps.Baseline(ctx); err != nil {
		return loop.Outcome{}, err
	}
	w := &project{PlanAndExecute: p, user: steps, whole: steps.Task()}
	err := w.makePlan(ctx, steps, &loop.Case{})
	if err == nil && w.over == nil {
		err = steps.Fork(ctx, steps.Step("work"), func(ctx context.Context, in *loop.Steps) (bool, error) {
			return false, w.carryOut(ctx, in) // what is done has been applied
		})
	}
	switch {
	case err != nil:
		return loop.Outcome{}, err
	case w.over != nil:
		return *w.over, nil
	}
	if err := steps.Rejudge(ctx, steps.Step("synthesis"), w.last); err != nil {
		return loop.Outcome{}, err
	}
	return ActorCritic{}.Run(ctx, steps)
}

// carryOut follows the plan, and the plans that replace it when a step has failed.
func (w *project) carryOut(ctx context.Context, in *loop.Steps) error {
	start, err := in.Checkpoint(ctx, in.Step("start"))
	w.from = start.Checkpoint
	for i := 0; err == nil && w.over == nil && i < len(w.plan); i++ {
		step := in.Step("plan_%d.step_%d", w.made, i+1)
		var out loop.Outcome
		if out, err = w.play(ctx, in, step, i); err != nil {
			return err
		}
		switch out.Reason { //nolint:exhaustive // any other reason ends the run
		case loop.StopDone:
			err = w.finish(ctx, in, step, w.plan[i])
		case loop.StopMaxIterations, loop.StopStuck:
			err = w.replan(ctx, in, step, w.plan[i], out.Summary)
			i = -1
		default: // the copy stays: it is needed when the session is resumed
			err = loop.Stop(out.Reason, out.Cause, out.Summary)
		}
	}
	return err
}

// play has the base carry out a step of the plan.
func (w *project) play(ctx context.Context, in *loop.Steps, step loop.Step, i int) (loop.Outcome, error) {
	in.Anew()
	in.Aim(w.task(i))
	defer in.Bound(w.StepRounds, keyStepRounds)()
	defer in.Within(step)()
	defer in.Aim(w.whole)
	return w.Base.Run(ctx, in)
}

// finish applies the changes of a step to the user's tree.
func (w *project) finish(ctx context.Context, in *loop.Steps, step loop.Step, s verdict.PlanStep) error {
	w.last = in.Case().Attempt.Turn
	end, err := in.Checkpoint(ctx, step.Sub("end"))
	if err == nil {
		err = w.user.Apply(ctx, w.user.Step("apply_%d", len(w.done)+1), w.from, end.Checkpoint)
	}
	if err != nil {
		return err
	}
	w.from, w.done = end.Checkpoint, append(w.done, s.Text)
	return in.Note(ctx, step.Sub("done"), NoteStepDone, s.String())
}

// replan discards a failed step and has the rest planned anew.
func (w *project) replan(ctx context.Context, in *loop.Steps, step loop.Step, s verdict.PlanStep, why string) error {
	c := in.Case()
	if err := in.Note(ctx, step.Sub("failed"), NoteStepFailed, s.String()); err != nil {
		return err
	}
	if w.made > w.MaxReplans {
		w.over = new(bounded(keyMaxReplans, "a step of the plan failed, and max_replans is reached: "+s.Text))
		return nil
	}
	if err := in.Restore(ctx, step.Sub("restore"), w.from); err != nil {
		return err
	}
	c.Opinions = []loop.Opinion{
		{Who: "the plan, of the steps that are done", Says: strings.Join(w.done, "\n")},
		{Who: "the plan, of the step that failed", Says: s.Text},
		{Who: "who judged it", Says: why},
	}
	return w.makePlan(ctx, in, c)
}
