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

// A Commit is one that the target was at, or had, and has no more: the user has moved it back, or made it
// anew. It is not to come back with a merge.
type Commit struct{ ID, Subject string }

func (c Commit) String() string { return c.ID[:7] + " (" + wording.Quote(c.Subject, 60) + ")" }

// remembered is how many moves of a target are looked back upon.
const remembered = 500

// past are the commits that the target has been at, by its reflog: without one nothing is known. No other
// git is run for that where a task begins. The format is that of git-update-ref(1), "Logging Updates".
func (m *Merger) past(at position) (all []string) {
	text, _ := os.ReadFile(filepath.Join(m.repo.CommonDir, "logs", filepath.FromSlash(heads+at.target)))
	lines := strings.Split(string(text), "\n")
	for _, line := range lines[max(0, len(lines)-remembered):] {
		if ids := strings.Fields(line); len(ids) > 1 && ids[1] != at.tip {
			all = append(all, ids[1])
		}
	}
	return all
}

// left reports whether the target has been at what waits for it, and is no more: the user took it, and took
// it out again.
func (m *Merger) left(at position) bool { return slices.Contains(m.past(at), at.ahead) }

// removed are the commits that a merge of another one would bring back, newest first. What its own branch
// has since its base, which may be "", is none of them: the user may have tried the branch.
func (m *Merger) removed(ctx context.Context, at position, commit, base string) (ids []string, err error) {
	past := m.past(at)
	if len(past) == 0 {
		return nil, nil
	}
	out, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--topo-order", commit, "^"+at.tip, "--")
	for id := range strings.FieldsSeq(out) {
		if slices.Contains(past, id) {
			ids = append(ids, id)
		}
	}
	if err != nil || len(ids) == 0 || base == "" {
		return ids, err
	}
	own, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--first-parent", commit, "^"+base, "--")
	return slices.DeleteFunc(ids, func(id string) bool { return strings.Contains(own, id) }), err
}

// lacks are the commits up to another one that the target lacks; none where it has their changes in others,
// as after a rebase.
func (m *Merger) lacks(ctx context.Context, at position, id string) (all []Commit, err error) {
	log := func(args ...string) (string, error) {
		args = slices.Concat([]string{"log", "--format=%H %s", "--right-only", "--cherry-pick"}, args, []string{at.tip + "..." + id, "--"})
		return m.repo.Run(ctx, m.repo.Root, args...)
	}
	if changes, err := log("--no-merges"); err != nil || changes == "" {
		return nil, err
	}
	out, err := log()
	for line := range strings.Lines(out) {
		id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, Commit{id, subject})
	}
	return all, err
}

// back says what a merge of a commit would bring back, and the one that all of this is part of: what has
// become of that one since can be merged by itself. That is "" where it is not so simple, as where something
// was merged since.
func (m *Merger) back(ctx context.Context, at position, commit, base string) (all []Commit, since string, err error) {
	ids, err := m.removed(ctx, at, commit, base)
	for _, id := range ids {
		if err != nil || len(all) > 0 {
			break
		}
		all, err = m.lacks(ctx, at, id)
	}
	if err != nil || len(all) == 0 {
		return nil, "", err
	}
	rest, err := m.repo.Run(ctx, m.repo.Root, "rev-list", "--parents", commit, "^"+at.tip, "^"+ids[0], "--")
	for line := range strings.Lines(rest) {
		if of := strings.Fields(line); len(of) > 2 || slices.Contains(ids, of[0]) {
			return all, "", err
		}
	}
	return all, ids[0], err
}

// replant merges what has become of a commit since another one, which stays out. (git merge-tree is told of
// a base since 2.40 only: so commits are made with the same files, which have nothing else in common.)
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
	m.Text = strings.NewReplacer(ids[1], j.Target, ids[2], name).Replace(m.Text) // people know no such commits
	return m, err
}
