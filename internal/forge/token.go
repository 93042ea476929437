package forge

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"slices"
	"strings"

	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// A token is what the server knows the user by.
type token struct {
	user, value string
	from        string // for people
}

// tokenFor finds a token for a server: in the environment, with the program gh, or with git's credential helper.
func tokenFor(ctx context.Context, h *host.Host, p Place) (token, error) {
	for _, name := range variables(h, p) {
		if value := strings.TrimSpace(h.Getenv(name)); value != "" {
			return token{p.user(), value, name}, nil
		}
	}
	// Outside of the repository, whose settings may be those of an agent.
	call := func(stdin string, argv ...string) (string, bool) {
		env := append(slices.Clip(h.Environ), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never")
		out, err := proc.Output(ctx, proc.Call{Invocation: proc.Invocation{Argv: argv, Dir: os.TempDir(), Env: env, Stdin: []byte(stdin)}})
		return strings.TrimSpace(string(out)), err == nil
	}
	if p.Kind == GitHub {
		if value, ok := call("", "gh", "auth", "token", "--hostname", p.Host); ok && value != "" {
			return token{p.user(), value, "gh auth token"}, nil
		}
	}
	if program, err := git.Program(); err == nil {
		out, ok := call("protocol="+p.Scheme+"\nhost="+p.Host+"\npath="+p.Path+"\n\n", program, "credential", "fill")
		found := map[string]string{}
		for line := range strings.Lines(out) {
			key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
			found[key] = value
		}
		if ok && found["password"] != "" {
			return token{cmp.Or(found["username"], p.user()), found["password"], "git's credential helper"}, nil
		}
	}
	what := "set GITLAB_TOKEN"
	if p.Kind == GitHub {
		what = "set " + variables(h, p)[0] + ", or sign in: gh auth login"
	}
	return token{}, hint.Errorf(what+"; git's credential helper is asked as well", "there is no token for %s", p.Host)
}

// user is the name that goes with a token when git signs in.
func (p Place) user() string {
	if p.Kind == GitLab {
		return "oauth2"
	}
	return "x-access-token"
}

// variables are those whose tokens belong to a server, as gh and glab read them.
func variables(h *host.Host, p Place) []string {
	if p.Kind == GitLab {
		return []string{"GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN"}
	}
	if p.Host == "github.com" || strings.HasSuffix(p.Host, ".ghe.com") {
		return []string{"GH_TOKEN", "GITHUB_TOKEN"}
	}
	all := []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
	if actions, err := url.Parse(h.Getenv("GITHUB_SERVER_URL")); err == nil && actions.Host == p.Host { // the job's own
		all = append(all, "GITHUB_TOKEN")
	}
	return all
}
