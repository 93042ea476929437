package merge

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
)

// A Commit is one that the target once had and no longer has: the user reset, amended or rebased the branch.
// A merge must not bring it back.
type Commit struct{ ID, Subject string }

func (c Commit) String() string { return c.ID[:7] + " (" + wording.Quote(c.Subject, 60) + ")" }

// remembered is how many entries of a target's reflog are read.
const remembered = 500

// past returns the commits that the target has pointed to, other than its tip, with the reasons in its reflog; none
// where there is no reflog. The file is read without running git, as each new task asks. Its format is
// that of git-update-ref(1), "Logging Updates".
func (m *Merger) past(at position) map[string][]string {
	text, _ := os.ReadFile(filepath.Join(m.repo.CommonDir, "logs", filepath.FromSlash(heads+at.target)))
	lines := strings.Split(string(text), "\n")
	all := make(map[string][]string)
	for _, line := range lines[max(0, len(lines)-remembered):] {
		who, why, _ := strings.Cut(line, "\t")
		if ids := strings.Fields(who); len(ids) > 1 && ids[1] != at.tip {
			all[ids[1]] = append(all[ids[1]], why)
		}
	}
	return all
}

// because reports whether one of some reasons, such as "commit (amend): subject", has one of some beginnings.
func because(reasons []string, beginnings ...string) bool {
	return slices.ContainsFunc(reasons, func(why string) bool {
		return slices.ContainsFunc(beginnings, func(begin string) bool { return strings.HasPrefix(why, begin) })
	})
}

// made reports whether a commit came into being on the target, rather than on a branch that the target was then
// moved to.
func made(reasons []string) bool {
	return slices.ContainsFunc(reasons, func(why string) bool {
		return !strings.HasSuffix(strings.ToLower(why), ": fast-forward") &&
			because([]string{why}, "commit", "cherry-pick", "revert", "am", "merge", "pull", "codeloops")
	})
}

// left reports whether the user took the waiting commit and then removed it again: the target has been that commit, a
// merge of it, or was rebased onto it. That the target has contained it in another way says nothing: the user may have
// tried the branch of a task that began there.
func (m *Merger) left(ctx context.Context, at position) (bool, error) {
	past := m.past(at)
	if past[at.ahead] != nil {
		return true, nil
	}
	args := []string{"rev-list", "--ignore-missing", "--no-walk", "--no-commit-header", "--format=%P"}
	none := len(args)
	for id, reasons := range past {
		if slices.ContainsFunc(reasons, func(why string) bool { return strings.HasSuffix(why, " onto "+at.ahead) }) {
			return true, nil
		}
		if because(reasons, "merge", "commit (merge)", "pull") && !strings.HasSuffix(reasons[0], ": Fast-forward") {
			args = append(args, id)
		}
	}
	if len(args) == none {
		return false, nil
	}
	out, err := m.repo.Run(ctx, m.repo.Root, append(args, "--")...)
	for parents := range strings.Lines(out) {
		if of := strings.Fields(parents); len(of) > 1 && slices.Contains(of[1:], at.ahead) {
			return true, err
		}
	}
	return false, err
}

// news lists the commits that a merge of another one would add to the target.
func (m *Merger) news(ctx context.Context, at position, commit string, args ...string) (string, error) {
	args = slices.Concat([]string{"rev-list"}, args, []string{commit, "^" + at.tip})
	if at.ahead != "" && commit != at.ahead {
		args = append(args, "^"+at.ahead)
	}
	return m.repo.Run(ctx, m.repo.Root, append(args, "--")...)
}

// removed lists the commits that a merge of another one would bring back, newest first. Commits of a task's own
// branch are not among them, as the user may have tried the branch on the target and gone back; unless
// they were made on the target, and the branch was rebased onto them. own holds those of the branch.
func (m *Merger) removed(ctx context.Context, at position, commit, base string) (ids []string, own string, err error) {
	past := m.past(at)
	if len(past) == 0 {
		return nil, "", nil
	}
	out, err := m.news(ctx, at, commit, "--topo-order")
	for id := range strings.FieldsSeq(out) {
		if past[id] != nil {
			ids = append(ids, id)
		}
	}
	if err != nil || len(ids) == 0 {
		return ids, "", err
	}
	own, err = m.own(ctx, at, commit, base)
	return slices.DeleteFunc(ids, func(id string) bool { return strings.Contains(own, id) && !made(past[id]) }), own, err
}

