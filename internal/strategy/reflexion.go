package strategy

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/loop"
)

// Reflexion has a base try several times. An evaluator scores each attempt; below the threshold a
// reflector says in one sentence what to do differently, and the next attempt is told. (Shinn et
// al. 2023, Reflexion: Language Agents with Verbal Reinforcement Learning, arXiv:2303.11366.)
type Reflexion struct {
	Base        loop.Strategy
	MaxAttempts int
	Threshold   float64
	// Reset: each attempt starts from the original tree, in a fork that is discarded unless the
	// attempt passes. Otherwise it continues where the last one ended.
	Reset bool
	Memory
}

// roleReflector says what is to be learned from an attempt.
const roleReflector loop.Role = "reflector"

// The notes of [Reflexion].
const (
	noteScore  = "reflexion.score"
	noteLesson = "reflexion.lesson"
	noteRecall = "reflexion.recall"
	noteKeep   = "reflexion.keep"
)

const learn = `A coding agent has worked on the task below, in the git repository that is your working directory, and fell short. It will try once more. Read what it did and what came of it, then say the one thing that it should do differently next time. Be specific: name the mistake and the remedy, not a virtue.`

const learnForm = `Answer with that one sentence, and nothing else.`

const attempts = `Earlier attempts at this task fell short. This was learned from them:`

func reflexion() Kind {
	return Kind{
		Name: NameReflexion, About: "each attempt begins with the original work tree; one that scores too low leaves a lesson for the next",
		When: "the agent goes astray, and a fresh start helps more than corrections", Turns: "the base's, 1 of the evaluator, 1 of the reflector",
		Base: NameReAct, Around: true,
		Parameters: []Parameter{
			baseOf(),
			{Key: keyMaxAttempts, Default: 3, Least: 1, Help: "reflexion: the most attempts"},
			{Key: "threshold", Default: 0.8, Help: "reflexion: the score, 0 to 1, with which an attempt passes"},
			{Key: "reset", Default: true, Help: "reflexion: whether each attempt begins with the original work tree, in a copy that is applied to yours if the attempt passes. Otherwise it continues from the last one"},
			maxTurns(),
			{Key: "lessons", Default: LessonsOff, OneOf: []string{LessonsOff, "user", "project"}, Scheme: "postgres", Help: "reflexion: where lessons of earlier sessions come from and new ones are kept: \"off\"; \"user\", your own file; \"project\", which adds those in .codeloops/lessons.jsonl; or \"postgres://USER@HOST/DATABASE\" (docs/lessons.md)"},
			{Key: "lessons_mode", Default: "recall", OneOf: []string{"recall", lessonsBlock}, Help: "reflexion: \"recall\" uses the lessons that fit the task best, \"block\" all lessons of the project, up to 16 KiB"},
			{Key: "top_k_lessons", Default: 5, Least: 1, Help: "reflexion: how many lessons are recalled"},
		},
		Roles: map[loop.Role]loop.Access{roleEvaluator: loop.ReadOnly, roleReflector: loop.ReadOnly},
		most: func(c Choice, n int) int {
			return plus(c.mostOfBase(c.count(keyMaxAttempts), n), 2*c.count(keyMaxAttempts))
		},
		build: func(c Choice) (loop.Strategy, error) {
			over, err := c.newBase()
			r := Reflexion{Base: over, MaxAttempts: c.count(keyMaxAttempts), Threshold: c.fraction("threshold"), Reset: c.on("reset")}
			if c.word("lessons") != LessonsOff {
				r.Memory = Memory{Lessons: c.lessons, Most: c.count("top_k_lessons"), Block: c.word("lessons_mode") == lessonsBlock}
			}
			return r, err
		},
	}
}

// Run implements [loop.Strategy].
func (r Reflexion) Run(ctx context.Context, steps *loop.Steps) (out loop.Outcome, err error) {
	recalled, err := r.recall(ctx, steps)
	if err != nil {
		return out, err
	}
	defer steps.Instruct(recalled)()
	var learned []string
	for n := 1; n <= r.MaxAttempts; n++ {
		attempt, passed := steps.Step("attempt_%d", n), false
		try := func(ctx context.Context, in *loop.Steps) (_ bool, err error) {
			defer in.Within(attempt)()
			defer in.Instruct(told(learned))()
			out, passed, err = r.attempt(ctx, in, attempt)
			if err == nil && !passed && (n < r.MaxAttempts || r.Lessons != nil) { // else nobody would hear it
				var lesson string
				lesson, err = r.learn(ctx, in, attempt, n)
				learned = append(learned, lesson)
			}
			return passed, err
		}
		if r.Reset {
			err = steps.Fork(ctx, attempt, try)
		} else {
			steps.Reset()
			if passed, err = try(ctx, steps); passed && err == nil {
				err = steps.RejudgeIfChanged(ctx, attempt.Sub(loop.NoteRejudge))
			}
		}
		switch {
		case err != nil:
			return out, err
		case passed && steps.Judged():
			return out, nil
		case passed: // others had changed the tree
			defer steps.Instruct(told(learned))()
			return judging(r.Base).Run(ctx, steps)
		}
	}
	return bounded(keyMaxAttempts, fmt.Sprintf("no attempt of %d reached the score %v", r.MaxAttempts, r.Threshold)), nil
}

// told returns what an attempt is told of the earlier ones.
func told(learned []string) string {
	if len(learned) == 0 {
		return ""
	}
	return attempts + "\n- " + strings.Join(learned, "\n- ")
}

// attempt plays the base and scores the result.
func (r Reflexion) attempt(ctx context.Context, in *loop.Steps, attempt loop.Step) (out loop.Outcome, passed bool, err error) {
	if out, err = r.Base.Run(ctx, in); err != nil {
		return out, false, err
	}
	if out.Reason == loop.StopPolicyEscalation {
		return out, false, loop.Stop(out.Reason, out.Cause, out.Summary)
	}
	score, answered, err := scored(ctx, in, attempt.Sub(string(roleEvaluator)), *in.Case())
	if err == nil && !answered { // that says nothing about the attempt
		err = loop.Stop(loop.StopNoDecision, string(roleEvaluator), "the evaluator gave no answer: its agent failed twice")
	}
	if err != nil {
		return out, false, err
	}
	done := out.Reason == loop.StopDone
	err = in.Note(ctx, attempt.Sub("score"), noteScore, fmt.Sprintf("%.2f, done: %t", score, done))
	return out, done && score >= r.Threshold, err
}

// learn asks the reflector what an attempt teaches, and keeps that. A reflector whose turn fails
// teaches nothing.
func (r Reflexion) learn(ctx context.Context, in *loop.Steps, attempt loop.Step, n int) (lesson string, err error) {
	call := loop.Call{Step: attempt.Sub(string(roleReflector)), Role: roleReflector, Prompt: learn, Form: learnForm, Case: in.Case()}
	said := ""
	if _, err = ask(ctx, in, call, func(reply string) string {
		said = reply
		return blank(reply)
	}); err != nil {
		return "", err
	}
	lesson = sentence(said)
	if err := in.Note(ctx, attempt.Sub("lesson"), noteLesson, lesson); err != nil {
		return "", err
	}
	return lesson, r.keep(ctx, in, attempt, lesson, n)
}

// unexplained is not a lesson for later sessions.
const unexplained = "The last attempt fell short, and nobody could say why."

// sentence returns a reflector's answer as one bounded line.
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
