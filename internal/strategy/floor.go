package strategy

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// A floor is the shared state of members that work one after the other.
type floor struct {
	said   []saying   // oldest first
	matter *loop.Case // the work after the last member's turn; nil: nobody has worked
	judged bool       // the critic has judged that
	end    loop.Outcome
	over   bool // the run is over, with this end
}

const colleague = `You are one of several agents who take turns at a task in the git repository that is your working directory. Your name among them is %s, and you are here for this: %s. Do the work itself; a description of it does not count. Others go on where you leave off.`

// works has a worker do its part and returns its final words. question is added to its own
// instructions; aim is the task for a worker with a strategy of its own.
func (f *floor) works(ctx context.Context, steps *loop.Steps, step loop.Step, w worker, aim, question string) (answer string, err error) {
	if w.over != nil {
		return f.drives(ctx, steps, step, w, aim)
	}
	replies, err := steps.Turns(ctx, loop.Call{Step: step, Role: w.Role, Access: loop.Write, Prompt: fmt.Sprintf(colleague, w.Role, wording.Line(w.About)), Form: paragraphs(w.Instructions, question)})
	if err != nil {
		return "", err
	}
	turn := replies[0].Turn
	matter, err := workAfter(ctx, steps, step, turn)
	if err != nil {
		return "", err
	}
	f.matter, f.judged = &matter, false
	if turn.Ending != loop.EndCompleted {
		return fmt.Sprintf("(The turn %s.)\n%s", prompt.Ended(turn.Ending, turn.ExitCode), replies[0].Text), nil
	}
	return replies[0].Text, nil
}

// workAfter captures and checks the work that a turn has left.
func workAfter(ctx context.Context, steps *loop.Steps, step loop.Step, turn loop.Turn) (loop.Case, error) {
	c := loop.Case{Task: steps.Task(), Attempt: loop.Attempt{Turn: turn}}
	var err error
	if c.Change, err = steps.Checkpoint(ctx, step.Sub("state")); err == nil {
		c.Checks, err = steps.Check(ctx, step.Sub("checks"))
	}
	return c, err
}

// drives has a worker do its part with its own strategy. The outcome's summary counts as its
// words.
func (f *floor) drives(ctx context.Context, steps *loop.Steps, step loop.Step, w worker, aim string) (answer string, err error) {
	var out loop.Outcome
	err = steps.Errand(ctx, step, aim, w.Role, func(ctx context.Context, in *loop.Steps) error {
		defer in.Instruct(w.Instructions)()
		if out, err = w.over.Run(ctx, in); err == nil {
			f.matter, f.judged = in.Case(), false
			f.matter.Task = steps.Task()
		}
		return err
	})
	if err == nil && out.Reason != loop.StopDone && out.Reason != loop.StopMaxIterations {
		f.end, f.over = out, true
	}
	if out.Reason != loop.StopDone {
		return "(This part was not finished.)\n" + out.Summary, err
	}
	return out.Summary, err
}

// judge has the critic judge the work against the whole task. Its objections are added to what
// has been said.
func (f *floor) judge(ctx context.Context, steps *loop.Steps, step loop.Step) error {
	if err := steps.Rejudge(ctx, step.Sub(loop.NoteRejudge), f.matter.Attempt.Turn); err != nil {
		return err
	}
	for {
		round, err := steps.Iterate(ctx, iterate)
		if err != nil {
			return err
		}
		if f.end, f.over = steps.Over(round); f.over {
			return nil
		}
		if round.Verdict.Decision == loop.Done || !steps.Judged() {
			continue // it is judged again
		}
		f.said = append(f.said, saying{"The critic, who judges the whole task", remarks(round)})
		f.matter, f.judged = steps.Case(), true
		return nil
	}
}

// doneOf is the form of a critic's decision, as a role may say that the work is done.
func doneOf() verdict.Form {
	return verdict.Form{Word: "DECISION", Names: []string{string(loop.Done)}, Text: true, Bare: true}
}

// remarks returns what a verdict and the checks object to.
func remarks(r loop.Round) string {
	text := prompt.Guidance(r.Verdict)
	if bad := failing(r.Checks); len(bad) > 0 {
		text += "\nThese checks do not pass: " + strings.Join(bad, "; ")
	}
	return strings.TrimSpace(text)
}

// closes ends a strategy that has used up its rounds, after having unjudged work judged.
func (f *floor) closes(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	if f.matter != nil && !f.judged {
		if err := f.judge(ctx, steps, steps.Step("close")); err != nil || f.over {
			return f.end, err
		}
	}
	return bounded(keyMaxRounds, keyMaxRounds+" is reached"), nil
}

// texts returns what has been said: repeating it does not give an order.
func (f *floor) texts() (texts []string) {
	for _, s := range f.said {
		texts = append(texts, s.text)
	}
	return texts
}
