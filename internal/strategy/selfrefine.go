package strategy

import (
	"context"
	"fmt"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// SelfRefine has a base work; then the same agent criticizes the work without writing, and the
// base refines it, until a critique has no more findings.
type SelfRefine struct {
	Base       loop.Strategy
	MaxRounds  int
	StopPhrase string
}

// roleCritique is the role of an agent that criticizes its own work.
const roleCritique loop.Role = "critique"

const critique = `You have worked on the task below, in the git repository that is your working directory. Now look at your own work as somebody else would: find what is wrong, missing or weak in it, and what the task does not ask for. Verify what you can; be specific, and name files and lines.`

const critiqueForm = `Answer with your findings, the most important first. If there are none, answer with this line alone, and nothing after it:

%s`

const refine = `You have criticized your own work on this task. Mend what this critique finds, and change nothing else:

%s`

func selfRefine() Kind {
	return Kind{
		Name: NameSelfRefine, About: "the base strategy works; then its own agent criticizes the work and refines it, until it finds no issues",
		When: "one agent is all you have, and its first answer is seldom its best", Turns: "1 of the critique, then the base's",
		Base: NameReAct, Around: true,
		Parameters: []Parameter{baseOf(), {Key: keyMaxRounds, Default: 3, Least: 1, Help: helpMaxRounds}, {Key: "stop_phrase", Default: "no issues", Help: "self-refine: a critique that consists of this phrase has found nothing"}, maxTurns()},
		Roles:      map[loop.Role]loop.Access{roleCritique: loop.ReadOnly},
		most:       func(c Choice, n int) int { return plus(c.mostOfBase(c.count(keyMaxRounds), n), c.count(keyMaxRounds)) },
		build: func(c Choice) (loop.Strategy, error) {
			over, err := c.newBase()
			return SelfRefine{Base: over, MaxRounds: c.count(keyMaxRounds), StopPhrase: c.word("stop_phrase")}, err
		},
	}
}

// Run implements [loop.Strategy].
func (s SelfRefine) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	out, err := s.Base.Run(ctx, steps)
	for n := 1; n <= s.MaxRounds && err == nil && out.Reason == loop.StopDone; n++ {
		found, good, err := s.criticize(ctx, steps, n)
		if good && err == nil {
			err = steps.RejudgeIfChanged(ctx, steps.Step("%s.round_%d.%s", roleCritique, n, loop.NoteRejudge))
		}
		switch {
		case err != nil || good && steps.Judged():
			return out, err
		case found == "":
			return undecided(roleCritique, "the work was not criticized: its agent gave no answer"), nil
		case n == s.MaxRounds:
			return bounded(keyMaxRounds, "the last critique still finds issues, and max_rounds is reached"), nil
		case good: // others have changed the tree
			out, err = s.goOn(ctx, steps, n, judging(s.Base), "")
		default:
			out, err = s.goOn(ctx, steps, n, s.Base, fmt.Sprintf(refine, prompt.Quoted(found, maxSaying)))
		}
		if err != nil {
			return out, err
		}
	}
	return out, err
}

// criticize returns the findings of a critique, "" if its agent gave no answer; good reports that
// there are none. A stop phrase below other text, which may quote a file, is asked about once
// more, and then counts as findings.
func (s SelfRefine) criticize(ctx context.Context, steps *loop.Steps, n int) (found string, good bool, err error) {
	call := loop.Call{
		Step: steps.Step("%s.round_%d", roleCritique, n), Role: roleCritique, As: loop.RoleActor,
		Prompt: critique, Form: fmt.Sprintf(critiqueForm, s.StopPhrase), Case: steps.Case(), Judges: true,
	}
	_, err = ask(ctx, steps, call, func(reply string) string {
		var ends bool
		found = reply
		if ends, good = verdict.EndsWithPhrase(reply, s.StopPhrase); ends && !good {
			return fmt.Sprintf("%q did not stand alone in it", s.StopPhrase)
		}
		return ""
	})
	return found, good, err
}

// goOn has the base, or what judges its work again, follow a critique.
func (s SelfRefine) goOn(ctx context.Context, steps *loop.Steps, n int, base loop.Strategy, told string) (loop.Outcome, error) {
	defer steps.Within(steps.Step("refine_%d", n))()
	defer steps.Instruct(told)()
	return base.Run(ctx, steps)
}
