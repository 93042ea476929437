package merge

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Commit is one that the target has had and has no more: the user has taken it out, and it stays out.
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
	slices.Sort(all)
	return slices.Compact(all)
}

// removed are those of the commits that another one stands on which the target has had and has no more,
// without those that these stand on.
func (m *Merger) removed(ctx context.Context, at position, commit string) (last []string, err error) {
	if commit == at.tip {
		return nil, nil
	}
	past := m.past(at)
	if len(past) == 0 {
		return nil, nil
	}
	out, err := m.repo.Run(ctx, m.repo.Root, append([]string{"merge-base", "--all", commit}, past...)...)
	if _, none := errors.AsType[*proc.ExitError](err); none {
		return nil, nil
	}
	for id := range strings.FieldsSeq(out) {
		has, e := m.repo.Contains(ctx, at.tip, id)
		if err = errors.Join(err, e); !has {
			last = append(last, id)
		}
	}
	return last, err
}

// note takes down which commits the merge leaves out. Where the target has the same changes in other
// commits, as after a rebase, there are none.
func (j *job) note(ctx context.Context, at position, last []string) error {
	for _, id := range last {
		log := func(args ...string) (string, error) {
			args = slices.Concat([]string{"log", "--format=%H %s", "--right-only", "--cherry-pick"}, args, []string{at.tip + "..." + id, "--"})
			return j.repo.Run(ctx, j.repo.Root, args...)
		}
		if changes, err := log("--no-merges"); err != nil || changes == "" {
			return err
		}
		out, err := log()
		if err != nil {
			return err
		}
		for line := range strings.Lines(out) {
			id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
			if one := (Commit{id, subject}); !slices.Contains(j.left, one) {
				j.left = append(j.left, one)
			}
		}
	}
	return nil
}

// A part is something that is merged, or what has become of it since a commit that is no part of it.
type part struct{ commit, since, message string }

// name is what people call it.
func (p part) name() string {
	first, _, _ := strings.Cut(p.message, "\n")
	name, _, _ := strings.Cut(strings.TrimPrefix(first, "Merge "), " into ")
	return name
}

// rebuild makes what waits anew on the target as it is now, of all that the target has not had yet.
func (j *job) rebuild(ctx context.Context, at position, last []string) (Result, error) {
	if err := j.note(ctx, at, last); err != nil {
		return Result{}, err
	}
	parts, err := j.parts(ctx, at, last)
	if err != nil {
		return Result{}, err
	}
	onto := at.tip
	res := Result{Own: true, Ref: waiting + at.target, Tip: at.ahead, Take: j.take(at, "")}
	for _, p := range parts {
		made, m, err := j.combine(ctx, at, onto, p)
		if err != nil {
			return Result{}, err
		}
		if res.conflict(m) {
			return res, nil
		}
		onto = made
	}
	if onto == at.tip {
		_, err = j.taken(ctx, at)
		return Result{}, err
	}
	if res.Failure, err = j.check(ctx, onto); err != nil {
		return Result{}, err
	}
	if res.Failure != nil {
		res.Outcome = Red
		return res, nil
	}
	_, err = j.publish(ctx, at, onto, "without what was taken out of "+at.target)
	return Result{}, err
}

// parts are what was merged into what waits, oldest first, as far as the target has not had it.
func (j *job) parts(ctx context.Context, at position, last []string) (parts []part, err error) {
	args := []string{"rev-list", "--parents", at.ahead, "^" + at.tip}
	for _, id := range last {
		args = append(args, "^"+id)
	}
	out, err := j.repo.Run(ctx, j.repo.Root, append(args, "--")...)
	parents := map[string][]string{}
	for line := range strings.Lines(out) {
		ids := strings.Fields(line)
		parents[ids[0]] = ids[1:]
	}
	for id := at.ahead; err == nil && len(parents[id]) > 0; id = parents[id][0] {
		p := part{commit: id, since: parents[id][0]}
		if of := parents[id]; len(of) > 1 {
			if p = (part{commit: of[1]}); parents[p.commit] == nil { // commits of the user's
				continue
			}
		}
		p.message, err = j.repo.Run(ctx, j.repo.Root, "log", "-1", "--format=%B", id, "--")
		parts = append(parts, p)
	}
	slices.Reverse(parts)
	return parts, err
}

// combine makes a commit of one and what is merged into it, without what was taken out of the target. It is
// the one of before where nothing is left to be merged.
func (j *job) combine(ctx context.Context, at position, onto string, p part) (made string, m git.Merged, err error) {
	if p.since == "" {
		last, err := j.removed(ctx, at, p.commit)
		if err = cmp.Or(err, j.note(ctx, at, last)); err != nil {
			return "", m, err
		}
		if len(last) > 1 {
			return "", m, hint.Errorf("merge by hand what you want of it", "it stands on commits of several kinds that were taken out of %s: %v", at.target, j.left)
		}
		p.since = strings.Join(last, "")
	}
	if p.commit == j.head {
		j.replanted = p.since != ""
	}
	env, err := j.repo.Identity(ctx, j.repo.Root)
	if err != nil {
		return "", m, err
	}
	ours, theirs, parents := onto, p.commit, []string{"-p", onto, "-p", p.commit}
	if p.since != "" {
		parents = parents[:2]
		if ours, theirs, err = j.apart(ctx, env, p.since, onto, p.commit); err != nil {
			return "", m, err
		}
	}
	if m, err = j.repo.MergeTree(ctx, ours, theirs); err != nil || len(m.Files) > 0 {
		other := at.target
		if p.commit == at.tip {
			other = "what waits for it"
		}
		m.Text = strings.NewReplacer(ours, other, theirs, p.name()).Replace(m.Text)
		return "", m, err
	}
	if was, _, err := j.repo.Object(ctx, onto+"^{tree}"); err != nil || p.since != "" && m.Tree == was {
		return onto, m, err
	}
	call := git.Call{Dir: j.repo.Root, Env: env, Stdin: []byte(p.message)}
	made, err = j.repo.Do(ctx, call, slices.Concat([]string{"commit-tree", m.Tree}, parents, []string{"-F", "-"})...)
	return made, m, err
}

// apart returns commits with the files of two others that have nothing in common but those of a third one.
// (git merge-tree is told of a base since 2.40 only.)
func (j *job) apart(ctx context.Context, env []string, base, ours, theirs string) (a, b string, err error) {
	ids := []string{base, ours, theirs}
	for i, id := range ids {
		args := []string{"commit-tree", id + "^{tree}", "-m", "for a merge"}
		if i > 0 {
			args = append(args, "-p", ids[0])
		}
		if ids[i], err = j.repo.Do(ctx, git.Call{Dir: j.repo.Root, Env: env}, args...); err != nil {
			return "", "", err
		}
	}
	return ids[1], ids[2], nil
}
