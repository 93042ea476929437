package strategy

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
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

// rolePlanner writes the plan.
const rolePlanner loop.Role = "planner"

// The notes of [PlanAndExecute].
const (
	notePlan       = "plan.made"
	noteStepDone   = "plan.step_done"
	noteStepFailed = "plan.step_failed"
)

func planAndExecute() Kind {
	return Kind{
		Name: NamePlan, About: "a planner splits the task into steps; each step is done and judged separately, then the whole",
		When: "the task is too large for an agent to keep in mind", Turns: "the base's for each step, 1 of the planner for each plan",
		Base: NameActorCritic,
		Parameters: []Parameter{
			maxSteps(), baseOf(),
			{Key: keyStepRounds, Default: 3, Least: 1, Help: "plan-and-execute: the most iterations of a step. If it is not done then, the planner is asked again"},
			{Key: keyMaxReplans, Default: 2, Help: "plan-and-execute: how often the planner may be asked again"},
			{Key: keyApprove, Default: false, Flag: "approve-plan", Help: "plan-and-execute: ask on the terminal for approval of the plan before it is carried out"},
			maxTurns(),
		},
		Roles: map[loop.Role]loop.Access{rolePlanner: loop.ReadOnly},
		most: func(c Choice, n int) int {
			return plus(max(times(n, 2), c.mostOfBase(c.count("max_steps"), n)), 1+c.count(keyMaxReplans))
		},
		build: func(c Choice) (loop.Strategy, error) {
			over, err := c.newBase()
			return PlanAndExecute{
				Base: over, MaxSteps: c.count("max_steps"), StepRounds: c.count(keyStepRounds),
				MaxReplans: c.count(keyMaxReplans), Approve: c.on(keyApprove),
			}, err
		},
	}
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
	in.Reset()
	in.Focus(w.task(i))
	defer in.Bound(w.StepRounds, keyStepRounds)()
	defer in.Within(step)()
	defer in.Focus(w.whole)
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
	return in.Note(ctx, step.Sub("done"), noteStepDone, s.String())
}

// replan discards a failed step and has the rest planned anew.
func (w *project) replan(ctx context.Context, in *loop.Steps, step loop.Step, s verdict.PlanStep, why string) error {
	c := in.Case()
	if err := in.Note(ctx, step.Sub("failed"), noteStepFailed, s.String()); err != nil {
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

const plan = `You plan the work on the task below, in the git repository that is your working directory. Look at what is there before you plan, and change nothing. Others carry the steps out, one after the other, each in a conversation of its own: a step is a piece of work that can be finished, and seen to be finished, by itself. Say of each what is to be done and how it shows that it is done. The project's checks, where there are any, have to pass after every step. Take as few steps as the task needs.`

const planForm = `The plan has at most %d steps. End your answer with the plan, as plain text in this form, with nothing after it:

PLAN:
1. <the first step, in one line>
2. <the next step>`

const planRest = `There was a plan before this one. The steps of it that are done are in your working directory; a step failed, and its work was thrown away. Plan what is left of the task, in another way than the one that failed.

`

// makePlan asks the planner for a plan of the remaining work. An unreadable plan is asked for
// once more; after that the whole task is one step.
func (w *project) makePlan(ctx context.Context, in *loop.Steps, c *loop.Case) error {
	w.made++
	step, form := in.Step("plan_%d", w.made), fmt.Sprintf(planForm, w.MaxSteps)
	if w.made > 1 {
		form = planRest + form
	}
	c.Task = w.user.FullTask()
	ok, err := ask(ctx, in, loop.Call{Step: step.Sub(string(rolePlanner)), Role: rolePlanner, Prompt: plan, Form: form, Case: c}, func(reply string) string {
		var ok bool
		if w.plan, ok = verdict.Plan(reply, c.Task, w.MaxSteps); !ok {
			return fmt.Sprintf("it did not end with a plan of that form, or had more than one, or more than %d steps", w.MaxSteps)
		}
		return ""
	})
	if !ok {
		w.plan = []verdict.PlanStep{{ID: "1", Text: "Do all that is left of the whole task: no plan could be read."}}
	}
	if err == nil {
		err = in.Note(ctx, step.Sub("made"), notePlan, listed(w.plan))
	}
	if err != nil || !w.Approve {
		return err
	}
	return w.approve(ctx, in, step)
}

// listed returns a plan, one step per line.
func listed(steps []verdict.PlanStep) string {
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.String())
	}
	return strings.Join(lines, "\n")
}

// task describes a step to those who work on it and to those who judge it.
func (w *project) task(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nThis is one step of a larger task. Do what it asks for, and nothing that belongs to another step: the work is judged by this step. The larger task:\n\n%s", w.plan[i].Text, prompt.Fenced(w.whole))
	if len(w.done) > 0 {
		fmt.Fprintf(&b, "\nSteps that are done, whose work is in the repository:\n- %s\n", strings.Join(w.done, "\n- "))
	}
	for j, s := range w.plan[i+1:] {
		if j == 0 {
			b.WriteString("\nSteps that others do later:\n")
		}
		b.WriteString("- " + s.Text + "\n")
	}
	return b.String()
}
