package strategy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/verdict"
)

const judgement = `Several agents have argued about how to do the task below, in the git repository that is your working directory. Their last positions are below. Decide how it is to be done: look at the code where they differ, take the best of each, and contradict nothing that the task asks for. Another agent does the work, and sees nothing but your decision.

Answer with the decision alone: what to do, in which order, in which files, and what to test.`

const vote = `Several agents have argued about how to do the task below, in the git repository that is your working directory. You are %s, one of them. Their last positions, yours among them, are below. Vote for the one by which the work is to be done; yours need not be the best.

The first line of your answer has this form, and no other line has; it names one of %s:
vote: <name>`

// decide returns the decision, "" if nobody could make one.
func (d Debate) decide(ctx context.Context, steps *loop.Steps, said []loop.Opinion) (decision string, err error) {
	by := "nobody"
	switch {
	case len(said) == 0:
	case d.Vote:
		by, decision, err = d.poll(ctx, steps, said)
	default:
		_, err = ask(ctx, steps, loop.Call{Step: steps.Step(string(RoleJudge)), Role: RoleJudge, Prompt: judgement, Case: matter(steps, said)}, func(text string) string {
			if decision = strings.TrimSpace(text); decision != "" {
				by = string(RoleJudge)
			}
			return blank(text)
		})
	}
	if err != nil {
		return "", err
	}
	return decision, steps.Note(ctx, steps.Step("decision"), NoteDecision, by)
}

// poll has the debaters vote. The position with the most votes wins, the first one in a tie. An
// unreadable vote does not count.
func (d Debate) poll(ctx context.Context, steps *loop.Steps, said []loop.Opinion) (by, decision string, err error) {
	var names []string
	for _, o := range said {
		names = append(names, o.Who)
	}
	calls := make([]loop.Call, d.Debaters)
	for i := range calls {
		name := debater(i)
		calls[i] = loop.Call{Step: steps.Step("%s.vote", name), Role: name, Prompt: fmt.Sprintf(vote, name, strings.Join(names, ", ")), Case: matter(steps, said)}
	}
	votes, cast := make([]int, len(names)), 0
	_, err = askAll(ctx, steps, calls, func(_ int, text string) string {
		name, ok := verdict.One(text, "vote", names...)
		if !ok {
			return "its first line was not of this form"
		}
		votes[slices.Index(names, name)]++
		cast++
		return ""
	})
	first := slices.Index(votes, slices.Max(votes))
	return fmt.Sprintf("%s, by %d of %d votes", names[first], votes[first], cast), said[first].Says, err
}
