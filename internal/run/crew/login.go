package crew

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/proc"
)

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
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	_, err := proc.Output(ctx, proc.Call{Invocation: p.asked(h, p.Spec.StatusArgs), MaxOutput: 64 << 10})
	asked := fmt.Sprintf("as `%s %s` says", filepath.Base(p.Path), strings.Join(p.Spec.StatusArgs, " "))
	if err == nil {
		return true, "signed in, " + asked
	}
	if exit, ok := errors.AsType[*proc.ExitError](err); ok && exit.ExitCode == 1 {
		return false, "not signed in, " + asked
	}
	return false, unknown
}
