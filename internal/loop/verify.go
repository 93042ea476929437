package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

func (r *run) verify(ctx context.Context, c *Case) (err error) {
	if r.Checker == nil {
		return nil
	}
	if err := r.enter(c.Iteration, Verifying); err != nil {
		return err
	}
	if c.Checks, err = r.check(ctx, c, false); err != nil {
		return fmt.Errorf("run the checks: %w", err)
	}
	r.sinceWhen(c.Checks)
	return r.emit(ChecksFinished{Iteration: c.Iteration, Checks: c.Checks})
}

// checkBefore runs the checks on the work tree as the session finds it.
func (r *run) checkBefore(ctx context.Context) error {
	var c Case
	var err error
	if c.Change, err = r.Tree.Capture(ctx); err != nil {
		return fmt.Errorf("look at the work tree: %w", err)
	}
	r.position = c.Change.Position
	if r.baseline, err = r.check(ctx, &c, false); err != nil {
		return fmt.Errorf("run the checks before the session: %w", err)
	}
	return r.emit(BaselineChecked{Checks: r.baseline})
}

// sinceWhen marks the checks that failed before the session, too.
func (r *run) sinceWhen(checks []CheckResult) {
	for i, c := range checks {
		checks[i].FailedBefore = slices.ContainsFunc(r.baseline, func(before CheckResult) bool {
			return before.Command == c.Command && !before.Passed()
		})
	}
}

// check runs the checks, each on the work tree as the actor left it: what one of them
// has written is taken away before the next one begins. What there is to warn of then
// is for the critic, too. In the last run one that changes the repository, which is
// not put back, has not judged it as it is.
func (r *run) check(ctx context.Context, c *Case, last bool) (results []CheckResult, err error) {
	var taken []string
	for result, err := range r.Checker.Check(ctx, c.Iteration) {
		if err != nil {
			return results, err
		}
		before := r.position
		found, err := r.undo(ctx, *c, "the check "+strings.Join(strings.Fields(result.Command), " "))
		if err != nil {
			return results, err
		}
		c.Change.Warnings = union(c.Change.Warnings, found.now.Warnings)
		if !result.Passed() {
			result.Lacked = taken
		}
		if len(found.paths) > 0 {
			var come []string
			result.Changed, come = c.Change.over(found.now)
			taken = union(taken, come)
		}
		if last {
			result.Changed = append(result.Changed, found.now.Position.Since(before)...)
		}
		results = append(results, result)
		if r.FailFast && !result.Passed() {
			break
		}
	}
	return results, nil
}

// union returns the texts of both lists, each once, in a list of its own.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, text := range b {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// rule lets the gate rule. A DONE stands on checks that have run on the work tree and
// on the repository as they are: where they have not, they are run again, and the gate
// rules anew.
func (r *run) rule(ctx context.Context, c *Case, review Review) (Ruling, error) {
	ruling := r.Gate.Rule(*c, review)
	if ruling.Verdict.Decision != Done {
		return ruling, nil
	}
	unseen := r.position.Since(c.Change.Position)
	if r.Checker == nil || len(unseen) == 0 {
		return ruling, nil
	}
	if err := r.checkAgain(ctx, c, unseen); err != nil {
		return ruling, fmt.Errorf("run the checks again: %w", err)
	}
	return r.Gate.Rule(*c, review), nil
}

// checkAgain runs the checks once more, on what they have not seen.
func (r *run) checkAgain(ctx context.Context, c *Case, unseen []string) (err error) {
	err = r.emit(Warned{
		Iteration: c.Iteration,
		Text:      "the checks are run again, because this has changed since they ran: " + listed(unseen),
	})
	if err != nil {
		return err
	}
	if c.Checks, err = r.check(ctx, c, true); err != nil {
		return err
	}
	r.sinceWhen(c.Checks)
	return r.emit(ChecksFinished{Iteration: c.Iteration, Checks: c.Checks})
}

// An undoing is what a look has found, and what was put back.
type undoing struct {
	now   Change
	paths []string // that differed
	kept  string   // where, in words
}

// undo puts the work tree back when somebody else than the actor has changed
// it: a verdict is on what the actor left, and the next diff must be the
// actor's alone.
func (r *run) undo(ctx context.Context, c Case, who string) (u undoing, err error) {
	if u.now, err = r.Tree.Capture(ctx); err != nil {
		return u, fmt.Errorf("compare the work tree after %s: %w", who, err)
	}
	if err := r.noticed(c, who, u.now.Warnings); err != nil {
		return u, err
	}
	if err := r.moved(c, who, u.now.Position); err != nil || u.now.State == c.Change.State {
		return u, err
	}
	u.paths = differing(c.Change, u.now)
	if u.kept, err = r.Tree.Restore(ctx, c.Change); err != nil {
		return u, fmt.Errorf("undo what %s changed: %w", who, err)
	}
	return u, r.emit(Warned{
		Iteration: c.Iteration,
		Text:      fmt.Sprintf("%s changed the work tree (%s): undone, %s", who, listed(u.paths), u.kept),
	})
}

// moved tells what somebody has changed that is not put back.
func (r *run) moved(c Case, who string, now Position) error {
	was := r.position
	r.position = now
	parts := now.Since(was)
	if len(parts) == 0 {
		return nil
	}
	if now.Head != was.Head {
		parts[0] += fmt.Sprintf(" (from %s to %s)", was.Head, now.Head)
	}
	text := fmt.Sprintf("%s changed what is not put back: %s", who, strings.Join(parts, ", "))
	if now.Index != was.Index {
		text += "; what is staged now goes into the next commit, and `git diff --cached` shows it"
	}
	return r.emit(Warned{Iteration: c.Iteration, Text: text})
}

// noticed tells, once, what a look at the work tree after somebody's turn warns
// of and the one before did not. It cannot be undone, or may hide what could.
func (r *run) noticed(c Case, who string, warnings []string) error {
	for _, w := range warnings {
		if slices.Contains(c.Change.Warnings, w) || r.told[w] {
			continue
		}
		if r.told == nil {
			r.told = map[string]bool{}
		}
		r.told[w] = true
		if err := r.emit(Warned{Iteration: c.Iteration, Text: fmt.Sprintf("after the turn of %s: %s", who, w)}); err != nil {
			return err
		}
	}
	return nil
}
