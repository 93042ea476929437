package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// checkpoints are the references that sessions have in the repositories they
// worked in.
type checkpoints struct {
	git  gitProgram
	refs map[string][]string // by the session's id
	dirs map[string][]string // the ids of sessions with references, by a directory of their repository
	lost []string            // sentences about repositories that are gone
}

// checkpointsOf looks for the references of sessions.
func (l *logs) checkpointsOf(ctx context.Context, store *session.Store, ids []string) (*checkpoints, error) {
	c := &checkpoints{git: gitProgram{env: withoutRepository(l.app.env)}, refs: map[string][]string{}, dirs: map[string][]string{}}
	worked := map[string][]string{}
	for _, id := range ids {
		// A log of the original tool tells of no checkpoints, for there are none.
		if s := session.Look(store.Path(id)).Session; s.Checkpoint != "" {
			worked[s.WorkingDir] = append(worked[s.WorkingDir], id)
		}
	}
	for dir, ids := range worked {
		all, err := c.list(ctx, dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			c.lost = append(c.lost, fmt.Sprintf("there is no repository in %s any more: what %s kept in it is gone, or stays where it is",
				dir, render.Count(len(ids), "session", "sessions")))
			continue
		}
		for _, id := range ids {
			own := checkpointRefs + id + "/"
			c.refs[id] = slices.DeleteFunc(slices.Clone(all), func(ref string) bool { return !strings.HasPrefix(ref, own) })
			c.dirs[dir] = append(c.dirs[dir], id)
		}
	}
	slices.Sort(c.lost)
	return c, nil
}

// list returns all references to checkpoints in the repository of a directory.
// Where the directory is gone, the next one above it may still be part of it.
func (c *checkpoints) list(ctx context.Context, dir string) ([]string, error) {
	out, err := c.git.in(ctx, standing(dir), "for-each-ref", "--format=%(refname)", checkpointRefs)
	return strings.Fields(string(out)), err
}

// standing returns a directory, or the next one above it that is there.
func standing(dir string) string {
	for {
		st, err := os.Stat(dir)
		if up := filepath.Dir(dir); err == nil && st.IsDir() || up == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// remove takes the references away. No hook of the repository is run.
func (c *checkpoints) remove(ctx context.Context) error {
	for dir, ids := range c.dirs {
		var orders strings.Builder
		for _, id := range ids {
			for _, ref := range c.refs[id] {
				fmt.Fprintf(&orders, "delete %s\n", ref)
			}
		}
		if orders.Len() == 0 {
			continue
		}
		_, err := c.git.Run(ctx, diff.GitCall{
			Dir: standing(dir), Args: []string{"-c", "core.hooksPath=" + os.DevNull, "update-ref", "--stdin"}, Stdin: []byte(orders.String()),
		})
		if err != nil {
			return fmt.Errorf("remove checkpoints from the repository in %s: %w", dir, err)
		}
	}
	return nil
}

// count says how many there are, "" for none, for the beginning of a list.
func (c *checkpoints) count() string {
	n := 0
	for _, refs := range c.refs {
		n += len(refs)
	}
	if n == 0 {
		return ""
	}
	return render.Count(n, "checkpoint", "checkpoints") + ", "
}

// lines lists the references of a session.
func (c *checkpoints) lines(id string) string {
	var b strings.Builder
	for _, ref := range c.refs[id] {
		fmt.Fprintf(&b, "  %s\n", term.Line(ref))
	}
	return b.String()
}

// withoutRepository returns an environment that names no repository: those of
// sessions are found from their directories.
func withoutRepository(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE"}, name)
	})
}
