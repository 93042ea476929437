package strategy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy/convergence"
	"codeloops/internal/role/prompt"
	"codeloops/internal/role/verdict"
)

// Debate has a panel argue about how to do the task, until its positions converge or the
// rounds are over. A judge, or the majority, decides; the base does the work, and is told.
// (Du et al. 2023, Improving Factuality and Reasoning in Language Models through Multiagent
// Debate, arXiv:2305.14325.)
type Debate struct {
	Base             loop.Strategy
	Debaters, Rounds int
	Converge         bool    // the debate ends early when all positions are alike
	Similarity       float64 // from which on they are, see [convergence.Likeness]
	Vote             bool    // the majority decides, and no judge
}

// The roles of a debate. A debater has its number behind the name.
const (
	RoleDebater loop.Role = "debater"
	RoleJudge   loop.Role = "judge"
)

// What [Debate] makes known.
const (
	NoteLikeness = "debate.likeness"
	NoteDecision = "debate.decision"
)

const position = `You are %s, one of several who argue about how to do the task below, in the git repository that is your working directory. Another agent will do the work: you only say how. Look at the code before you say anything. Be concrete: name files, functions, the order of the steps, what to test, and what to leave alone.

Answer with your position alone, in at most 400 words.`

const rejoinder = position + ` You see below what all of you said in the last round. Take over what is better than yours, say what is wrong with the rest and why, and give your position anew, whole: nobody sees the last one again.`

const judgement = `Several agents have argued about how to do the task below, in the git repository that is your working directory. Their last positions are below. Decide how it is to be done: look at the code where they differ, take the best of each, and contradict nothing that the task asks for. Another agent does the work, and sees nothing but your decision.

Answer with the decision alone: what to do, in which order, in which files, and what to test.`

const vote = `Several agents have argued about how to do the task below, in the git repository that is your working directory. You are %s, one of them. Their last positions, yours among them, are below. Vote for the one by which the work is to be done; yours need not be the best.

The first line of your answer has this form, and no other line has; it names one of %s:
vote: <name>`

const decided = `A panel has argued about how to do this task, and this was decided. It is advice: where it contradicts the task, or what you find in the repository, it does not count.

%s`

func debate() Kind {
	return Kind{
		Name: NameDebate, About: "a panel argues about how to do the task, a judge or the majority decides, and the base does the work",
		When: "a wrong approach would cost more than the talk before it", Turns: "1 of each debater; once 1 of the judge, or a vote of each; then the base's",
		Base: NameActorCritic,
		Parameters: []Parameter{
			baseOf(),
			{Key: "debaters", Default: 3, Least: 2},
			{Key: "rounds", Default: 2, Least: 1},
			{Key: "convergence_check", Default: true},
			{Key: "convergence_similarity", Default: 0.85},
			{Key: "decide", Default: string(RoleJudge), OneOf: []string{string(RoleJudge), "majority"}},
			maxTurns(),
		},
		Roles: map[loop.Role]loop.Access{RoleDebater + numbered: loop.ReadOnly, RoleJudge: loop.ReadOnly},
		Seats: func(v Values) int { return v.count("debaters") },
		Most: func(v Values, n int) int {
			talk := v.count("debaters") * v.count("rounds")
			if v.word("decide") == "majority" {
				talk += v.count("debaters")
			} else {
				talk++
			}
			return plus(v.base().Most(v, n), talk)
		},
		make: func(v Values) (loop.Strategy, error) {
			over, err := v.over()
			return Debate{
				Base: over, Debaters: v.count("debaters"), Rounds: v.count("rounds"), Converge: v.on("convergence_check"),
				Similarity: v.fraction("convergence_similarity"), Vote: v.word("decide") == "majority",
			}, err
		},
	}
}

// Run implements [loop.Strategy].
func (d Debate) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	positions, err := d.argue(ctx, steps)
	if err != nil {
		return loop.Outcome{}, err
	}
	decision, err := d.decide(ctx, steps, positions)
	if err != nil {
		return loop.Outcome{}, err
	}
	if decision != "" {
		const most = 16 << 10
		steps.Instruct(fmt.Sprintf(decided, prompt.Fenced(prompt.Clip(decision, most, most/2))))
	}
	return d.Base.Run(ctx, steps)
}