// own lists the commits that tasks made: those of a task's branch since its base, which may be "", or those that
// merges of tasks brought into the waiting commit.
func (m *Merger) own(ctx context.Context, at position, commit, base string) (ids string, err error) {
	branch := func(tip, base string) {
		if err == nil {
			var out string
			out, err = m.repo.Run(ctx, m.repo.Root, "rev-list", "--first-parent", tip, "^"+base, "--")
			ids += out + "\n"
		}
	}
	if commit != at.ahead {
		if base != "" {
			branch(commit, base)
		}
		return ids, err
	}
	merges, err := m.news(ctx, at, commit, "--first-parent", "--merges", "--no-commit-header", "--format=%P %s")
	for line := range strings.Lines(merges) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) == 3 && fields[2] != strings.TrimSpace(at.joined()) {
			branch(fields[1], fields[0])
		}
	}
	return ids, err
}

// lacks lists the commits up to another one that the target lacks; none where merging it would change nothing,
// as after a rebase or a squash.
func (m *Merger) lacks(ctx context.Context, at position, id string) (all []Commit, err error) {
	tree, _, err := m.repo.Object(ctx, at.tip+"^{tree}")
	if err != nil {
		return nil, err
	}
	// It fails for unrelated histories, of which the target has nothing.
	if merged, err := m.repo.MergeTree(ctx, at.tip, id); err == nil && merged.Tree == tree && len(merged.Files) == 0 {
		return nil, nil
	}
	// The second try is for changes that the target got in other commits, and undid.
	for _, args := range [][]string{{"--cherry-pick"}, nil} {
		args = slices.Concat([]string{"rev-list", "--no-commit-header", "--format=%H %s", "--right-only"}, args, []string{at.tip + "..." + id, "--"})
		out, err := m.repo.Run(ctx, m.repo.Root, args...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
			all = append(all, Commit{id, subject})
		}
		if len(all) > 0 {
			break
		}
	}
	return all, nil
}

// back lists what a merge of a commit would bring back. Where since is not "", it contains all of that, and the
// changes made after it can be merged alone. Where it is "", they cannot be told apart, for
// example because of a later merge.
func (m *Merger) back(ctx context.Context, at position, commit, base string) (all []Commit, since string, err error) {
	ids, own, err := m.removed(ctx, at, commit, base)
	for err == nil && len(ids) > 0 {
		if all, err = m.lacks(ctx, at, ids[0]); err != nil || len(all) > 0 {
			break
		}
		// The target has all that it amounts to, so what it is based on is no matter.
		var has string
		has, err = m.repo.Run(ctx, m.repo.Root, "rev-list", ids[0], "^"+at.tip, "--")
		ids = slices.DeleteFunc(ids, func(id string) bool { return strings.Contains(has, id) })
	}
	if err != nil || len(all) == 0 || strings.Contains(own, ids[0]) {
		return all, "", err
	}
	later, err := m.news(ctx, at, commit, "--parents", "^"+ids[0])
	for line := range strings.Lines(later) {
		if of := strings.Fields(line); len(of) > 2 || slices.Contains(ids, of[0]) {
			return all, "", err
		}
	}
	return all, ids[0], err
}

// replant merges only the changes made since p.since, which itself stays out. git merge-tree accepts a merge base
// only since 2.40, so temporary commits with the same trees and no other history are merged instead.
func (j *job) replant(ctx context.Context, env []string, onto string, p part) (git.Merged, error) {
	ids := []string{p.since, onto, p.commit}
	for i, id := range ids {
		args := []string{"commit-tree", id + "^{tree}", "-m", "for a merge"}
		if i > 0 {
			args = append(args, "-p", ids[0])
		}
		made, err := j.repo.Do(ctx, git.Call{Dir: j.repo.Root, Env: env}, args...)
		if err != nil {
			return git.Merged{}, err
		}
		ids[i] = made
	}
	m, err := j.repo.MergeTree(ctx, ids[1], ids[2])
	name, _, _ := strings.Cut(strings.TrimPrefix(p.message, "Merge "), "\n")
	m.Text = strings.NewReplacer(ids[1], j.Target, ids[2], name).Replace(m.Text) // nobody knows the temporary commits
	return m, err
}
