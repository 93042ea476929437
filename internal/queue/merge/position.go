package merge

import (
	"cmp"
	"context"
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
	if name := m.renamed(ctx, target); name != "" {
		return hint.Errorf("git branch "+wording.Shell(target)+" "+wording.Shell(name)+" makes one of the old name for what is in the queue, and codeloops queue retry goes on; new tasks: codeloops queue add --target "+wording.Shell(name),
			"there is no branch %s any more: it is called %s", wording.Name(target), wording.Name(name))
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

// renamed is the new name of a renamed branch; "" where that is unknown.
func (m *Merger) renamed(ctx context.Context, target string) string {
	out, _ := m.repo.Run(ctx, m.repo.Root, "log", "--walk-reflogs", "--branches", "--max-count=1", "--format=%gD",
		"--fixed-strings", "--grep-reflog=renamed "+heads+target+" to ") // an error means unknown
	name, _, _ := strings.Cut(strings.TrimPrefix(out, heads), "@{")
	return name
}

// Onto returns the commit that the next merge into a target is based on.
func (m *Merger) Onto(ctx context.Context, target string) (string, error) {
	at, err := m.look(ctx, target)
	if err != nil || at.ahead == "" {
		return at.tip, err
	}
	if took, e := m.took(ctx, at); e != nil || took == at.ahead {
		at.ahead, err = "", e
	}
	return at.onto(), err
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

// take is the command by which the user takes the waiting commit; how is an option of git merge.
func (m *Merger) take(at position, how string) string {
	command := "git merge " + how + wording.Shell(waiting+at.target)
	switch at.tree {
	case m.repo.Root:
		return command
	case "":
		return "git switch " + wording.Shell(at.target) + " && " + command
	}
	return "git -C " + wording.Shell(at.tree) + strings.TrimPrefix(command, "git")
}

// Take is the command by which the user takes the waiting commit of a target; "" where there is none. What would bring
// back removed commits is not offered: it is an error, until the next merge has moved it.
func (m *Merger) Take(ctx context.Context, target string) (command string, err error) {
	at, err := m.look(ctx, target)
	if at.target != "" && at.ahead == "" {
		return "", nil // also where the branch is gone
	}
	if err != nil {
		return "", err
	}
	lost, err := m.lost(ctx, at)
	switch {
	case err != nil || lost == at.ahead:
		return "", err
	case lost != "":
		return "", m.stale(ctx, at, lost)
	}
	forward, err := m.repo.Contains(ctx, at.ahead, at.tip)
	if err != nil || !forward {
		return m.take(at, ""), err
	}
	return m.take(at, "--ff-only "), nil
}

// stale explains why what waits is not to be taken as it is.
func (m *Merger) stale(ctx context.Context, at position, lost string) error {
	back, err := m.lacks(ctx, at, at.tip, lost)
	if err != nil {
		return err
	}
	names := make([]string, len(back))
	for i, c := range back {
		names[i] = c.String()
	}
	what := strings.TrimSuffix("commits that "+wording.Name(at.target)+" no longer has: "+wording.List(names, 5), ": ")
	return hint.Errorf("the next task that is merged moves it to the new "+wording.Name(at.target)+", without them; or take it all ("+m.take(at, "")+"), and undo what you do not want with git revert",
		"what waits for %s is based on %s", wording.Name(at.target), what)
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

// taken removes the waiting ref, which the user has taken. What the target does not contain is kept.
func (m *Merger) taken(ctx context.Context, at position) error {
	changes := at.without()
	if in, err := m.repo.Contains(ctx, at.tip, at.ahead); err != nil {
		return err
	} else if !in {
		changes = append(changes, at.keep())
	}
	_, err := m.change(ctx, at, "taken", changes...)
	return err
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
