package worktree

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"codeloops/internal/config/host"
	"codeloops/internal/diff"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Git runs the git program for what package diff cannot do itself.
type Git struct {
	Environ []string

	// runner, during a run, ends whatever git leaves running: git starts the repository's
	// filters, which an actor may have set up.
	runner *proc.Runner
	note   func(string) // reports that
}

// settings and variables keep the user's and the repository's own from running anything (hooks, a monitor, a
// background job, a prompt) and from making git refuse what it converts. Filters do run: package diff asks for them.
var settings = []string{ //nolint:gochecknoglobals // a constant
	"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.safecrlf=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

var variables = []string{ //nolint:gochecknoglobals // a constant
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=0", "GIT_ICASE_PATHSPECS=0",
}

// Run implements [diff.Git].
func (g Git) Run(ctx context.Context, c diff.GitCall) ([]byte, error) {
	program, err := git.Program()
	if err != nil {
		return nil, err
	}
	call := proc.Call{
		Invocation: proc.Invocation{Argv: slices.Concat([]string{program}, settings, c.Args), Dir: c.Dir, Env: slices.Concat(g.Environ, variables, c.Env), Stdin: c.Stdin},
	}
	if g.runner == nil {
		return proc.Output(ctx, call)
	}
	out, left, err := g.runner.Output(ctx, call)
	if len(left) > 0 {
		g.note("ended what the git program left running: " + commands(left))
	}
	return out, err
}

func commands(left []proc.Process) string {
	var lines []string
	for _, p := range left {
		lines = append(lines, p.Command)
	}
	return strings.Join(lines, "; ")
}

// In runs the git program in a directory.
func (g Git) In(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return g.Run(ctx, diff.GitCall{Dir: dir, Args: args})
}

// Has reports whether the repository has a commit. If git cannot tell, it has.
func (t *Tree) Has(ctx context.Context, commit string) bool {
	_, err := t.git.In(ctx, t.Root(), "--git-dir="+t.GitDir(), "cat-file", "-e", commit+"^{commit}")
	_, said := errors.AsType[*proc.ExitError](err)
	return !said
}

// UserSetting returns a setting of the user's or else the system's git configuration. That of the repository does not
// count: an agent may have written it.
func (g Git) UserSetting(ctx context.Context, dir, key string) (value string, set bool) {
	for _, scope := range []string{"--global", "--system"} {
		if out, err := g.In(ctx, dir, "config", scope, "--includes", "--get", key); err == nil {
			return strings.TrimSpace(string(out)), true
		}
	}
	return "", false
}

// MergeBase names, for [Commit], where the present branch left the main one.
const MergeBase = "merge-base"

// Commit resolves the name of a commit in the repository of a directory.
func Commit(ctx context.Context, h *host.Host, dir, name string) (id string, err error) {
	if _, err := repo.Open(dir, h.Environ); err != nil {
		return "", err
	}
	g := Git{Environ: h.Environ}
	if name == MergeBase {
		for _, other := range []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"} {
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
