package strategy

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// keyApprove is the parameter that has the user approve each plan.
const keyApprove = "approve_plan"

const (
	howToEdit = `y: go on with it; n: refuse it. To change it: "2 TEXT" says step 2 in other words, "+2 TEXT" puts one in as step 2, "-2" takes step 2 out.`
	misread   = "That could not be read, and the plan is as it was."
)

// approve asks the user about the plan until it is approved.
func (w *project) approve(ctx context.Context, in *loop.Steps, step loop.Step) error {
	for n, lead := 1, "The plan:"; ; n++ {
		answer, err := in.Ask(ctx, step.Sub("question_"+strconv.Itoa(n)), lead+"\n\n"+listed(w.plan)+"\n\n"+howToEdit)
		if err != nil {
			return err
		}
		if answer = strings.TrimSpace(answer); strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes") {
			if n == 1 {
				return nil
			}
			return in.Note(ctx, step.Sub("approved"), notePlan, listed(w.plan))
		}
		lead = "The plan is now:"
		changed, ok := edited(w.plan, answer)
		if !ok {
			lead = misread
		}
		w.plan = changed
	}
}

var edit = wording.Pattern(`^([+-]?)(\d{1,3})[.):]?(?:\s+(.*))?$`)

// edited returns the plan with a change by the user.
func edited(plan []verdict.PlanStep, answer string) (changed []verdict.PlanStep, ok bool) {
	m := edit().FindStringSubmatch(answer)
	if m == nil {
		return plan, false
	}
	n, _ := strconv.Atoi(m[2]) // the pattern matches digits
	how, text := m[1], strings.Join(strings.Fields(m[3]), " ")
	most := len(plan)
	if how == "+" {
		most++
	}
	if n < 1 || n > most || (text == "") != (how == "-") || how == "-" && most == 1 {
		return plan, false
	}
	changed = slices.Clone(plan)
	switch how {
	case "+":
		changed = slices.Insert(changed, n-1, verdict.PlanStep{Text: text})
	case "-":
		changed = slices.Delete(changed, n-1, n)
	default:
		changed[n-1].Text = text
	}
	for i := range changed {
		changed[i].ID = strconv.Itoa(i + 1)
	}
	return changed, true
}
