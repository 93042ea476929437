package worktree

import (
	"context"
	"slices"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/proc"
)

// Git runs the git program for what package diff cannot do itself.
type Git struct {
	Environ []string

	// runner, during a run, ends whatever git leaves running: git starts the repository's
	// filters, which an actor may have set up.
	runner *proc.Runner
	note   func(string) // reports that
}

// Run implements [diff.Git].
func (g Git) Run(ctx context.Context, c diff.GitCall) ([]byte, error) {
	call := proc.Call{
		Invocation: proc.Invocation{Argv: append([]string{"git"}, c.Args...), Dir: c.Dir, Env: slices.Concat(g.Environ, c.Env), Stdin: c.Stdin},
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
