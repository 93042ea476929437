package crew

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/screen/term"
)

// diagnosis returns a function that diagnoses an agent whose turns fail: does it start, is it signed
// in? Nil if there is no way to tell.
func (p Player) diagnosis(h *host.Host) func(context.Context) (loop.Ending, string) {
	if len(p.Spec.Credentials) == 0 && len(p.Spec.StatusArgs) == 0 {
		return nil
	}
	return func(ctx context.Context) (loop.Ending, string) {
		if _, err := p.Version(ctx, h); err != nil && ctx.Err() == nil {
			return loop.EndFailed, fmt.Sprintf("`%s %s` fails as well: %s",
				p.Spec.Binaries[0], strings.Join(p.Spec.VersionArgs, " "), term.Line(err.Error()))
		}
		if in, how := p.Login(ctx, h); !in {
			return loop.EndAuth, strings.TrimSuffix(how+"; "+p.Spec.Remedy(h.Environ), "; ")
		}
		return "", ""
	}
}

// says runs the player's program for information about itself.
func (p Player) says(ctx context.Context, h *host.Host, within time.Duration, call proc.Call, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	call.Invocation = proc.Invocation{Argv: append([]string{p.Path}, args...), Dir: h.Dir, Env: h.Environ}
	return proc.Output(ctx, call)
}

// VersionTimeout is how long an agent may take to print its version.
const VersionTimeout = 30 * time.Second

// Version asks an installed agent for its version, which some print on stderr; "" if it has none.
func (p Player) Version(ctx context.Context, h *host.Host) (string, error) {
	if len(p.Spec.VersionArgs) == 0 {
		return "", nil
	}
	out, err := p.says(ctx, h, VersionTimeout, proc.Call{MaxOutput: 64 << 10, Either: true}, p.Spec.VersionArgs...)
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return term.Line(first), err
}

// modelsTimeout is how long an agent may take to list its models while somebody waits at the
// keyboard.
const modelsTimeout = 5 * time.Second

// Models asks an agent for its models; none if it cannot say.
func Models(ctx context.Context, h *host.Host, cfg *config.Config, name string) (list []string) {
	c, err := New(h, cfg, h.Dir, "")
	if err != nil {
		return nil
	}
	p, err := c.Player(loop.RoleActor, loop.AgentRef{Agent: name})
	if err != nil || len(p.Spec.ModelsArgs) == 0 {
		return nil
	}
	out, err := p.says(ctx, h, modelsTimeout, proc.Call{MaxOutput: 1 << 20}, p.Spec.ModelsArgs...)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if model := term.Line(line); model != "" && !strings.ContainsAny(model, " \t") {
			list = append(list, model)
		}
	}
	return list
}

// loginTimeout is how long an agent may take to say whether it is signed in.
const loginTimeout = 30 * time.Second

// Login says whether an agent seems to be signed in, and how that is known, in a few words. If
// neither a variable nor a file shows it, the login may be in the system's keyring: then an agent
// that can report its status is asked. If that is impossible or fails, the login is unknown,
// which counts as no.
func (p Player) Login(ctx context.Context, h *host.Host) (in bool, how string) {
	if by := p.Spec.SignedIn(h.Environ, h.Home()); by != "" {
		return true, "signed in by " + by
	}
	const unknown = "not seen to be signed in"
	if len(p.Spec.StatusArgs) == 0 {
		return false, unknown
	}
	_, err := p.says(ctx, h, loginTimeout, proc.Call{MaxOutput: 64 << 10}, p.Spec.StatusArgs...)
	asked := fmt.Sprintf("as `%s %s` says", filepath.Base(p.Path), strings.Join(p.Spec.StatusArgs, " "))
	if err == nil {
		return true, "signed in, " + asked
	}
	if exit, ok := errors.AsType[*proc.ExitError](err); ok && exit.ExitCode == 1 {
		return false, "not signed in, " + asked
	}
	return false, unknown
}
