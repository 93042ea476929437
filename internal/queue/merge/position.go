package merge

import (
	"cmp"
	"context"
	"errors"
	"slices"
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

// A position is the state of a target.
type position struct {
	target string
	tip    string // the branch's commit
	ahead  string // the waiting commit; "" is none
	base   string // the branch's commit that the waiting one contains; "" is unknown
	tree   string // the work tree that has it checked out; "" is none
}

// look returns the position of a target.
func (m *Merger) look(ctx context.Context, target string) (at position, err error) {
	refs, err := m.repo.Refs(heads+target, waiting+target)
	if err != nil {
		return at, err
	}
	at = position{target: target, tip: refs[heads+target], ahead: refs[waiting+target]}
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

// A Seen is a target as it was when somebody looked at it.
type Seen struct {
	merger *Merger
	at     position
}

// Look looks at a target.
func (m *Merger) Look(ctx context.Context, target string) (*Seen, error) {
	at, err := m.look(ctx, target)
	return &Seen{m, at}, err
}

// Onto returns the commit that the next merge into the target is based on.
func (s *Seen) Onto(ctx context.Context) (string, error) {
	at := s.at
	if at.ahead == "" || at.base == at.tip && at.ahead != at.tip { // then what waits has the tip, and something else
		return at.onto(), nil
	}
	if taken, err := s.merger.repo.Contains(ctx, at.tip, at.ahead); err != nil || taken {
		return at.tip, err
	}
	return at.ahead, s.merger.kept(ctx, at)
}

// Named returns the merge in the target, or in what waits for it, that a mark names; "" is none. See [Request].
func (s *Seen) Named(ctx context.Context, mark string, since time.Time) (string, error) {
	return s.merger.named(ctx, mark, since, s.at.tip, s.at.ahead)
}

// Moved says how others have moved the target since; "": they have not.
func (s *Seen) Moved(ctx context.Context) (string, error) {
	at, err := s.merger.look(ctx, s.at.target)
	if err != nil || at.tip == s.at.tip {
		return "", err
	}
	others, err := s.merger.others(ctx, at, s.at.tip)
	if err != nil || others == "" {
		return "", err
	}
	return wording.Name(at.target) + " has moved while an agent was at work: " + others, nil
}

// ErrRewritten says that the user has rewritten a target: to merge would bring back what was removed.
var ErrRewritten = errors.New("was rewritten")

// kept returns an error for a target that has no longer what the waiting commit is based on.
func (m *Merger) kept(ctx context.Context, at position) error {
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
func (m *Merger) rewritten(at position, lost, why, advice string) error {
	return hint.Errorf(advice, "%s %w: it no longer has the commit %.12s, and %s", wording.Name(at.target), ErrRewritten, lost, why)
}

// onto is the commit that the next merge is based on.
func (at position) onto() string { return cmp.Or(at.ahead, at.tip) }

// ref is the ref that the next merge updates.
func (at position) ref() string {
	if at.tree != "" {
		return waiting + at.target
	}
	return heads + at.target
}

// publish moves the target to a commit, or the waiting ref where the target is checked out. ok is false where the
// target has moved from its position.
func (m *Merger) publish(ctx context.Context, at position, commit, why string, changes ...string) (ok bool, err error) {
	if now, err := m.look(ctx, at.target); err != nil || now != at {
		return false, err
	}
	if at.tree == "" {
		return m.change(ctx, at, why, slices.Concat(changes, at.without(), []string{"update " + heads + at.target + " " + commit + " " + at.tip})...)
	}
	if err := m.note(at, mark{commit, at.tip}); err != nil {
		return false, err
	}
	// To verify the tip as well would lock the branch, and the user's own commit might find it locked.
	return m.change(ctx, at, why, append(changes, "update "+waiting+at.target+" "+commit+" "+cmp.Or(at.ahead, strings.Repeat("0", len(commit))))...)
}

// keep is the change that keeps the waiting commit at a ref.
func (at position) keep() string {
	return "update refs/codeloops/dropped/" + flat(at.target) + "-" + at.ahead[:12] + " " + at.ahead
}

// without lists the changes after which nothing waits.
func (at position) without() (changes []string) {
	if at.ahead != "" {
		changes = append(changes, "delete "+waiting+at.target+" "+at.ahead)
	}
	return changes
}
