package checkpoints

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/git"
	"codeloops/internal/session"
)

// Refs is the prefix of references to checkpoints.
const Refs = diff.Namespace

// StepEnd is the step of the state in which a run left the work tree, if it ended after its last capture.
const StepEnd = "end"

// End returns the checkpoint of the state in which the last run of a session left the work tree; "" if there is none.
func End(dir, id string) string {
	refs, _ := git.At(dir).Refs(Refs + id + "/") // an error is that of a reference that nobody asked for
	maps.DeleteFunc(refs, func(ref, _ string) bool { return !strings.HasPrefix(ref, Refs+id+"/"+StepEnd) })
	names := slices.SortedFunc(maps.Keys(refs), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	if len(names) == 0 {
		return ""
	}
	return refs[names[len(names)-1]]
}

// Kept are the references of some sessions in private repositories, and of entries of the stash in those that they worked in.
type Kept struct {
	refs   map[string][]string // by the session's id
	remove []func(context.Context) error
}

// FindRefs finds the references of sessions.
func FindRefs(ctx context.Context, g git.Git, store *session.Store, ids []string) (*Kept, error) {
	c := &Kept{refs: map[string][]string{}}
	kept, worked := map[string][]string{}, map[string][]string{}
	for _, id := range ids {
		s := session.Look(store.Path(id)).Session
		worked[s.WorkingDir] = append(worked[s.WorkingDir], id)
		if dir := store.Checkpoints(s.Checkpoints); dir != "" { // logs of the original tool name none
			kept[dir] = append(kept[dir], id)
		}
	}
	for dir, ids := range kept {
		r := Repository{Git: g, Store: store, Dir: dir}
		if all, err := r.list(); err == nil { // else it was removed, or is empty
			refs := c.take(Refs, ids, all)
			c.remove = append(c.remove, func(ctx context.Context) error { return r.dissolve(ctx, refs) })
		}
	}
	for dir, ids := range worked {
		dir = standing(dir)
		r, err := git.Open(dir, nil)
		if err != nil {
			continue // nothing is kept there any more
		}
		all, _ := r.Refs(session.KeptStash) // an error is that of a reference that nobody asked for
		refs := c.take(session.KeptStash, ids, slices.Collect(maps.Keys(all)))
		c.remove = append(c.remove, func(ctx context.Context) error { return drop(ctx, g, dir, refs) })
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return c, nil
}

// take finds the references of sessions, below a prefix, among all those of a repository.
func (c *Kept) take(prefix string, ids, all []string) (taken []string) {
	for _, id := range ids {
		for _, ref := range all {
			if strings.HasPrefix(ref, prefix+id+"/") {
				c.refs[id], taken = append(c.refs[id], ref), append(taken, ref)
			}
		}
	}
	return taken
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

// drop removes references from the repository of a directory. The arguments are git's own, before its command. No
// hooks run, and the user's own configuration may have set some for all repositories.
func drop(ctx context.Context, g git.Git, dir string, refs []string, args ...string) error {
	if len(refs) == 0 {
		return nil
	}
	_, err := g.Run(ctx, git.Call{
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
