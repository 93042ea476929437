package strategy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// ask plays a turn until its reply can be read, at most twice; ok reports whether it could. read
// returns what is wrong with a reply, "" for nothing.
func ask(ctx context.Context, steps *loop.Steps, call loop.Call, read func(reply string) (problem string)) (ok bool, err error) {
	readable, err := askAll(ctx, steps, []loop.Call{call}, func(_ int, reply string) string { return read(reply) })
	return readable[0], err
}

// askAll does the same for several concurrent turns; read gets their indexes.
func askAll(ctx context.Context, steps *loop.Steps, calls []loop.Call, read func(i int, reply string) (problem string)) (readable []bool, err error) {
	readable = make([]bool, len(calls))
	problems := make([]string, len(calls))
	for again := range 2 {
		var now []loop.Call
		var due []int
		for i, call := range calls {
			if readable[i] {
				continue
			}
			if again > 0 {
				call.Step = call.Step.Sub("2")
				call.Form += "\n\nYou have been asked before, and your reply could not be used: " + wording.Line(problems[i]) + "."
			}
			now, due = append(now, call), append(due, i)
		}
		replies, err := steps.Turns(ctx, now...)
		if err != nil {
			return readable, err
		}
		for n, i := range due {
			problems[i] = "your turn " + prompt.Ended(replies[n].Ending, replies[n].ExitCode)
			if replies[n].Ending != loop.EndCompleted {
				continue
			}
			changed, err := steps.Meddled(ctx, now[n], replies[n])
			switch {
			case err != nil:
				return readable, err
			case changed != "" && (again == 0 || steps.Strict()):
				problems[i] = changed
			default:
				problems[i] = read(i, replies[n].Text)
				readable[i] = problems[i] == ""
			}
		}
	}
	return readable, nil
}

// roleEvaluator scores the result of an attempt or a candidate.
const roleEvaluator loop.Role = "evaluator"

const evaluate = `You score the work of a coding agent on the task below, in the git repository that is your working directory. Verify what it says before you believe it. Be strict:
- 1.0: the task is fully solved, and nothing is wrong
- 0.7 to 0.9: mostly right, with small gaps
- 0.4 to 0.6: right in part, with large gaps
- 0.0 to 0.3: wrong, or the main thing is missing`

const scoreForm = `The first line of your answer has this form, and no other line has:
score: <a number from 0 to 1>

The lines after it say why.`

// noteUnread records that a reply held no score.
const noteUnread = "score.unread"

// scored asks an evaluator to score a case. An unreadable reply is asked for once more, and then
// counts as 0, which is noted; answered reports whether there was any reply.
func scored(ctx context.Context, in *loop.Steps, step loop.Step, c loop.Case) (score float64, answered bool, err error) {
	call := loop.Call{Step: step, Role: roleEvaluator, Prompt: evaluate, Form: scoreForm, Case: &c, Judges: true}
	tries := 0
	var unnoted error
	ok, err := ask(ctx, in, call, func(reply string) string {
		answered = true
		s, ok := verdict.Score(reply)
		if !ok {
			what := "it is asked for again"
			if tries++; tries > 1 {
				what = "it counts as 0"
			}
			unnoted = errors.Join(unnoted, in.Note(ctx, step.Sub(fmt.Sprintf("unread_%d", tries)), noteUnread, what))
			return "its first line was not of this form"
		}
		score = s
		return ""
	})
	if !ok {
		score = 0
	}
	return score, answered, errors.Join(err, unnoted)
}

// blank says what is wrong with an empty answer.
func blank(text string) (problem string) {
	if strings.TrimSpace(text) == "" {
		return "it says nothing"
	}
	return ""
}
