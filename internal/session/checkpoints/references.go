package checkpoints

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/session"
	"codeloops/internal/wording"
)

// Kept are the references of some sessions: in private repositories and, for sessions of
// earlier versions, in the repositories they worked in.
type Kept struct {
	git   diff.Git
	store *session.Store
	refs  map[string][]string // by the session's id
	own   map[string][]string // the sessions' ids by their private repository
	dirs  map[string][]string // those of earlier versions, by a directory of their repository
	Lost  []string            // sentences about repositories that no longer exist
}

// Refs is the prefix of references to checkpoints.
const Refs = "refs/codeloops/"

// FindRefs finds the references of sessions.
func FindRefs(ctx context.Context, git diff.Git, store *session.Store, ids []string) (*Kept, error) {
	c := &Kept{
		git: git, store: store,
		refs: map[string][]string{}, own: map[string][]string{}, dirs: map[string][]string{},
	}
	kept, worked := map[string][]string{}, map[string][]string{}
	for _, id := range ids {
		// Logs of the original tool name no checkpoints: there are none.
		switch s := session.Look(store.Path(id)).Session; {
		case store.Checkpoints(s.Checkpoints) != "":
			dir := store.Checkpoints(s.Checkpoints)
			kept[dir] = append(kept[dir], id)
		case s.Checkpoint != "":
			worked[s.WorkingDir] = append(worked[s.WorkingDir], id)
		}
	}
	for dir, ids := range kept {
		if all, err := ListRefs(ctx, c.git, dir, "--git-dir="+dir); err == nil { // else it was removed, or is empty
			c.take(c.own, dir, ids, all)
		}
	}
	for dir, ids := range worked {
		all, err := ListRefs(ctx, c.git, standing(dir))
		if err != nil {
			c.Lost = append(c.Lost, fmt.Sprintf("there is no repository in %s any more: what %s kept in it is gone, or stays where it is",
				dir, wording.Count(len(ids), "session")))
			continue
		}
		c.take(c.dirs, dir, ids, all)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.Sort(c.Lost)
	return c, nil
}

// take adds the references of sessions, found among all those at a place.
func (c *Kept) take(places map[string][]string, at string, ids, all []string) {
	for _, id := range ids {
		own := Refs + id + "/"
		c.refs[id] = slices.DeleteFunc(slices.Clone(all), func(ref string) bool { return !strings.HasPrefix(ref, own) })
		places[at] = append(places[at], id)
	}
}

// ListRefs returns all references to checkpoints in the repository of a directory. The arguments are
// git's own, before its command.
func ListRefs(ctx context.Context, git diff.Git, dir string, args ...string) ([]string, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	out, err := git.Run(ctx, diff.GitCall{Dir: dir, Args: append(args, "for-each-ref", "--format=%(refname)", Refs)})
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
	for dir, ids := range c.own {
		r := Repository{Git: c.git, Store: c.store, Dir: dir}
		if err := r.dissolve(ctx, c.of(ids)); err != nil {
			return err
		}
	}
	for dir, ids := range c.dirs {
		refs := c.of(ids)
		if len(refs) == 0 {
			continue
		}
		if err := Drop(ctx, c.git, dir, refs); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes references from the user's repository.
func Drop(ctx context.Context, git diff.Git, dir string, refs []string) error {
	_, err := git.Run(ctx, diff.GitCall{
		Dir: standing(dir), Args: []string{"-c", "core.hooksPath=" + os.DevNull, "update-ref", "--stdin"},
		Stdin: []byte("delete " + strings.Join(refs, "\ndelete ") + "\n"),
	})
	if err != nil {
		return fmt.Errorf("remove checkpoints from the repository in %s: %w", dir, err)
	}
	return nil
}

func (c *Kept) of(ids []string) (refs []string) {
	for _, id := range ids {
		refs = append(refs, c.refs[id]...)
	}
	return refs
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
