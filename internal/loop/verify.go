package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Verify runs the project's own checks, if there are any.
func (it *Iteration) Verify(ctx context.Context) (err error) {
	if it.run.at.Checker == nil {
		return nil
	}
	step := it.step("checks")
	if err := it.enter(step, Verifying); err != nil {
		return err
	}
	if it.c.Checks, err = it.run.check(ctx, step); err != nil {
		return fmt.Errorf("run the checks: %w", err)
	}
	return it.run.emit(step, ChecksFinished{Iteration: it.c.Iteration, Checks: it.c.Checks})
}

// check runs the checks, and marks those that failed before the session as well.
func (s *section) check(ctx context.Context, step Step) (results []CheckResult, err error) {
	for result, err := range s.at.Checker.Check(ctx, step) {
		if err != nil {
			return results, err
		}
		written := result.Written
		if len(result.Rewrites) > 0 {
			written.Changed = result.Changed // a remark names the others
		}
		if err := s.tell(step, "the check "+strings.Join(strings.Fields(result.Command), " "), written); err != nil {
			return results, err
		}
		result.FailedBefore = slices.ContainsFunc(s.baseline, func(before CheckResult) bool {
			return before.Command == result.Command && !before.Passed()
		})
		results = append(results, result)
		if s.loop.Checks.FailFast && !result.Passed() {
			break
		}
	}
	return results, nil
}

// rule asks the gate for its ruling. A DONE needs checks that have run on the current work tree
// and repository; if they have not, they run again, and the gate rules anew.
func (it *Iteration) rule(ctx context.Context) (Ruling, error) {
	review := &it.round.Review
	ruling := it.run.at.Gate.Rule(it.c, *review)
	if ruling.Verdict.Decision != Done {
		return ruling, nil
	}
	unseen := it.run.position.Since(it.c.Change.Position)
	if it.run.at.Checker == nil || len(unseen) == 0 {
		return ruling, nil
	}
	if err := it.checkAgain(ctx, unseen); err != nil {
		return ruling, fmt.Errorf("run the checks again: %w", err)
	}
	seen := it.run.position
	if err := it.settle(ctx); err != nil {
		return ruling, err
	}
	if moved := it.run.position.Since(seen); len(moved) > 0 && review.Problem == "" {
		review.stale(moved, nil)
	}
	return it.run.at.Gate.Rule(it.c, *review), nil
}

// checkAgain runs the checks again after something has changed that they had not seen.
func (it *Iteration) checkAgain(ctx context.Context, unseen []string) (err error) {
	step := asked(it.step("checks"), 2)
	if err := it.run.warn(step, "the checks are run again, because this has changed since they ran: "+listed(unseen)); err != nil {
		return err
	}
	if it.c.Checks, err = it.run.check(ctx, step); err != nil {
		return err
	}
	return it.run.emit(step, ChecksFinished{Iteration: it.c.Iteration, Checks: it.c.Checks})
}
