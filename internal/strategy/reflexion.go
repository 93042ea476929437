package strategy

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/verdict"
)

// Reflexion has a base try again and again. An evaluator scores each attempt; below the
// threshold a reflector says in one sentence what to do differently, and the next attempt
// is told. (Shinn et al. 2023, Reflexion: Language Agents with Verbal Reinforcement
// Learning, arXiv:2303.11366.)
type Reflexion struct {
	Base        loop.Strategy
	MaxAttempts int
	Threshold   float64
	// Reset: each attempt begins at the same tree, in a fork that is thrown away unless the
	// attempt passes. Else it goes on where the last one stands.
	Reset bool
	Memory
}

// The roles of an attempt beside those of its base.
const (
	RoleEvaluator loop.Role = "evaluator"
	RoleReflector loop.Role = "reflector"
)

// What [Reflexion] makes known.
const (
	NoteScore  = "reflexion.score"
	NoteLesson = "reflexion.lesson"
	NoteRecall = "reflexion.recall"
	NoteKeep   = "reflexion.keep"
)

const evaluate = `You score the work of a coding agent on the task below, in the git repository that is your working directory. Verify what it says before you believe it. Be strict:
- 1.0: the task is fully solved, and nothing is wrong
- 0.7 to 0.9: mostly right, with small gaps
- 0.4 to 0.6: right in part, with large gaps
- 0.0 to 0.3: wrong, or the main thing is missing

The first line of your answer has this form, and no other line has:
score: <a number from 0 to 1>

The lines after it say why.`

const reflect = `A coding agent has worked on the task below, in the git repository that is your working directory, and fell short. It will try once more. Read what it did and what came of it, then say the one thing that it should do differently next time. Be specific: name the mistake and the remedy, not a virtue.

Answer with that one sentence, and nothing else.`

const attempts = `Earlier attempts at this task fell short. This was learned from them:`

func reflexion() Kind {
	return Kind{
		Name: NameReflexion, About: "attempts that each begin at the same tree; one that scores too low leaves a lesson for the next",
		When: "the agent goes astray, and a fresh start helps more than mending", Turns: "the base's, 1 of the evaluator, 1 of the reflector",
		Base: NameReAct,
		Parameters: []Parameter{
			baseOf(),
			{Key: "max_attempts", Default: 3, Least: 1},
			{Key: "threshold", Default: 0.8},
			{Key: "reset", Default: true},
			maxTurns(),
			{Key: "lessons", Default: LessonsOff, OneOf: []string{LessonsOff, "user", "project"}, Scheme: "postgres"},
			{Key: "lessons_mode", Default: "recall", OneOf: []string{"recall", lessonsBlock}},
			{Key: "top_k_lessons", Default: 5, Least: 1},
		},
		Roles: map[loop.Role]loop.Access{RoleEvaluator: loop.ReadOnly, RoleReflector: loop.ReadOnly},
		Most:  func(v Values, n int) int { return plus(v.base().Most(v, n), 3*v.count("max_attempts")) },
		make: func(v Values) (loop.Strategy, error) {
			over, err := v.over()
			r := Reflexion{Base: over, MaxAttempts: v.count("max_attempts"), Threshold: v.fraction("threshold"), Reset: v.on("reset")}
			if v.word("lessons") != LessonsOff {
				r.Memory = Memory{Lessons: v.lessons, Most: v.count("top_k_lessons"), Block: v.word("lessons_mode") == lessonsBlock}
			}
			return r, err
		},
	}
}

// Run implements [loop.Strategy].
func (r Reflexion) Run(ctx context.Context, steps *loop.Steps) (out loop.Outcome, err error) {
	if err := steps.Baseline(ctx); err != nil {
		return out, err
	}
	told, err := r.recall(ctx, steps)
	if err != nil {
		return out, err
	}
	var learned []string
	for n := 1; n <= r.MaxAttempts; n++ {
		attempt := steps.Step("attempt_%d", n)
		passed := false
		try := func(ctx context.Context, in *loop.Steps) (bool, error) {
			if len(learned) > 0 {
				in.Instruct(strings.TrimPrefix(told+"\n\n"+attempts+"\n- "+strings.Join(learned, "\n- "), "\n\n"))
			} else if told != "" {
				in.Instruct(told)
			}
			var lesson string
			if out, lesson, err = r.attempt(ctx, in, attempt); lesson != "" && err == nil {
				err = r.keep(ctx, in, attempt, lesson, n)
			}
			learned, passed = append(learned, lesson), lesson == ""
			return passed, err
		}
		if r.Reset {
			err = steps.Fork(ctx, attempt, try)
		} else {
			steps.Anew()
			_, err = try(ctx, steps)
		}
		if err != nil || passed {
			return r.judged(ctx, steps, out, err)
		}
	}
	return loop.Outcome{Reason: loop.StopMaxIterations, Summary: fmt.Sprintf("no attempt of %d reached the score %v", r.MaxAttempts, r.Threshold)}, nil
}

// judged has the base go on where the work tree is not what was judged in the fork.
func (r Reflexion) judged(ctx context.Context, steps *loop.Steps, out loop.Outcome, err error) (loop.Outcome, error) {
	if err != nil || steps.Judged() {
		return out, err
	}
	return r.Base.Run(ctx, steps)
}

// attempt plays the base and scores what it did. The lesson is "" where it passes.
func (r Reflexion) attempt(ctx context.Context, in *loop.Steps, attempt loop.Step) (out loop.Outcome, lesson string, err error) {
	defer in.Within(attempt)()
	if out, err = r.Base.Run(ctx, in); err != nil {
		return out, "", err
	}
	score, err := scored(ctx, in, attempt.Sub(string(RoleEvaluator)), *in.Case())
	if err != nil {
		return out, "", err
	}
	done := out.Reason == loop.StopDone
	if err := in.Note(ctx, attempt.Sub("score"), NoteScore, fmt.Sprintf("%.2f, done: %t", score, done)); err != nil {
		return out, "", err
	}
	if done && score >= r.Threshold {
		return out, "", nil
	}
	replies, err := in.Turns(ctx, loop.Call{Step: attempt.Sub(string(RoleReflector)), Role: RoleReflector, Prompt: reflect, Case: in.Case()})
	if err != nil {
		return out, "", err
	}
	lesson = sentence(replies[0].Text)
	return out, lesson, in.Note(ctx, attempt.Sub("lesson"), NoteLesson, lesson)
}

// unexplained is no lesson for later sessions.
const unexplained = "The last attempt fell short, and nobody could say why."

// sentence is a reflector's answer in one line.
func sentence(reply string) string {
	const most = 500 // bytes
	line := strings.Join(strings.Fields(reply), " ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + " …"
	}
	if line == "" {
		return unexplained
	}
	return line
}

// scored asks an evaluator for the score of a case. A reply that cannot be read is asked for once
// more, and then counts as 0.
func scored(ctx context.Context, in *loop.Steps, step loop.Step, c loop.Case) (float64, error) {
	question := evaluate
	for _, at := range []loop.Step{step, step.Sub("2")} {
		replies, err := in.Turns(ctx, loop.Call{Step: at, Role: RoleEvaluator, Prompt: question, Case: &c})
		if err != nil {
			return 0, err
		}
		if score, ok := verdict.Score(replies[0].Text); ok && replies[0].Ending == loop.EndCompleted {
			return score, nil
		}
		question = evaluate + "\n\nYou have been asked before, and the first line of your answer was not of this form."
	}
	return 0, nil
}
