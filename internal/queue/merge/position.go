package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

const (
	heads = "refs/heads/"
	// waiting is below which merges wait for the user to take them, and bases below which is what they are based on.
	waiting = "refs/codeloops/queue/"
	bases   = "refs/codeloops/below/"
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
	refs, err := m.repo.Refs(heads+target, waiting+target, bases+target)
	if err != nil {
		return at, err
	}
	at = position{target: target, tip: refs[heads+target], ahead: refs[waiting+target], base: refs[bases+target]}
	if at.tip == "" {
		err := m.missing(ctx, target)
		if advice, ok := hint.Of(err); ok && at.ahead != "" {
			err = hint.Errorf(advice, "%w; what was merged for it, and not taken, is at %s", err, waiting+target)
		}
		return at, err
	}
	if at.tree, err = m.repo.Trees().InUse(ctx, target, ""); err == nil {
		err = m.known(ctx, at)
	}
	return at, err
}

// missing explains why there is no such branch.
func (m *Merger) missing(ctx context.Context, target string) error {
	if on, err := m.repo.Run(ctx, m.repo.Root, "symbolic-ref", "--quiet", "HEAD"); err == nil && on == heads+target {
		return hint.Errorf("make its first commit: git commit --allow-empty -m start", "the branch %s has no commit yet", wording.Name(target))
	}
	refs, err := m.repo.Refs(heads)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(refs))
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, heads)
	}
	advice := "git branch lists those that there are; git branch " + wording.Shell(target) + " COMMIT makes it again, and codeloops queue retry goes on"
	if i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, target) }); i >= 0 {
		advice = fmt.Sprintf("did you mean %s? Branch names are case-sensitive", names[i])
	} else if name, ok := wording.Nearest(target, names); ok {
		advice = fmt.Sprintf("did you mean %s?", name)
	}
	return hint.Errorf(advice, "there is no branch %s", wording.Name(target))
}

// Onto returns the commit that the next merge into a target is based on.
func (m *Merger) Onto(ctx context.Context, target string) (string, error) {
	at, err := m.look(ctx, target)
	if err != nil || at.ahead == "" {
		return at.tip, err
	}
	if taken, err := m.repo.Contains(ctx, at.tip, at.ahead); err != nil || taken {
		return at.tip, err
	}
	return at.ahead, m.kept(ctx, at)
}

// ErrRewritten says that the user has rewritten a target: to merge would bring back what was removed.
var ErrRewritten = errors.New("was rewritten")

// kept returns an error for a target that has no longer what the waiting commit is based on.
func (m *Merger) kept(ctx context.Context, at position) error {
	if at.ahead == "" || at.base == "" {
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

// Waits reports whether something waits for the user to take it into a target.
func (m *Merger) Waits(ctx context.Context, target string) (bool, error) {
	at, err := m.look(ctx, target)
	if at.target != "" && at.ahead == "" {
		return false, nil // also where the branch is gone
	}
	if err != nil {
		return false, err
	}
	taken, err := m.repo.Contains(ctx, at.tip, at.ahead)
	return !taken, err
}

// crowded explains why nothing can wait for a target; nil: it can. Git has no ref x/y beside a ref x, nor branches of such
// names, so the other one is what waits for a branch that is gone.
func (m *Merger) crowded(at position) error {
	if at.tree == "" || at.ahead != "" {
		return nil
	}
	refs, err := m.repo.Refs(waiting, bases)
	var beside, room []string
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		branch := strings.TrimPrefix(strings.TrimPrefix(ref, waiting), bases)
		if !strings.HasPrefix(branch, at.target+"/") && !strings.HasPrefix(at.target, branch+"/") {
			continue
		}
		if strings.HasPrefix(ref, waiting) {
			room = append(room, "git branch "+wording.Shell(flat(branch)+"-waits")+" "+wording.Shell(ref))
		}
		beside, room = append(beside, ref), append(room, "git update-ref -d "+wording.Shell(ref))
	}
	if err != nil || len(beside) == 0 {
		return err
	}
	return hint.Errorf(strings.Join(room, " && ")+" makes room, and keeps what waits there at a branch; then codeloops queue retry goes on",
		"git has no room for %s beside what is left of a branch that was deleted: %s", waiting+at.target, wording.List(beside, 5))
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
	return m.change(ctx, at, why, append(changes,
		"update "+waiting+at.target+" "+commit+" "+cmp.Or(at.ahead, strings.Repeat("0", len(commit))),
		"update "+bases+at.target+" "+at.tip)...)
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
	if at.base != "" {
		changes = append(changes, "delete "+bases+at.target+" "+at.base)
	}
	return changes
}
