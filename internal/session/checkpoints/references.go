package checkpoints

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/repo"
	"codeloops/internal/session"
	"codeloops/internal/wording"
)

// Refs is the prefix of references to checkpoints.
const Refs = checkpoint.Namespace

// StepEnd is the step of the state in which a run left the work tree, if it ended after its last capture.
const StepEnd = "end"

// End returns the checkpoint of the state in which the last run of a session left the work tree; "" if there is none.
func End(dir, id string) string {
	refs, _ := repo.At(dir).Resolved(Refs + id + "/") // an error is that of a reference that nobody asked for
	maps.DeleteFunc(refs, func(ref, _ string) bool { return !strings.HasPrefix(ref, Refs+id+"/"+StepEnd) })
	names := slices.SortedFunc(maps.Keys(refs), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	if len(names) == 0 {
		return ""
	}
	return refs[names[len(names)-1]]
}

// Kept are the references of some sessions: in private repositories and, for sessions of
// earlier versions, in the repositories they worked in.
type Kept struct {
	refs   map[string][]string // by the session's id
	remove []func(context.Context) error
	Lost   []string // sentences about repositories that no longer exist
}

// FindRefs finds the references of sessions.
func FindRefs(ctx context.Context, git diff.Git, store *session.Store, ids []string) (*Kept, error) {
	c := &Kept{refs: map[string][]string{}}
	kept, worked, in := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, id := range ids {
		s := session.Look(store.Path(id)).Session
		in[s.WorkingDir] = append(in[s.WorkingDir], id)
		switch { // logs of the original tool name no checkpoints: there are none
		case store.Checkpoints(s.Checkpoints) != "":
			dir := store.Checkpoints(s.Checkpoints)
			kept[dir] = append(kept[dir], id)
		case s.Checkpoint != "":
			worked[s.WorkingDir] = append(worked[s.WorkingDir], id)
		}
	}
	for dir, ids := range kept {
		r := Repository{Git: git, Store: store, Dir: dir}
		if all, err := r.list(); err == nil { // else it was removed, or is empty
			refs := c.take(ids, all)
			c.remove = append(c.remove, func(ctx context.Context) error { return r.dissolve(ctx, refs) })
		}
	}
	c.takeStash(git, in)
	for dir, ids := range worked {
		all, err := ListRefs(ctx, git, standing(dir))
		if err != nil {
			c.Lost = append(c.Lost, fmt.Sprintf("there is no repository in %s any more: what %s kept in it is gone, or stays where it is",
				dir, wording.Count(len(ids), "session")))
			continue
		}
		refs := c.take(ids, all)
		c.remove = append(c.remove, func(ctx context.Context) error { return Drop(ctx, git, dir, refs) })
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.Sort(c.Lost)
	return c, nil
}

// takeStash finds the references to entries of the stash that were kept for sessions, given by where they worked.
func (c *Kept) takeStash(git diff.Git, worked map[string][]string) {
	for dir, ids := range worked {
		r, err := repo.Open(standing(dir), nil)
		if err != nil {
			continue // nothing is kept there any more
		}
		all, _ := r.Resolved(session.KeptStash) // an error is that of a reference that nobody asked for
		var refs []string
		for _, id := range ids {
			for ref := range all {
				if strings.HasPrefix(ref, session.KeptStash+id+"/") {
					c.refs[id], refs = append(c.refs[id], ref), append(refs, ref)
				}
			}
		}
		c.remove = append(c.remove, func(ctx context.Context) error { return Drop(ctx, git, dir, refs) })
	}
}

// take finds the references of sessions among all those of a repository.
func (c *Kept) take(ids, all []string) (taken []string) {
	for _, id := range ids {
		own := Refs + id + "/"
		found := slices.DeleteFunc(slices.Clone(all), func(ref string) bool { return !strings.HasPrefix(ref, own) })
		c.refs[id], taken = append(c.refs[id], found...), append(taken, found...)
	}
	return taken
}

// ListRefs returns all references to checkpoints in the user's repository of a directory.
func ListRefs(ctx context.Context, git diff.Git, dir string) ([]string, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	out, err := git.Run(ctx, diff.GitCall{Dir: dir, Args: []string{"for-each-ref", "--format=%(refname)", Refs}})
	return strings.Fields(string(out)), err
}

// standing returns a directory or, if that is gone, the nearest one above it that exists: it
// may still be part of the repository.
func standing(dir string) string {
	for {
		st, err := os.Stat(dir)
		if up := filepath.Dir(dir); err == nil && st.IsDir() || up == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// Remove removes the references. It runs no hooks of the user's repository.
func (c *Kept) Remove(ctx context.Context) error {
	for _, remove := range c.remove {
		if err := remove(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes references from the user's repository.
func Drop(ctx context.Context, git diff.Git, dir string, refs []string) error {
	if err := drop(ctx, git, standing(dir), refs); err != nil {
		return fmt.Errorf("remove checkpoints from the repository in %s: %w", dir, err)
	}
	return nil
}

// drop removes references from the repository of a directory. The arguments are git's own, before its command. No
// hooks run, and the user's own configuration may have set some for all repositories.
func drop(ctx context.Context, git diff.Git, dir string, refs []string, args ...string) error {
	if len(refs) == 0 {
		return nil
	}
	_, err := git.Run(ctx, diff.GitCall{
		Dir: dir, Args: append(args, "-c", "core.hooksPath="+os.DevNull, "update-ref", "--stdin"), Stdin: []byte("delete " + strings.Join(refs, "\ndelete ") + "\n"),
	})
	return err
}

// Number is how many references there are.
func (c *Kept) Number() (n int) {
	for _, refs := range c.refs {
		n += len(refs)
	}
	return n
}

// References are those of a session.
func (c *Kept) References(id string) []string { return c.refs[id] }
