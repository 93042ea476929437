package strategy

import (
	"context"

	"codeloops/internal/loop"
	"codeloops/internal/role/prompt"
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
				call.Prompt += "\n\nYou have been asked before, and your reply could not be used: " + wording.Line(problems[i]) + "."
			}
			now, due = append(now, call), append(due, i)
		}
		replies, err := steps.Turns(ctx, now...)
		if err != nil {
			return readable, err
		}
		for n, i := range due {
			problems[i] = "your turn " + prompt.Ended(replies[n].Ending, replies[n].ExitCode)
			if replies[n].Ending == loop.EndCompleted {
				problems[i] = read(i, replies[n].Text)
				readable[i] = problems[i] == ""
			}
		}
	}
	return readable, nil
}
