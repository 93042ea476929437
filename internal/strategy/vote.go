package strategy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/verdict"
)

const vote = `Several agents have argued about how to do the task below, in the git repository that is your working directory. You are %s, one of them. Their last positions, yours among them, are below. Vote for the one by which the work is to be done; yours need not be the best.

The first line of your answer has this form, and no other line has; it names one of %s:
vote: <name>`

// poll has the debaters vote. The one with the most votes wins, of several the first. Whoever
// cannot be read has no vote.
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
