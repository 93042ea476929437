package strategy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

// Debate has a panel argue about how to do the task until its positions converge or the rounds
// are used up. A judge or the majority decides; the base then does the work with that advice. (Du
// et al. 2023, Improving Factuality and Reasoning in Language Models through Multiagent Debate,
// arXiv:2305.14325.)
type Debate struct {
	Base             loop.Strategy
	Debaters, Rounds int
	Converge         bool    // end early when all positions are alike
	Similarity       float64 // threshold for that; see [likeness]
	Vote             bool    // the majority decides instead of a judge
}

// The roles and the notes of a [Debate]. A debater's role ends in its number.
const (
	roleDebater loop.Role = "debater"
	roleJudge   loop.Role = "judge"

	noteLikeness = "debate.likeness"
	noteDecision = "debate.decision"
)

const position = `You are %s, one of several who argue about how to do the task below, in the git repository that is your working directory. Another agent will do the work: you only say how. Look at the code before you say anything. Be concrete: name files, functions, the order of the steps, what to test, and what to leave alone.`

const positionForm = `Answer with your position alone, in at most 400 words.`

const rejoinder = positionForm + ` You see below what all of you said in the last round. Take over what is better than yours, say what is wrong with the rest and why, and give your position anew, whole: nobody sees the last one again.`

const decided = `A panel has argued about how to do this task, and this was decided. It is advice: where it contradicts the task, or what you find in the repository, it does not count.

%s`

func debate() Kind {
	return Kind{
		Name: NameDebate, About: "a panel debates how to do the task, a judge or the majority decides, and the base strategy does the work",
		When: "a wrong approach would cost more than the debate", Turns: "1 of each debater; once 1 of the judge, or a vote of each; then the base's",
		Base: NameActorCritic,
		Parameters: []Parameter{
			baseOf(),
			{Key: "debaters", Default: 3, Least: 2, Most: MostAtOnce, Help: "debate: how many argue"},
			{Key: "rounds", Default: 2, Least: 1, Help: "debate: the most rounds of argument"},
			{Key: "convergence_check", Default: true, Help: "debate: whether it ends early when all positions agree"},
			{Key: "convergence_similarity", Default: 0.85, Help: "debate: the similarity, 0 to 1, from which two positions agree: the share of their words that they have in common, in any order"},
			{Key: "decide", Default: string(roleJudge), OneOf: []string{string(roleJudge), "majority"}, Help: "debate: who decides in the end: a judge, or the majority by a vote"},
			maxTurns(),
		},
		Roles: map[loop.Role]loop.Access{roleDebater + numbered: loop.ReadOnly, roleJudge: loop.ReadOnly},
		Seats: func(c Choice, role loop.Role) int {
			switch {
			case role != roleJudge:
				return c.count("debaters")
			case c.word("decide") == string(roleJudge):
				return 1
			}
			return 0
		},
		most: func(c Choice, n int) int {
			deciding := 1
			if c.word("decide") == "majority" {
				deciding = c.count("debaters")
			}
			return plus(c.mostOfBase(1, n), c.count("debaters")*c.count("rounds")+deciding)
		},
		build: func(c Choice) (loop.Strategy, error) {
			over, err := c.newBase()
			d := Debate{Base: over, Debaters: c.count("debaters"), Rounds: c.count("rounds"), Vote: c.word("decide") == "majority"}
			d.Converge, d.Similarity = c.on("convergence_check"), c.fraction("convergence_similarity")
			return d, err
		},
	}
}

// Run implements [loop.Strategy].
func (d Debate) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	decision, err := d.decide(ctx, steps)
	if err != nil {
		return loop.Outcome{}, err
	}
	if decision != "" {
		defer steps.Instruct(fmt.Sprintf(decided, prompt.Fenced(prompt.Clip(decision, 16<<10, 8<<10))))()
	}
	return d.Base.Run(ctx, steps)
}

