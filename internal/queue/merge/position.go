package merge

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

const (
	heads = "refs/heads/"
	// waiting is below which merges wait for the user to take them.
	waiting = "refs/codeloops/queue/"
	// pending is below which a merge is kept while it is checked.
	pending = "refs/codeloops/merging/"
)

// A Position is the state of a target, as it was when somebody looked at it.
type Position struct {
	target string
	tip    string // the branch's commit
	ahead  string // the waiting commit; "" is none
	base   string // the branch's commit that the waiting one contains; "" is unknown
	tree   string // the work tree that has it checked out; "" is none
}

// Look returns the position of a target.
func (m *Merger) Look(ctx context.Context, target string) (at Position, err error) {
	refs, err := m.repo.Refs(heads+target, waiting+target)
	if err != nil {
		return at, err
	}
	at = Position{target: target, tip: refs[heads+target], ahead: refs[waiting+target]}
	if at.tip == "" {
		what := "there is no branch " + wording.Name(target)
		if at.ahead != "" {
			what += "; what was merged for it, and not taken, is at " + waiting + target
		}
		return at, hint.Errorf("git branch lists those that there are; git branch "+wording.Shell(target)+" COMMIT makes it again, and codeloops queue retry goes on", "%s", what)
	}
	if at.tree, err = m.repo.InUse(ctx, target); err == nil {
		at.base, err = m.known(ctx, at)
	}
	return at, err
}

// taken reports whether the target has all that waits, if anything does.
func (m *Merger) taken(ctx context.Context, at Position) (bool, error) {
	if at.ahead == "" || at.base == at.tip && at.ahead != at.tip { // then it has the tip, and something else
		return false, nil
	}
	return m.repo.Contains(ctx, at.tip, at.ahead)
}

// settle is Look, and removes the ref of what waited if the target has all of it.
func (m *Merger) settle(ctx context.Context, target string) (at Position, err error) {
	at, err = m.Look(ctx, target)
	if err != nil {
		return at, err
	}
	taken, err := m.taken(ctx, at)
	if err == nil && taken {
		_, err = m.change(ctx, at, "taken", at.without()...)
		at.ahead, at.base = "", ""
	}
	return at, err
}

// Onto returns the commit that the next merge is based on.
func (m *Merger) Onto(ctx context.Context, at Position) (string, error) {
	if taken, err := m.taken(ctx, at); err != nil || taken {
		return at.tip, err
	}
	return at.onto(), m.kept(ctx, at)
}

// Named returns the merge in the target, or in what waits for it, that a mark names; "" is none. See [Request]. What agents
// commit is beside the first parents.
func (m *Merger) Named(ctx context.Context, at Position, mark string, since time.Time) (string, error) {
	const skew = 24 * time.Hour // clocks may differ
	args := []string{"rev-list", "--first-parent", "--max-count=1", "--fixed-strings", "--grep=" + mark, "--since=" + since.Add(-skew).UTC().Format(time.RFC3339), at.tip}
	if at.ahead != "" {
		args = append(args, at.ahead)
	}
	return m.repo.Run(ctx, m.repo.Root, append(args, "--")...)
}

// Moved says how others have moved a target since; "": they have not.
func (m *Merger) Moved(ctx context.Context, since Position) (string, error) {
	at, err := m.Look(ctx, since.target)
	if err != nil || at.tip == since.tip {
		return "", err
	}
	others, err := m.others(ctx, at, since.tip)
	if err != nil || others == "" {
		return "", err
	}
	return wording.Name(at.target) + " has moved while an agent was at work: " + others, nil
}

// ErrRewritten says that the user has rewritten a target: to merge would bring back what was removed.
var ErrRewritten = errors.New("was rewritten")

// kept returns an error for a target that has no longer what the waiting commit is based on.
func (m *Merger) kept(ctx context.Context, at Position) error {
	if at.ahead == "" || at.base == "" || at.base == at.tip {
		return nil
	}
	in, err := m.repo.Contains(ctx, at.tip, at.base)
	if err == nil && !in {
		err = m.rewritten(at, at.base, "what waits at "+waiting+at.target+" is based on it",
			"codeloops queue take moves that to the new "+wording.Name(at.target)+", and codeloops queue retry goes on")
	}
	return err
}

// rewritten is the error for a commit that a target has no longer. why says what it is needed for.
func (m *Merger) rewritten(at Position, lost, why, advice string) error {
	return hint.Errorf(advice, "%s %w: it no longer has the commit %.12s, and %s", wording.Name(at.target), ErrRewritten, lost, why)
}

// onto is the commit that the next merge is based on.
func (at Position) onto() string { return cmp.Or(at.ahead, at.tip) }

// ref is the ref that the next merge updates.
func (at Position) ref() string {
	if at.tree != "" {
		return waiting + at.target
	}
	return heads + at.target
}

// publish moves the target to a commit, or the waiting ref where the target is checked out. ok is false where the
// target has moved from its position.
func (m *Merger) publish(ctx context.Context, at Position, commit, why string) (ok bool, err error) {
	if now, err := m.Look(ctx, at.target); err != nil || now != at {
		return false, err
	}
	if at.tree == "" {
		return m.change(ctx, at, why, append(at.without(), "update "+heads+at.target+" "+commit+" "+at.tip)...)
	}
	if err := m.note(at, mark{commit, at.tip}); err != nil {
		return false, err
	}
	// To verify the tip as well would lock the branch, and the user's own commit might find it locked.
	return m.change(ctx, at, why, "update "+waiting+at.target+" "+commit+" "+cmp.Or(at.ahead, strings.Repeat("0", len(commit))))
}

// without lists the changes after which nothing waits.
func (at Position) without() (changes []string) {
	if at.ahead != "" {
		changes = append(changes, "delete "+waiting+at.target+" "+at.ahead)
	}
	return changes
}
