package strategy

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/prompt"
	"codeloops/internal/role/verdict"
)

const plan = `You plan the work on the task below, in the git repository that is your working directory. Look at what is there before you plan, and change nothing. Others carry the steps out, one after the other, each in a conversation of its own: a step is a piece of work that can be finished, and seen to be finished, by itself. Say of each what is to be done and how it shows that it is done. The project's checks, where there are any, have to pass after every step. Take as few steps as the task needs, and at most %d.

End your answer with the plan, as plain text in this form, with nothing after it:

PLAN:
1. <the first step, in one line>
2. <the next step>`

const planRest = `

There was a plan before this one. The steps of it that are done are in your working directory; a step failed, and its work was thrown away. Plan what is left of the task, in another way than the one that failed.`

// makePlan asks the planner for a plan of the remaining work. An unreadable plan is asked for
// once more; after that the whole task is one step.
func (w *project) makePlan(ctx context.Context, in *loop.Steps, c *loop.Case) error {
	w.made++
	step, question := in.Step("plan_%d", w.made), fmt.Sprintf(plan, w.MaxSteps)
	if w.made > 1 {
		question += planRest
	}
	c.Task = w.user.Told()
	ok, err := ask(ctx, in, loop.Call{Step: step.Sub(string(RolePlanner)), Role: RolePlanner, Prompt: question, Case: c}, func(reply string) string {
		var ok bool
		if w.plan, ok = verdict.Plan(reply, w.MaxSteps); !ok {
			return "it did not end with a plan of that form, or had more than one"
		}
		return ""
	})
	if !ok {
		w.plan = []verdict.PlanStep{{ID: "1", Text: "Do all that is left of the whole task."}}
	}
	if err == nil {
		err = in.Note(ctx, step.Sub("made"), NotePlan, listed(w.plan))
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

// texts returns the texts of the steps.
func texts(steps []verdict.PlanStep) (all []string) {
	for _, s := range steps {
		all = append(all, s.Text)
	}
	return all
}

// task describes a step to those who work on it and to those who judge it.
func (w *project) task(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nThis is one step of a larger task. Do what it asks for, and nothing that belongs to another step: the work is judged by this step. The larger task:\n\n%s", w.plan[i].Text, prompt.Fenced(w.whole))
	for _, part := range []struct {
		lead  string
		steps []string
	}{{"Steps that are done, whose work is in the repository:", w.done}, {"Steps that others do later:", texts(w.plan[i+1:])}} {
		if len(part.steps) > 0 {
			fmt.Fprintf(&b, "\n%s\n- %s\n", part.lead, strings.Join(part.steps, "\n- "))
		}
	}
	return b.String()
}
