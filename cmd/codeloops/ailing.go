package main

import (
	"context"
	"fmt"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/term"
)

// ailing asks what doctor would ask of an agent whose turns come to nothing: is it
// signed in, does it start at all. nil: of this one nobody could tell.
func (a *app) ailing(p player) func(context.Context) (loop.Ending, string) {
	if len(p.spec.Credentials) == 0 && len(p.spec.StatusArgs) == 0 {
		return nil
	}
	return func(ctx context.Context) (loop.Ending, string) {
		if _, err := a.askVersion(ctx, p.spec, p.path); err != nil && ctx.Err() == nil {
			return loop.EndFailed, fmt.Sprintf("`%s %s` fails as well: %s",
				p.spec.Binaries[0], strings.Join(p.spec.VersionArgs, " "), term.Line(err.Error()))
		}
		if in, how := a.login(ctx, p); !in {
			return loop.EndAuth, strings.TrimSuffix(how+"; "+p.spec.Remedy(a.env), "; ")
		}
		return "", ""
	}
}

// lacks says that a critic cannot run tests, as a sentence with what to do; "" when it
// can.
func (p player) lacks(cfg *config.Config) string {
	if p.role != loop.RoleCritic || p.spec.CriticOnly == "" || cfg.CriticWorktree {
		return ""
	}
	return fmt.Sprintf("the critic %s can only %s, not run tests (give it some with --check, or a work tree of its own with --critic-worktree)",
		p.spec.Name, p.spec.CriticOnly)
}