// argue plays the rounds, and returns the last position of each debater that has one.
func (d Debate) argue(ctx context.Context, steps *loop.Steps) (said []loop.Opinion, err error) {
	latest := make([]string, d.Debaters)
	for n := 1; n <= d.Rounds; n++ {
		calls := make([]loop.Call, d.Debaters)
		for i := range calls {
			question, name := position, debater(i)
			c := steps.Case()
			if n > 1 {
				question, c.Opinions = rejoinder, said
			}
			calls[i] = loop.Call{Step: steps.Step("%s.round_%d", name, n), Role: name, Prompt: fmt.Sprintf(question, name), Case: c}
		}
		answers, err := answered(ctx, steps, calls, func(text string) bool { return text != "" })
		if err != nil {
			return nil, err
		}
		said = nil
		for i, text := range answers {
			if text != "" {
				latest[i] = text
			}
			if latest[i] != "" {
				said = append(said, loop.Opinion{Who: string(debater(i)), Says: latest[i]})
			}
		}
		if over, err := d.converged(ctx, steps, n, said); over || err != nil {
			return said, err
		}
	}
	return said, nil
}

// converged reports whether the debate ends here, as all say the same.
func (d Debate) converged(ctx context.Context, steps *loop.Steps, round int, said []loop.Opinion) (bool, error) {
	if !d.Converge || len(said) < 2 || round == d.Rounds {
		return false, nil
	}
	least := 1.0
	for i := range said {
		for _, other := range said[i+1:] {
			least = min(least, convergence.Likeness(said[i].Says, other.Says))
		}
	}
	return least >= d.Similarity, steps.Note(ctx, steps.Step("likeness.round_%d", round), NoteLikeness, fmt.Sprintf("%.2f", least))
}

// decide returns what is to be done, "" where nobody could say.
func (d Debate) decide(ctx context.Context, steps *loop.Steps, said []loop.Opinion) (decision string, err error) {
	by := "nobody"
	if len(said) == 0 {
		return "", steps.Note(ctx, steps.Step("decision"), NoteDecision, by)
	}
	c := steps.Case()
	c.Opinions = said
	if !d.Vote {
		answers, err := answered(ctx, steps, []loop.Call{{Step: steps.Step(string(RoleJudge)), Role: RoleJudge, Prompt: judgement, Case: c}},
			func(text string) bool { return text != "" })
		if err != nil {
			return "", err
		}
		if decision = answers[0]; decision != "" {
			by = string(RoleJudge)
		}
	} else if by, decision, err = d.poll(ctx, steps, c); err != nil {
		return "", err
	}
	return decision, steps.Note(ctx, steps.Step("decision"), NoteDecision, by)
}

// poll has the debaters vote. The one with the most votes wins, of several the first. Whoever
// cannot be read has no vote.
func (d Debate) poll(ctx context.Context, steps *loop.Steps, c *loop.Case) (by, decision string, err error) {
	var names []string
	for _, o := range c.Opinions {
		names = append(names, o.Who)
	}
	var calls []loop.Call
	for i := range d.Debaters {
		name := debater(i)
		calls = append(calls, loop.Call{Step: steps.Step("%s.vote", name), Role: name, Prompt: fmt.Sprintf(vote, name, strings.Join(names, ", ")), Case: c})
	}
	chosen := func(text string) (string, bool) { return verdict.One(text, "vote", names...) }
	answers, err := answered(ctx, steps, calls, func(text string) bool {
		_, ok := chosen(text)
		return ok
	})
	if err != nil {
		return "", "", err
	}
	votes, cast := make([]int, len(names)), 0
	for _, text := range answers {
		if name, ok := chosen(text); ok {
			votes[slices.Index(names, name)]++
			cast++
		}
	}
	first := slices.Index(votes, slices.Max(votes))
	return fmt.Sprintf("%s, by %d of %d votes", names[first], votes[first], cast), c.Opinions[first].Says, nil
}

// debater is the role of one of them; i counts from 0.
func debater(i int) loop.Role { return loop.Role(fmt.Sprintf("%s_%d", RoleDebater, i+1)) }

// answered plays turns, and returns what was said in each. One that failed, or that cannot be
// read, is asked for once more; then it has said nothing.
func answered(ctx context.Context, steps *loop.Steps, calls []loop.Call, readable func(string) bool) ([]string, error) {
	texts := make([]string, len(calls))
	due := make([]int, len(calls))
	for i := range due {
		due[i] = i
	}
	for ask := 1; ask <= 2 && len(due) > 0; ask++ {
		var now []loop.Call
		for _, i := range due {
			call := calls[i]
			if ask > 1 {
				call.Step = call.Step.Sub("2")
				call.Prompt += "\n\nYou have been asked before, and your answer could not be used."
			}
			now = append(now, call)
		}
		replies, err := steps.Turns(ctx, now...)
		if err != nil {
			return nil, err
		}
		var bad []int
		for k, reply := range replies {
			text := strings.TrimSpace(reply.Text)
			if reply.Ending == loop.EndCompleted && readable(text) {
				texts[due[k]] = text
			} else {
				bad = append(bad, due[k])
			}
		}
		due = bad
	}
	return texts, nil
}
