package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A Tried is how a check ended that was run on the work of a case after its session.
type Tried struct {
	Case    string `json:"case"`
	Command string `json:"command"`
	Passed  bool   `json:"passed"`
}

// evidence is what it tells: a check that passes does not know all that was asked for.
func (t Tried) evidence() []Evidence {
	if t.Passed {
		return nil
	}
	return []Evidence{{Source: Checks, Why: fmt.Sprintf("the check %s, which came later, fails on it", wording.Line(t.Command))}}
}

// untried returns the checks that have not been run on a case.
func (j *Judging) untried(c Case) (commands []string) {
	for _, command := range j.Checks.Commands {
		if !j.Book.Tried(c.ID, command) {
			commands = append(commands, command)
		}
	}
	return commands
}

// try runs the checks on the work of a case. What they leave in the copy is gone when it is laid out again.
func (j *Judging) try(ctx context.Context, l *lane, c Case) (err error) {
	j.mu.Lock()
	commands := j.untried(c)
	j.mu.Unlock()
	if len(commands) == 0 {
		return nil
	}
	w, err := l.layOut(ctx, c)
	if err != nil {
		if ctx.Err() == nil {
			j.Tell(fmt.Sprintf("the checks are not run on %s: %v", c.ID, err))
		}
		return context.Cause(ctx)
	}
	run := *j.Checks
	run.Commands, run.Dir, run.Outputs = commands, w.Dir, filepath.Join(l.home, "outputs")
	if err := os.MkdirAll(run.Outputs, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(run.Outputs)) }()
	for result, err := range run.Check(ctx, loop.Step("0")) {
		if err != nil {
			return err
		}
		if err := j.tried(Tried{Case: c.ID, Command: result.Command, Passed: result.Passed()}); err != nil {
			return err
		}
	}
	return nil
}

func (j *Judging) tried(t Tried) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Ran(t)
	return j.Book.Try(t)
}
