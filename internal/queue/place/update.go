package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Update merges a commit into the place's branch, and returns the files with conflicts, which then contain
// markers; [Place.Commit] concludes the merge once they are gone. Nothing may be uncommitted before. If an earlier
// merge is not concluded yet, its conflicts are returned instead.
func (p *Place) Update(ctx context.Context, tip string) (conflicts []string, err error) {
	if conflicts, err = p.update(ctx, tip); err != nil {
		return nil, fmt.Errorf("update the work tree of task %s: %w", p.Task, err)
	}
	return conflicts, nil
}

func (p *Place) update(ctx context.Context, tip string) ([]string, error) {
	if err := p.repo.CanMerge(ctx); err != nil {
		return nil, err
	}
	head, err := p.tree.attach(ctx)
	if err != nil {
		return nil, err
	}
	theirs, there, err := p.repo.Commit(ctx, tip)
	if err != nil || !there {
		return nil, cmp.Or(err, fmt.Errorf("%s is no commit", tip))
	}
	if open, err := p.unconcluded(ctx, head); err != nil || open {
		return p.rec.conflicts(), err
	}
	if err := p.whole(ctx); err != nil {
		return nil, err
	}
	if has, err := p.repo.Contains(ctx, head, theirs); err != nil || has {
		return nil, err
	}
	m, err := p.repo.MergeTree(ctx, head, theirs)
	if err != nil {
		return nil, err
	}
	p.rec.Update = &update{Ours: head, Theirs: theirs, Files: m.Files, Begun: true}
	if err := p.rec.save(); err != nil {
		return nil, err
	}
	if len(p.rec.Beside) > 0 { // what the setup command has changed would keep git from merging
		if _, err := p.tree.git(ctx, "reset", "--hard", "--quiet"); err != nil {
			return nil, err
		}
	}
	return m.Files, p.merge(ctx, theirs)
}

// unconcluded reports whether an earlier merge must be concluded first: it is in progress, or was committed with
// conflicts.
func (p *Place) unconcluded(ctx context.Context, head string) (bool, error) {
	if _, merging, err := p.tree.merging(ctx); err != nil || merging || len(p.rec.conflicts()) == 0 {
		return merging, err
	}
	return p.repo.Contains(ctx, head, p.rec.Update.Theirs)
}

// Based returns the commit of the last update, if that contains the place's earlier base, or else that.
func (p *Place) Based(ctx context.Context, base string) (string, error) {
	if p.rec.Update == nil {
		return base, nil
	}
	if has, err := p.repo.Contains(ctx, p.rec.Update.Theirs, base); err != nil || !has {
		return base, err
	}
	return p.rec.Update.Theirs, nil
}

// merge runs git merge in the place. If it is interrupted, [Place.settle] undoes it.
func (p *Place) merge(ctx context.Context, theirs string) error {
	env, err := p.repo.Identity(ctx, p.Dir)
	if err != nil {
		return err
	}
	undriven, err := p.repo.Undriven(ctx)
	if err != nil {
		return err
	}
	_, err = p.repo.Do(ctx, git.Call{Dir: p.Dir, Env: env, Settings: append(undriven, "-c", "merge.conflictStyle=merge")},
		"merge", "--quiet", "--ff", "--no-edit", "--no-verify", "--no-autostash", "--strategy=ort", theirs)
	if exit, ok := errors.AsType[*proc.ExitError](err); ok && exit.ExitCode == 1 && len(p.rec.Update.Files) > 0 {
		if _, merging, _ := p.tree.merging(ctx); merging {
			err = nil
		}
	}
	if err != nil {
		return errors.Join(err, p.settle(context.WithoutCancel(ctx)))
	}
	p.rec.Update.Begun, p.rec.Update.Marked = false, map[string]string{}
	for _, file := range p.rec.Update.Files {
		info, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(file)))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		id, err := p.tree.git(ctx, "hash-object", "--no-filters", "--", file)
		if err != nil {
			return err
		}
		p.rec.Update.Marked[file] = fmt.Sprintf("%06o %s", 0o100644|info.Mode()&0o100/0o100*0o111, id)
	}
	return p.rec.save()
}

// Part gives the place refs, settings and a stash of its own, for commands that run there.
func (p *Place) Part(ctx context.Context) error {
	return p.repo.Trees().Part(ctx, p.Dir, p.branch.name)
}

// Rejoin takes over what they have done to the place's branch.
func (p *Place) Rejoin(ctx context.Context) error {
	others, err := p.repo.Trees().Rejoin(ctx, p.Dir, p.branch.name)
	if len(others) > 0 && p.tell != nil {
		for i, name := range others {
			others[i] = wording.Name(name)
		}
		p.tell("its commands have set branches of their own, which your repository does not get: " + wording.List(others, 5))
	}
	return err
}

// settle repairs what keeps git from working in a ready place. It leaves the files alone.
func (p *Place) settle(ctx context.Context) error {
	if info, err := os.Lstat(p.Dir); err != nil || !info.IsDir() { // a link would lead to others' files
		return cmp.Or(err, hint.Errorf("was it the agent? Move that away", "%s is no longer a directory", p.Dir))
	}
	if err := p.tree.rebranch(ctx, p.rec.Base); err != nil {
		return err
	}
	if err := p.tree.link(ctx, p.site.aside(p.Task)); err != nil {
		return err
	}
	if err := errors.Join(p.Rejoin(ctx), p.tree.unlock()); err != nil {
		return err
	}
	if p.rec.Update == nil || !p.rec.Update.Begun {
		return nil
	}
	// A merge was interrupted. Everything uncommitted comes from it, apart from brought files.
	if _, err := p.tree.git(ctx, "reset", "--hard", "--quiet"); err != nil {
		return err
	}
	args := []string{"clean", "-d", "--force", "--quiet"}
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	for _, path := range slices.Concat(p.rec.Brought, slices.Collect(maps.Keys(p.rec.Beside))) {
		args = append(args, "--exclude=/"+escape.Replace(path))
	}
	if _, err := p.tree.git(ctx, args...); err != nil {
		return err
	}
	p.rec.Update = nil
	return p.rec.save()
}
