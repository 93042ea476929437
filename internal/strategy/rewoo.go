package strategy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// ReWOO has a planner list all the evidence that the task needs before any of it is looked at.
// Commands that the user allows, and read-only agents, gather it; then the base works with all of
// it. (Xu et al. 2023, ReWOO: Decoupling Reasoning from Observations, arXiv:2305.18323.)
type ReWOO struct {
	Base     loop.Strategy
	MaxSteps int
	Parallel bool     // independent pieces are gathered concurrently
	Commands []string // prefixes of the commands that may be run
}

// roleInformant answers a question about the repository.
const roleInformant loop.Role = "informant"

// The notes of [ReWOO].
const (
	noteEvidence = "rewoo.plan"
	noteLeftOut  = "rewoo.left_out"
)

const gatherings = `Another agent will do the task below, in the git repository that is your working directory. Name the evidence that it needs. Look around before you do, and change nothing. All of it is gathered by others and handed on; nobody thinks about it in between.`

const evidenceForm = `Name at most %d pieces. There are these kinds of evidence:
- ask: a question about the repository, to an agent that reads it and changes nothing. It may refer to other evidence, as {{E1}}.%s

End your answer with exactly one JSON object of this form, with nothing after it:

{"steps": [
  {"id": "E1", "tool": "ask", "args": "<a question>"},
  {"id": "E2", "tool": "ask", "args": "<a question about {{E1}}>"}
]}`

const allowedCommands = `
- run: what a command prints, as in {"id": "E3", "tool": "run", "args": "%s"}. It begins with one of those below, and what follows are plain words: no quotes, no pipes, no variables, no wildcards, and no {{E1}}.
%s`

func rewoo() Kind {
	return Kind{
		Name: NameReWOO, About: "a planner lists the evidence that the task needs, commands and agents collect it, and the base strategy works with all of it",
		When: "it is clear beforehand what must be found out, and much of it can be found at the same time", Turns: "1 of the planner, 1 of the informant for each question; then the base's",
		Base: NameActorCritic,
		Parameters: []Parameter{
			maxSteps(), baseOf(), {Key: "parallel_levels", Default: true, Help: "rewoo: whether independent pieces of evidence are collected concurrently"}, {Key: keyCommands, Default: []string{}, Help: "rewoo: the commands that a planner may have run, by their first words, such as [\"go test\", \"git log\"]. Any plain words may follow. [] allows only questions"}, maxTurns(),
		},
		Roles: map[loop.Role]loop.Access{rolePlanner: loop.ReadOnly, roleInformant: loop.ReadOnly},
		most:  func(c Choice, n int) int { return plus(c.mostOfBase(1, n), 1+c.count("max_steps")) },
		build: func(c Choice) (loop.Strategy, error) {
			over, err := c.newBase()
			if err == nil {
				err = checkCommands(c.words(keyCommands))
			}
			return ReWOO{Base: over, MaxSteps: c.count("max_steps"), Parallel: c.on("parallel_levels"), Commands: c.words(keyCommands)}, err
		},
	}
}

// Run implements [loop.Strategy].
func (r ReWOO) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	levels, err := r.plan(ctx, steps)
	if err != nil {
		return loop.Outcome{}, err
	}
	found := map[string]loop.Opinion{} // by name
	for _, level := range levels {
		size := 1
		if r.Parallel {
			size = len(level)
		}
		for some := range slices.Chunk(level, size) {
			if err := r.gather(ctx, steps, some, found); err != nil {
				return loop.Outcome{}, err
			}
		}
	}
	if len(levels) > 0 {
		defer steps.Instruct(handedOn(slices.Concat(levels...), found))()
	}
	return r.Base.Run(ctx, steps)
}

const unreadable = "no object of that form could be read"

// plan asks the planner what to gather, in levels: each needs only earlier ones. Mistakes are
// asked about once; then the wrong pieces are left out.
func (r ReWOO) plan(ctx context.Context, steps *loop.Steps) (levels [][]verdict.PlanStep, err error) {
	commands := ""
	if len(r.Commands) > 0 {
		commands = fmt.Sprintf(allowedCommands, r.Commands[0], "  "+strings.Join(r.Commands, "\n  "))
	}
	call := loop.Call{
		Step: steps.Step(string(rolePlanner)), Role: rolePlanner,
		Prompt: gatherings, Form: fmt.Sprintf(evidenceForm, r.MaxSteps, commands), Case: &loop.Case{Task: steps.FullTask()},
	}
	wrong := []string{unreadable}
	_, err = ask(ctx, steps, call, func(reply string) string {
		wrong = []string{unreadable}
		if plan, bad, ok := verdict.Evidence(reply, call.Case.Task, r.MaxSteps); ok {
			levels, wrong = inLevels(plan, r.Commands)
			wrong = append(bad, wrong...)
		}
		return strings.Join(wrong, "; ")
	})
	if err != nil {
		return nil, err
	}
	if err := steps.Note(ctx, steps.Step("plan"), noteEvidence, listed(slices.Concat(levels...))); err != nil || len(wrong) == 0 {
		return levels, err
	}
	return levels, steps.Note(ctx, steps.Step("left_out"), noteLeftOut, strings.Join(wrong, "\n"))
}

// gather gathers pieces of evidence concurrently.
func (r ReWOO) gather(ctx context.Context, steps *loop.Steps, some []verdict.PlanStep, found map[string]loop.Opinion) error {
	names, texts := make([]loop.Step, len(some)), make([]string, len(some))
	for i, s := range some {
		names[i] = steps.Step("evidence.%s", s.ID)
	}
	err := steps.Together(ctx, names, func(ctx context.Context, i int, part *loop.Steps) (err error) {
		texts[i], err = gatherOne(ctx, part, names[i], some[i], found)
		return err
	})
	for i, s := range some {
		found[s.ID] = loop.Opinion{Who: "the answer to " + s.String(), Says: texts[i]}
	}
	return err
}
