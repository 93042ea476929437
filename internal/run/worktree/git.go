package worktree

import (
	"context"
	"errors"
	"strings"

	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Has reports whether the repository has a commit. If git cannot tell, it has.
func (t *Tree) Has(ctx context.Context, commit string) bool {
	_, err := t.git.In(ctx, t.Root(), "--git-dir="+t.GitDir(), "cat-file", "-e", commit+"^{commit}")
	_, said := errors.AsType[*proc.ExitError](err)
	return !said
}

// MergeBase names, for [Commit], where the present branch left the main one.
const MergeBase = "merge-base"

// Commit resolves the name of a commit in the repository of a directory.
func Commit(ctx context.Context, h *host.Host, dir, name string) (id string, err error) {
	r, err := git.Open(dir, h.Environ)
	if err != nil {
		return "", err
	}
	g := git.Git{Environ: h.Environ}
	if name == MergeBase {
		names := []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}
		there, err := r.Refs(names...)
		if err != nil {
			return "", err
		}
		for _, other := range names {
			if there[other] == "" {
				continue
			}
			if out, err := g.In(ctx, dir, "merge-base", "HEAD", other); err == nil {
				return strings.TrimSpace(string(out)), nil
			}
		}
		name = "HEAD"
	}
	out, err := g.In(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if _, said := errors.AsType[*proc.ExitError](err); said && name == "HEAD" {
		return "", hint.Errorf("commit what is there, then work on", "the repository of %s has no commit to measure the work from", dir)
	} else if said {
		return "", hint.Errorf("name one: --since COMMIT", "there is no commit %s", wording.Quote(name, 80))
	}
	return strings.TrimSpace(string(out)), err
}