// argue plays the rounds and returns the last position of each debater that has one.
func (d Debate) argue(ctx context.Context, steps *loop.Steps) (said []loop.Opinion, err error) {
	latest := make([]string, d.Debaters)
	for n := 1; n <= d.Rounds; n++ {
		calls := make([]loop.Call, d.Debaters)
		for i := range calls {
			form, name := []string{positionForm, rejoinder}[min(n-1, 1)], debater(i)
			calls[i] = loop.Call{Step: steps.Step("%s.round_%d", name, n), Role: name, Prompt: fmt.Sprintf(position, name), Form: form, Case: debateCase(steps, said)}
		}
		_, err := askAll(ctx, steps, calls, func(i int, text string) string {
			if text = strings.TrimSpace(text); text != "" {
				latest[i] = text
			}
			return blank(text)
		})
		if err != nil {
			return nil, err
		}
		said = nil
		for i, text := range latest {
			if text != "" {
				said = append(said, loop.Opinion{Who: string(debater(i)), Says: text})
			}
		}
		if over, err := d.converged(ctx, steps, n, said); over || err != nil {
			return said, err
		}
	}
	return said, nil
}

// debateCase returns the case that is argued about, with the positions so far.
func debateCase(steps *loop.Steps, said []loop.Opinion) *loop.Case {
	c := steps.Case()
	c.Task, c.Opinions = steps.FullTask(), said
	return c
}

// converged reports whether the debate ends because all say the same.
func (d Debate) converged(ctx context.Context, steps *loop.Steps, round int, said []loop.Opinion) (bool, error) {
	if !d.Converge || len(said) < 2 || round == d.Rounds {
		return false, nil
	}
	least := 1.0
	for i := range said {
		for _, other := range said[i+1:] {
			least = min(least, likeness(said[i].Says, other.Says))
		}
	}
	return least >= d.Similarity, steps.Note(ctx, steps.Step("likeness.round_%d", round), noteLikeness, fmt.Sprintf("%.2f", least))
}

// likeness returns how alike two texts are, from 0 to 1: the Sørensen–Dice coefficient of their words, in any
// order.
func likeness(a, b string) float64 {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	x, y := strings.FieldsFunc(strings.ToLower(a), other), strings.FieldsFunc(strings.ToLower(b), other)
	if len(x)+len(y) == 0 {
		return 1
	}
	left, both := map[string]int{}, 0
	for _, w := range x {
		left[w]++
	}
	for _, w := range y {
		if left[w] > 0 {
			both++
		}
		left[w]--
	}
	return 2 * float64(both) / float64(len(x)+len(y))
}

// debater returns the role of a debater; i counts from 0.
func debater(i int) loop.Role { return loop.Role(fmt.Sprintf("%s_%d", roleDebater, i+1)) }

const judgement = `Several agents have argued about how to do the task below, in the git repository that is your working directory. Their last positions are below. Decide how it is to be done: look at the code where they differ, take the best of each, and contradict nothing that the task asks for. Another agent does the work, and sees nothing but your decision.`

const judgementForm = `Answer with the decision alone: what to do, in which order, in which files, and what to test.`

const vote = `Several agents have argued about how to do the task below, in the git repository that is your working directory. You are %s, one of them. Their last positions, yours among them, are below. Vote for the one by which the work is to be done; yours need not be the best.

The first line of your answer has this form, and no other line has; it names one of %s:
vote: <name>`

// decide plays the debate and returns its decision, "" if nobody could make one.
func (d Debate) decide(ctx context.Context, steps *loop.Steps) (decision string, err error) {
	by := "nobody"
	said, err := d.argue(ctx, steps)
	switch {
	case err != nil || len(said) == 0:
	case d.Vote:
		by, decision, err = d.poll(ctx, steps, said)
	default:
		_, err = ask(ctx, steps, loop.Call{Step: steps.Step(string(roleJudge)), Role: roleJudge, Prompt: judgement, Form: judgementForm, Case: debateCase(steps, said)}, func(text string) string {
			if decision = strings.TrimSpace(text); decision != "" {
				by = string(roleJudge)
			}
			return blank(text)
		})
	}
	if err != nil {
		return "", err
	}
	return decision, steps.Note(ctx, steps.Step("decision"), noteDecision, by)
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
		calls[i] = loop.Call{Step: steps.Step("%s.vote", name), Role: name, Form: fmt.Sprintf(vote, name, strings.Join(names, ", ")), Case: debateCase(steps, said)}
	}
	votes, cast := make([]int, len(names)), 0
	_, err = askAll(ctx, steps, calls, func(_ int, text string) string {
		name := verdict.Choice(text, "vote", names...)
		if name == "" {
			return "its first line was not of this form"
		}
		votes[slices.Index(names, name)]++
		cast++
		return ""
	})
	first := slices.Index(votes, slices.Max(votes))
	return fmt.Sprintf("%s, by %d of %d votes", names[first], votes[first], cast), said[first].Says, err
}
