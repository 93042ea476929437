package merge

import (
	"cmp"
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

// made reports whether a commit came into being on the target or in the queue, rather than on a branch that the target
// was then moved to: "commit (amend): subject" does, "merge feature: Fast-forward" does not.
func made(id string, reasons []string) bool {
	makers := []string{"commit", "cherry-pick", "revert", "am", "merge", "pull", "rebase", "codeloops"}
	return slices.ContainsFunc(reasons, func(why string) bool {
		moved := strings.HasSuffix(strings.ToLower(why), ": fast-forward") || strings.HasSuffix(why, " onto "+id)
		return strings.Contains(why, waiting) ||
			!moved && slices.ContainsFunc(makers, func(maker string) bool { return strings.HasPrefix(why, maker) })
	})
}

// took returns the newest of the waiting merges that the user has taken; "" is none. Of those that are no longer in the
// target, it has been the commit, a merge of it, or was rebased onto it. That it has contained the commit in another way
// says nothing: the user may have tried the branch of a task that began there. A commit that was made on the target, and
// merged into what waits, counts too: a version of codeloops without base refs leaves no other trace of it.
func (m *Merger) took(ctx context.Context, at position) (string, error) {
	var had strings.Builder
	args := []string{"rev-list", "--ignore-missing", "--no-walk", "--no-commit-header", "--format=%P", at.tip}
	past := m.past(at)
	for id, reasons := range past {
		had.WriteString(id + "\n")
		for _, why := range reasons { // "rebase (finish): refs/heads/main onto COMMIT"
			_, onto, _ := strings.Cut(why, " onto ")
			had.WriteString(onto + "\n")
		}
		if made(id, reasons) {
			args = append(args, id)
		}
	}
	parents, err := m.repo.Run(ctx, m.repo.Root, append(args, "--")...)
	for line := range strings.Lines(parents) {
		_, merged, _ := strings.Cut(line, " ")
		had.WriteString(merged + "\n")
	}
	if err != nil {
		return "", err
	}
	merges, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--first-parent", at.ahead, "^"+at.tip, "--")
	if merges == "" || err != nil {
		return at.ahead, err
	}
	all, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--topo-order", at.ahead, "^"+at.tip, "--")
	for id := range strings.FieldsSeq(all) {
		if made(id, past[id]) || strings.Contains(merges, id) && strings.Contains(had.String(), id) {
			return id, err
		}
	}
	return "", err
}

// lost returns what the waiting commit is based on, and the target no longer has; "" is nothing. It is the waiting commit
// itself where the user took that, and may have removed it again.
func (m *Merger) lost(ctx context.Context, at position) (string, error) {
	took, err := m.took(ctx, at)
	if err != nil || at.base == "" {
		return took, err
	}
	if in, err := m.repo.Contains(ctx, at.tip, at.base); in || err != nil {
		return took, err
	}
	if took != "" {
		if in, err := m.repo.Contains(ctx, took, at.base); in || err != nil {
			return took, err
		}
	}
	return at.base, nil
}

// fork returns the commit after which a branch's own changes begin, if the target and the queue have it no more: the
// branch's base, or a later commit of the target that the branch was rebased onto. A branch that the user tried on the
// target, and left, is not based on itself. mingled is set where more of that kind, or what is still there, came after
// it, so that its own changes cannot be told apart.
func (m *Merger) fork(ctx context.Context, at position, head, base string) (since string, mingled bool, err error) {
	past, lost := m.past(at), []string(nil)
	ids, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--topo-order", head, "^"+at.tip, "^"+at.onto(), "--")
	for id := range strings.FieldsSeq(ids) {
		if id == base || made(id, past[id]) {
			lost = append(lost, id)
		}
	}
	if err != nil || len(lost) == 0 {
		return "", false, err
	}
	later, err := m.repo.Run(ctx, m.repo.Root, "rev-list", head, "^"+lost[0], "--")
	for id := range strings.FieldsSeq(later) {
		mingled = mingled || !strings.Contains(ids, id) || slices.Contains(lost, id)
	}
	if err == nil && mingled {
		if neutral, err := m.neutral(ctx, at.onto(), lost...); err != nil || neutral {
			return "", false, err
		}
	}
	return lost[0], mingled, err
}

// neutral reports whether merges of some commits would change nothing, as the other one has that in other commits.
func (m *Merger) neutral(ctx context.Context, onto string, ids ...string) (bool, error) {
	tree, _, err := m.repo.Object(ctx, onto+"^{tree}")
	for _, id := range ids {
		// A merge fails for unrelated histories, which have nothing in common.
		if merged, e := m.repo.MergeTree(ctx, onto, id); e != nil || merged.Tree != tree || len(merged.Files) > 0 {
			return false, err
		}
	}
	return err == nil, err
}

// lacks lists the commits up to another one that the target once had, and that are now missing; none where their changes
// are there in other commits, as after a rebase or a squash.
func (m *Merger) lacks(ctx context.Context, at position, onto, id string) (all []Commit, err error) {
	if neutral, err := m.neutral(ctx, onto, id); err != nil || neutral {
		return nil, err
	}
	args := []string{"rev-list", "--ignore-missing", id, "^" + at.tip, "^" + cmp.Or(at.base, at.tip)}
	for had := range m.past(at) {
		args = append(args, "^"+had)
	}
	never, err := m.repo.Run(ctx, m.repo.Root, append(args, "--")...) // it had those only in the queue
	if err != nil {
		return nil, err
	}
	// The second try is for changes that the target got in other commits, and undid.
	for _, args := range [][]string{{"--cherry-pick", "--right-only", onto + "..." + id}, {id, "^" + onto}} {
		args = slices.Concat([]string{"rev-list", "--no-commit-header", "--format=%H %s"}, args, []string{"--"})
		out, err := m.repo.Run(ctx, m.repo.Root, args...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
			if !strings.Contains(never, id) {
				all = append(all, Commit{id, subject})
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all, nil
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
